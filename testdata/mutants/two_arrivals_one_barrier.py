# Two producer threads, each loading one operand of a step; a step is full when both arrived. The first runs up to two
# steps ahead, the second one.
import tilelang
import tilelang.language as T


def program(M=128, N=128, K=512, BM=64, BN=64, BK=64):
    @T.prim_func
    def two_producers(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=256) as (bx, by):
            a = T.alloc_shared((2, BM, BK), "float16")
            b = T.alloc_shared((BK, BN), "float16")
            acc = T.alloc_fragment((BM, BN), "float32")
            full = T.alloc_barrier(2)
            a_empty = T.alloc_barrier([128] * 2)
            b_empty = T.alloc_barrier(128)
            tx = T.get_thread_binding()
            if tx == 128:
                for k in T.serial(T.ceildiv(K, BK)):
                    T.mbarrier_wait_parity(a_empty[k % 2], ((k // 2) & 1) ^ 1)
                    T.tma_copy(A[by * BM : (by + 1) * BM, k * BK : (k + 1) * BK], a[k % 2, :, :], barrier=full)
                    T.mbarrier_arrive(full)
            elif tx == 160:
                for k in T.serial(T.ceildiv(K, BK)):
                    T.mbarrier_wait_parity(b_empty, (k & 1) ^ 1)
                    T.tma_copy(B[k * BK, bx * BN], b, barrier=full)
                    T.mbarrier_arrive(full)
            elif tx < 128:
                T.clear(acc)
                for k in T.serial(T.ceildiv(K, BK)):
                    T.mbarrier_wait_parity(full, k & 1)
                    T.gemm(a[k % 2, :, :], b, acc)
                    T.mbarrier_arrive(a_empty[k % 2])
                    T.mbarrier_arrive(b_empty)
                T.copy(acc, C[by * BM, bx * BN])

    return two_producers


two_producers = program()
