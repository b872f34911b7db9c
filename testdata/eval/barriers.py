# test: eval
# test: roundtrip
# CHECK-LABEL: func @barriers
# CHECK: %one = alloc {counts=[128]} : barrier u64[1]
# CHECK: %ring = alloc {counts=[128, 128, 32]} : barrier u64[3]
# CHECK: mbarrier_wait %one, %c0, %c1
# CHECK: mbarrier_wait %ring, %c2, %c0
# CHECK: mbarrier_arrive %one, %c0
# CHECK: mbarrier_arrive %ring, %c1
# CHECK: mbarrier_expect_tx %one, %c0 {bytes=64}
# CHECK: mbarrier_arrive_expect_tx %one, %c0 {bytes=8192:"(B*B)*2"}
# CHECK: sync_threads
# CHECK: sync_threads {id=3, threads=128}
import tilelang.language as T


def program(B=64):
    @T.prim_func
    def barriers(A: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            one = T.alloc_barrier(128)
            ring = T.alloc_barrier([128, 128, 32])
            T.barrier_wait(one, 1)
            T.mbarrier_wait_parity(mbarrier=ring[2], parity=0)
            T.barrier_arrive(one)
            T.mbarrier_arrive(mbarrier=ring[1])
            T.mbarrier_expect_tx(one, 64)
            T.mbarrier_arrive_expect_tx(one, B * B * 2)
            T.sync_threads()
            T.sync_threads(3, 128)

    return barriers


program()
