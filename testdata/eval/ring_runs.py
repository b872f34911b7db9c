# A ring of two slots, run: C = A B with A[i] = B[i] = i % 7 - 3 row-major.
# test: interp
# CHECK: main
# CHECK-NEXT: C = 15 10 5 0 -5 -10 -15 15 10 5 0 -5 -10 -15 3 2
import tilelang.language as T


def program(K=30, BK=10):
    @T.prim_func
    def main(A: T.Tensor((14, K), "float16"), B: T.Tensor((K, 14), "float16"), C: T.Tensor((14, 14), "float32")):
        with T.Kernel(1, threads=256) as bx:
            a = T.alloc_shared((2, 14, BK), "float16")
            b = T.alloc_shared((2, BK, 14), "float16")
            acc = T.alloc_fragment((14, 14), "float32")
            full = T.alloc_barrier([128] * 2)
            empty = T.alloc_barrier([128] * 2)
            with T.ws(1):
                for k in range(T.ceildiv(K, BK)):
                    T.mbarrier_wait_parity(empty[k % 2], ((k // 2) & 1) ^ 1)
                    T.tma_copy(A[0:14, k * BK : (k + 1) * BK], a[k % 2, :, :], barrier=full[k % 2])
                    T.tma_copy(B[k * BK : (k + 1) * BK, 0:14], b[k % 2, :, :], barrier=full[k % 2])
                    T.mbarrier_arrive(full[k % 2])
            with T.ws(0):
                T.clear(acc)
                for k in range(T.ceildiv(K, BK)):
                    T.mbarrier_wait_parity(full[k % 2], (k // 2) & 1)
                    T.gemm(a[k % 2, :, :], b[k % 2, :, :], acc)
                    T.mbarrier_arrive(empty[k % 2])
                T.copy(acc, C)

    return main


main = program()
