# Launches that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def launches(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(0) as bx:  # error: grid extent
        A[bx] = 0
    with T.Kernel(1, 2, 3, 4) as bx:  # error: up to three grid extents
        A[0] = 0
    with T.Kernel(1, threads=2048) as bx:  # error: more than 1024
        A[bx] = 0
    with T.Kernel(1, threads=-1) as bx:  # error: an extent of the shape is -1
        A[bx] = 0
    with T.Kernel(1, threads=n) as bx:  # error: the size of a CTA has to be known
        A[bx] = 0
    with T.Kernel(1, 2) as (bx, by, bz):  # error: names
        A[0] = 0
    with T.Kernel(1) as bx:
        with T.Kernel(1) as by:  # error: a launch inside a launch
            A[0] = 0
    with T.ClusterKernel(4) as bx:  # error: cluster_dims
        A[0] = 0
    with T.ClusterKernel(64, cluster_dims=32) as bx:  # error: more than 16
        A[0] = 0
    A[0] = 1  # error: inside `with T.Kernel
