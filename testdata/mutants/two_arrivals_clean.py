# Two producer threads, each loading one operand of a step into a ring of two slots; a step is full when both arrived.
import tilelang
import tilelang.language as T


def program(M=128, N=128, K=512, BM=64, BN=64, BK=64):
    @T.prim_func
    def two_producers(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=256) as (bx, by):
            a = T.alloc_shared((2, BM, BK), "float16")
            b = T.alloc_shared((2, BK, BN), "float16")
            acc = T.alloc_fragment((BM, BN), "float32")
            full = T.alloc_barrier([2] * 2)
            empty = T.alloc_barrier([128] * 2)
            tx = T.get_thread_binding()
            if tx == 128:
                for k in T.serial(T.ceildiv(K, BK)):
                    T.mbarrier_wait_parity(empty[k % 2], ((k // 2) & 1) ^ 1)
                    T.tma_copy(A[by * BM : (by + 1) * BM, k * BK : (k + 1) * BK], a[k % 2, :, :], barrier=full[k % 2])
                    T.mbarrier_arrive(full[k % 2])
            elif tx == 160:
                for k in T.serial(T.ceildiv(K, BK)):
                    T.mbarrier_wait_parity(empty[k % 2], ((k // 2) & 1) ^ 1)
                    T.tma_copy(B[k * BK : (k + 1) * BK, bx * BN : (bx + 1) * BN], b[k % 2, :, :], barrier=full[k % 2])
                    T.mbarrier_arrive(full[k % 2])
            elif tx < 128:
                T.clear(acc)
                for k in T.serial(T.ceildiv(K, BK)):
                    T.mbarrier_wait_parity(full[k % 2], (k // 2) & 1)
                    T.gemm(a[k % 2, :, :], b[k % 2, :, :], acc)
                    T.mbarrier_arrive(empty[k % 2])
                T.copy(acc, C[by * BM, bx * BN])

    return two_producers


two_producers = program()
