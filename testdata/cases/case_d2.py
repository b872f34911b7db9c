# case:
# title:
# source:
# arch: sm_90a
# expect:
# why:
# entry: main
# note:

import tilelang
import tilelang.language as T

def program(M, K, BM, BK):
    @T.prim_func
    def main(Mask: T.Tensor((K // BK,), "int32"), A: T.Tensor((M, K), "float16"), B: T.Tensor((K, 64), "float16"), C: T.Tensor((M, 64), "float32")):
        with T.Kernel(T.ceildiv(M, BM), threads=256) as by:
            a = T.alloc_shared((BM, BK), "float16")
            b = T.alloc_shared((BK, 64), "float16")
            acc = T.alloc_fragment((BM, 64), "float32")
            full = T.alloc_barrier(128)
            empty = T.alloc_barrier(128)
            with T.ws(0):
                T.clear(acc)
            for k in range(K // BK):
                with T.ws(1):
                    if Mask[k] != 0:
                        T.mbarrier_wait_parity(empty, (k & 1) ^ 1)
                        T.tma_copy(A[by * BM : (by + 1) * BM, k * BK : (k + 1) * BK], a, barrier=full)
                        T.tma_copy(B[k * BK : (k + 1) * BK, 0:64], b, barrier=full)
                        T.mbarrier_arrive(full)
                with T.ws(0):
                    T.mbarrier_wait_parity(full, k & 1)
                    T.gemm(a, b, acc)
                    T.mbarrier_arrive(empty)
            with T.ws(0):
                T.copy(acc, C[by * BM, 0])

    return main


main = program(M=256, K=512, BM=64, BK=64)
