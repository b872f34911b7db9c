# case:
# title:
# source:
# arch: sm_90a
# expect:
# why:
# entry: main

import tilelang
import tilelang.language as T

def program():
    @T.prim_func
    def main(X: T.Tensor((8,), "int32"), Y: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((8,), "int32")
            b = T.alloc_shared((8,), "int32")
            T.copy(X, a)
            T.copy(X, b)
            T.fill(a[6:12], 7)
            for i in T.Parallel(8):
                Y[i] = a[i] + b[i]

    return main


main = program()
