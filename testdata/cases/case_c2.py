# case:
# title:
# source:
# arch: sm_100a
# expect:
# why:
# entry: main

import tilelang
import tilelang.language as T

def program(M, N, K, BM, BN, BK, STAGES, BLOCKS):
    kb = K // BK
    tiles_n = N // BN
    waves = (M // BM) * tiles_n // BLOCKS

    @T.prim_func
    def main(A: T.Tensor((M, K), "bfloat16"), B: T.Tensor((K, N), "bfloat16"), C: T.Tensor((M, N), "bfloat16")):
        with T.Kernel(BLOCKS, threads=256) as bid:
            a = T.alloc_shared((STAGES, BM, BK), "bfloat16")
            b = T.alloc_shared((STAGES, BK, BN), "bfloat16")
            acc = T.alloc_tmem([2, BM, BN], "float32")
            frag = T.alloc_fragment((BM, BN), "float32")
            outf = T.alloc_fragment((BM, BN), "bfloat16")
            loaded = T.alloc_barrier([32] * STAGES)
            consumed = T.alloc_barrier([1] * STAGES)
            acc_full = T.alloc_barrier([1] * 2)
            acc_empty = T.alloc_barrier([128] * 2)
            tx = T.get_thread_binding()
            if tx < 32:
                for w in T.serial(waves):
                    tile = w * BLOCKS + bid
                    for k in T.serial(kb):
                        it = w * kb + k
                        T.mbarrier_wait_parity(consumed[it % STAGES], ((it // STAGES) & 1) ^ 1)
                        T.tma_copy(A[(tile // tiles_n) * BM : (tile // tiles_n + 1) * BM, k * BK : (k + 1) * BK], a[it % STAGES, :, :], barrier=loaded[it % STAGES])
                        T.tma_copy(B[k * BK : (k + 1) * BK, (tile % tiles_n) * BN : (tile % tiles_n + 1) * BN], b[it % STAGES, :, :], barrier=loaded[it % STAGES])
                        T.mbarrier_arrive(loaded[it % STAGES])
            elif tx < 64:
                for w in T.serial(waves):
                    T.mbarrier_wait_parity(acc_empty[w & 1], ((w // 2) & 1) ^ 1)
                    for k in T.serial(kb):
                        it = w * kb + k
                        T.mbarrier_wait_parity(loaded[it % STAGES], (it // STAGES) & 1)
                        T.tcgen05_gemm(a[k % STAGES, :, :], b[k % STAGES, :, :], acc[w & 1, :, :], mbar=consumed[k % STAGES], clear_accum=k == 0)
                    T.tcgen05_mma_arrive(acc_full[w & 1])
            elif 128 <= tx < 256:
                for w in T.serial(waves):
                    tile = w * BLOCKS + bid
                    T.mbarrier_wait_parity(acc_full[w & 1], (w // 2) & 1)
                    T.copy(acc[w & 1, :, :], frag)
                    T.mbarrier_arrive(acc_empty[w & 1])
                    T.copy(frag, outf)
                    T.copy(outf, C[(tile // tiles_n) * BM, (tile % tiles_n) * BN])

    return main


# K / BK = 5 is not a multiple of STAGES
main = program(M=512, N=512, K=320, BM=128, BN=128, BK=64, STAGES=3, BLOCKS=4)
