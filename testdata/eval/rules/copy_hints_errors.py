# Asynchronous copies that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def copies(A: T.Tensor((256, 64), "float16"), F: T.Tensor((256, 64), "float32")):
    with T.Kernel(4, threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        f = T.alloc_fragment((64, 64), "float16")
        rows = T.alloc_shared((4, 64), "float16")
        bar = T.alloc_barrier(1)
        T.tma_copy(A[0, 0], s)  # error: needs barrier=
        T.tma_copy(s, A[0, 0], barrier=bar)  # error: takes no barrier
        T.tma_copy(A[0, 0], f, barrier=bar)  # error: shared
        T.tma_copy(F[0, 0], s, barrier=bar)  # error: element types
        T.tma_copy(A[0, 0], s, barrier=bar, leader_scope_threads=48)  # error: multiple of 32
        T.tma_copy(A[0, 0], s, barrier=bar, cluster_mask=0)  # error: bit mask
        T.tma_copy(A[0, 0], s, barrier=s)  # error: barrier
        T.tma_gather4(A, rows, 0, [1, 2, 3], barrier=bar)  # error: 3 rows, not 4
        T.tma_gather4(A, s, 0, [1, 2, 3, 4], barrier=bar)  # error: 4 x K
        T.tma_gather4(A, rows, 0, [1, 2, 3, 4])  # error: needs 'barrier'
        T.copy_cluster(s, s, dst_block=1, cluster_mask=3)  # error: not both
        T.im2col(A, s, bx, 0, 3, 1, 1, 1)  # error: four dimensions
