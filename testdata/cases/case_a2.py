# case:
# title:
# source:
# arch: sm_90a
# expect:
# why:
# entry: main

import tilelang
import tilelang.language as T

def program(M, N, BM, BN):
    @T.prim_func
    def main(X: T.Tensor((M, N), "float16"), Y: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=256) as (bx, by):
            tile = T.alloc_shared((BM, BN), "float16")
            frag = T.alloc_fragment((BM, BN), "float16")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.tma_copy(X[by * BM : (by + 1) * BM, bx * BN : (bx + 1) * BN], tile, barrier=ready)
            with T.ws(0):
                T.mbarrier_wait_parity(ready, 0)
                T.copy(tile, frag)
                T.copy(frag, Y[by * BM, bx * BN])

    return main


main = program(M=256, N=256, BM=64, BN=64)
