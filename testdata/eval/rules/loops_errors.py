# Loops that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def loops(A: T.Tensor((64, 64), "float16"), n: T.int32):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        for k in T.Pipelined(4, num_stages=-1):  # error: num_stages
            T.copy(A, s)
        for k in T.Pipelined(4, num_stages=n):  # error: num_stages
            T.copy(A, s)
        for k in T.Pipelined(4, num_stages=2, order=[0], stage=[0, 1]):  # error: an order for 1 statements and stages for 2
            T.copy(A, s)
            T.copy(A, s)
        for k in T.Pipelined(4, order=2):  # error: list of integers
            T.copy(A, s)
        for k in T.unroll(8, explicit=True, unroll_factor=2):  # error: exclude each other
            A[k, 0] = 0
        for i, j in T.Parallel(4):  # error: binds 2 names
            A[i, j] = 0
        for i in T.Parallel():  # error: at least one extent
            A[i, 0] = 0
        for i in T.Parallel(4):
            A[i, 0] = 0
            break  # error: break inside T.Parallel
        for i in T.serial(4):  # error: unsupported: else of a run-time loop
            A[i, 0] = 0
        else:
            A[0, 0] = 0
