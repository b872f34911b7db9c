# C = A B, warp-specialised by hand: warpgroup 1 loads one tile of A and one of B by TMA, warpgroup 0 multiplies.
# One slot: the producer waits until the consumer has released it. Any M and N; K a multiple of 8, N of 8.
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2])
def gemm_ws(M=512, N=512, K=512, block_M=128, block_N=128, block_K=64, dtype="float16", accum_dtype="float32"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            full = T.alloc_barrier(128)
            empty = T.alloc_barrier(128)

            with T.ws(1):
                for k in T.serial(T.ceildiv(K, block_K)):
                    T.barrier_wait(empty, (k & 1) ^ 1)
                    T.tma_copy(A[by * block_M, k * block_K], A_shared, barrier=full)
                    T.tma_copy(B[k * block_K, bx * block_N], B_shared, barrier=full)
                    T.barrier_arrive(full)
            with T.ws(0):
                T.clear(C_local)
                for k in T.serial(T.ceildiv(K, block_K)):
                    T.barrier_wait(full, k & 1)
                    T.gemm(A_shared, B_shared, C_local)
                    pass
                T.copy(C_local, C[by * block_M, bx * block_N])

    return main
