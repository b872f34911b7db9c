# test: interp
import tilelang.language as T


@T.prim_func
def stuck(A: T.Tensor((8,), "int32")):
    with T.Kernel(1, threads=256) as bx:
        bar = T.alloc_barrier(129)
        with T.ws(0):
            T.mbarrier_arrive(bar)
            T.mbarrier_wait_parity(bar, 0)  # error: deadlock: no thread of CTA 0 can go on
