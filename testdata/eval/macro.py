# test: eval
# CHECK-LABEL: func @main
# CHECK: load %A, %c0
# CHECK: for %c0, %c8
# CHECK: store %A
import tilelang.language as T


@T.macro
def add(buffer, value):
    for i in range(8):
        buffer[i] = buffer[i] + value


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1) as bx:
        add(A, A[0])
