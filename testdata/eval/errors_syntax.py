# test: eval
import tilelang.language as T

x = (1 +  # error: syntax error: '(' was never closed
