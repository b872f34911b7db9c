# C = A B, warp-specialised by hand with a ring of STAGES slots: step k uses slot k % STAGES in phase k // STAGES.
# Any M and N; K and N multiples of 8.
import tilelang
import tilelang.language as T


def program(M=512, N=512, K=512, BM=128, BN=128, BK=64, STAGES=3, out_dtype="float32"):
    @T.prim_func
    def gemm_ring(
        A: T.Tensor((M, K), "float16"),
        B: T.Tensor((K, N), "float16"),
        C: T.Tensor((M, N), out_dtype),
    ):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=256) as (bx, by):
            a = T.alloc_shared((STAGES, BM, BK), "float16")
            b = T.alloc_shared((STAGES, BK, BN), "float16")
            acc = T.alloc_fragment((BM, BN), "float32")
            full = T.alloc_barrier([128] * STAGES)
            empty = T.alloc_barrier([128] * STAGES)
            with T.ws(0):
                T.clear(acc)
            for k in range(T.ceildiv(K, BK)):
                with T.ws(1):
                    T.mbarrier_wait_parity(empty[k % STAGES], ((k // STAGES) & 1) ^ 1)
                    T.tma_copy(A[by * BM : (by + 1) * BM, k * BK : (k + 1) * BK], a[k % STAGES, :, :], barrier=full[k % STAGES])
                    T.tma_copy(B[k * BK : (k + 1) * BK, bx * BN : (bx + 1) * BN], b[(k + 1) % STAGES, :, :], barrier=full[k % STAGES])
                    T.mbarrier_arrive(full[k % STAGES])
                with T.ws(0):
                    T.mbarrier_wait_parity(full[k % STAGES], (k // STAGES) & 1)
                    T.gemm(a[k % STAGES, :, :], b[k % STAGES, :, :], acc)
                    T.mbarrier_arrive(empty[k % STAGES])
            with T.ws(0):
                T.copy(acc, C[by * BM, bx * BN])

    return gemm_ring


gemm_ring = program(M=512, N=512, K=512)
