# case:
# title:
# source:
# arch: sm_90a
# expect:
# entry: main

import tilelang
import tilelang.language as T

def program(M, K, BM, BK):
    @T.prim_func
    def main(A: T.StridedTensor((M, K), (512, 1), "bfloat16"), O: T.Tensor((M, BK), "bfloat16")):
        with T.Kernel(T.ceildiv(M, BM), threads=128) as by:
            s = T.alloc_shared((BM, BK), "bfloat16")
            f = T.alloc_fragment((BM, BK), "bfloat16")
            ready = T.alloc_barrier(128)
            T.tma_copy(A[by * BM : (by + 1) * BM, 0:BK], s, barrier=ready)
            T.mbarrier_arrive(ready)
            T.mbarrier_wait_parity(ready, 0)
            T.copy(s, f)
            T.copy(f, O[by * BM, 0])

    return main


main = program(M=256, K=511, BM=64, BK=64)
