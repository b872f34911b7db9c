# A ring of two rows: one warp loads row i, 128 threads add one to it, thread 0 of them gives the slot back.
import tilelang
import tilelang.language as T


def program(N=64, CH=128):
    @T.prim_func
    def add_one(X: T.Tensor((N, CH), "float32"), Y: T.Tensor((N, CH), "float32")):
        with T.Kernel(1, threads=160) as bx:
            buf = T.alloc_shared((2, CH), "float32")
            full = T.alloc_barrier([32] * 2)
            empty = T.alloc_barrier([1] * 2)
            tx = T.get_thread_binding()
            if tx >= 128:
                for i in T.serial(N):
                    T.mbarrier_wait_parity(empty[i % 2], ((i // 2) & 1) ^ 1)
                    T.tma_copy(X[i : i + 1, 0:CH], buf[i % 2 : i % 2 + 1, :], barrier=full[i % 2])
                    T.mbarrier_arrive(full[i % 2])
            else:
                for i in T.serial(N):
                    T.mbarrier_wait_parity(full[i % 2], (i // 2) & 1)
                    Y[i, tx] = buf[i % 2, tx] + 1.0
                    if tx == 0:
                        T.mbarrier_arrive(empty[i % 2])

    return add_one


add_one = program()
