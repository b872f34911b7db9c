# case:
# title:
# source:
# arch: sm_90a
# expect:
# entry: main

import tilelang
import tilelang.language as T

def program(M, K, BM, BK, STAGES):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), S: T.Tensor((M, 64), "float16"), C: T.Tensor((M, 64), "float32")):
        with T.Kernel(T.ceildiv(M, BM), threads=256) as by:
            a = T.alloc_shared((STAGES, BM, BK), "float16")
            b = T.alloc_shared((BK, 64), "float16")
            acc = T.alloc_fragment((BM, 64), "float32")
            full = T.alloc_barrier([128] * STAGES)
            empty = T.alloc_barrier([128] * STAGES)
            b_full = T.alloc_barrier(128)
            b_empty = T.alloc_barrier(128)
            with T.ws(0):
                T.clear(acc)
            for k in range(T.ceildiv(K, BK)):
                with T.ws(1):
                    T.mbarrier_wait_parity(empty[k % STAGES], ((k // STAGES) & 1) ^ 1)
                    T.tma_copy(A[by * BM : (by + 1) * BM, k * BK : (k + 1) * BK], a[k % STAGES, :, :], barrier=full[k % STAGES])
                    T.mbarrier_arrive(full[k % STAGES])
                    T.mbarrier_wait_parity(b_empty, (k & 1) ^ 1)
                    T.tma_copy(S[k * BK : (k + 1) * BK, 0:64], b, barrier=b_full)
                    T.mbarrier_arrive(b_full)
                with T.ws(0):
                    T.mbarrier_wait_parity(full[k % STAGES], (k // STAGES) & 1)
                    T.mbarrier_wait_parity(b_full, k & 1)
                    T.gemm(a[k % STAGES, :, :], b, acc)
                    T.mbarrier_arrive(empty[k % STAGES])
                    T.mbarrier_arrive(b_empty)
            with T.ws(0):
                T.copy(acc, C[by * BM, 0])

    return main


main = program(M=512, K=512, BM=64, BK=64, STAGES=3)
