# Barriers that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def barriers(A: T.Tensor((64,), "int32"), n: T.int32, x: T.float32):
    with T.Kernel(1, threads=256) as bx:
        full = T.alloc_barrier([1, 128])
        T.mbarrier_wait_parity(full)  # error: needs 'parity'
        T.mbarrier_wait_parity(A[0], 0)  # error: T.alloc_barrier
        T.mbarrier_wait_parity(full[0], x)  # error: integer
        T.mbarrier_arrive(full[0], cta_id=1)  # error: cluster
        T.mbarrier_arrive(full[0:2])  # error: slice
        T.mbarrier_expect_tx(full[0], n)  # error: unsupported: a number of expected bytes
        full[0] = 1  # error: cannot be stored
        A[0] = full[0]  # error: no value
        T.ptx_wait_group(-1)  # error: negative
        with T.ws(2):  # error: do not come here
            A[0] = 1
        with T.ws():  # error: at least one
            A[0] = 1
        with T.ws(n):  # error: known
            A[0] = 1
        for i in T.Parallel(4):
            T.mbarrier_arrive(full[0])  # error: inside T.Parallel
        T.fill(full, 1)  # error: barrier
