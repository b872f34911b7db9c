# What the tile interpreter refuses instead of running out of memory or time.
# test: interp
import tilelang.language as T


@T.prim_func
def large(A: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=32):
        values = T.alloc_local((2**38,), "float32")  # error: unsupported: a buffer of more than 4 GiB
        A[0] = values[0]


@T.prim_func
def many(A: T.Tensor((8,), "float32")):
    with T.Kernel(2**30, 2**30, 2**30, threads=32):  # error: the grid has more CTAs than 64 bits count
        A[0] = 1.0


@T.prim_func
def long_loop(A: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=32):
        for i, j in T.Parallel(2**30, 2**30):  # error: unsupported: a parallel loop of more than 2^32 iterations
            A[i % 8] = 1.0
