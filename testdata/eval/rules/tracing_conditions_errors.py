# Loops that never end or never move.
# test: eval
import tilelang.language as T


@T.prim_func
def loops(A: T.Tensor((64,), "int32"), n: T.int32, x: T.float32):
    with T.Kernel(1, threads=32) as bx:
        while True:  # error: always true
            A[0] = 0
        for i in T.serial(0, 8, 0):  # error: step of the loop is 0
            A[i] = 0
        for i in [1, 2]:  # error: not over a list
            A[i] = 0
        for i in range(x):  # error: integer
            A[i] = 0
        A[0] = n / n  # error: /
