# Barriers in all their forms. A whole array is its first barrier; every thread that comes arrives once.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @barriers
@T.prim_func
def barriers(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.ClusterKernel(2, cluster_dims=2, threads=128) as bx:
        full = T.alloc_barrier([1, 128])
        peers = T.alloc_cluster_barrier(2)
        # CHECK: mbarrier_wait %full, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}
        T.mbarrier_wait_parity(full, 0)
        # CHECK: %[[V1:[0-9]+]] = floormod %n, %c2{{[_0-9]*}} : i32
        # CHECK: %[[V2:[0-9]+]] = floordiv %n, %c2{{[_0-9]*}} : i32
        # CHECK: %[[V3:[0-9]+]] = floormod %[[V2]], %c2{{[_0-9]*}} : i32
        # CHECK: %[[V4:[0-9]+]] = bit_xor %[[V3]], %c1{{[_0-9]*}} : i32
        # CHECK: mbarrier_wait %full, %[[V1]], %[[V4]]
        T.barrier_wait(full[n % 2], n // 2 % 2 ^ 1)
        # CHECK: mbarrier_arrive %full, %c1{{[_0-9]*}}
        T.mbarrier_arrive(full[1])
        # CHECK: mbarrier_arrive %full, %c0{{[_0-9]*}}
        T.barrier_arrive(full)
        # CHECK: call %peers, %c0{{[_0-9]*}}, %n {name="mbarrier_arrive_remote"}
        T.mbarrier_arrive(peers, cta_id=n)
        # CHECK: mbarrier_expect_tx %full, %c1{{[_0-9]*}} {bytes=4096}
        T.mbarrier_expect_tx(full[1], 4096)
        # CHECK: mbarrier_arrive_expect_tx %full, %c0{{[_0-9]*}} {bytes=128}
        T.mbarrier_arrive_expect_tx(full[0], 64 * 2)
        # CHECK: call %full, %c1{{[_0-9]*}} {name="cp_async_barrier_noinc"}
        T.cp_async_barrier_noinc(full[1])
        # CHECK: sync_threads
        T.sync_threads()
        # CHECK: sync_threads {id=2, threads=64}
        T.sync_threads(barrier_id=2, arrive_count=64)
        # Numbers known at run time.
        # CHECK: %[[V5:[0-9]+]] = add %n, %c1{{[_0-9]*}} : i32
        # CHECK: call %[[V5]], %c64{{[_0-9]*}} {name="named_barrier_sync"}
        T.sync_threads(n + 1, 64)
        # CHECK: %[[V6:[0-9]+]] = add %n, %c1{{[_0-9]*}} : i32
        # CHECK: call %[[V6]], %c64{{[_0-9]*}} {name="named_barrier_arrive"}
        T.named_barrier_arrive(n + 1, 64)
        # CHECK: call %c4294967295{{[_0-9]*}} {name="sync_warp"}
        T.sync_warp()
        # CHECK: call %c3{{[_0-9]*}} {name="sync_warp"}
        T.sync_warp(3)
        # CHECK: call {name="sync_grid"}
        T.sync_grid()
        # CHECK: call {name="cluster_arrive"}
        T.cluster_arrive()
        # CHECK: call {name="cluster_arrive_relaxed"}
        T.cluster_arrive_relaxed()
        # CHECK: call {name="cluster_wait"}
        T.cluster_wait()
        # CHECK: call {name="cluster_sync"}
        T.cluster_sync()
        # CHECK: fence_proxy_async
        T.fence_proxy_async()
        # CHECK: call {name="tma_store_arrive"}
        T.tma_store_arrive()
        # CHECK: call {name="tma_store_wait", read=1}
        T.tma_store_wait()
        # CHECK: call {name="tma_store_wait", count=1, read=0}
        T.tma_store_wait(1, read=False)
        # CHECK: cp_async_commit
        T.ptx_commit_group()
        # CHECK: cp_async_wait {pending=2}
        T.ptx_wait_group(2)
        # CHECK: wgmma_fence
        T.warpgroup_arrive()
        # CHECK: wgmma_commit
        T.warpgroup_commit_batch()
        # CHECK: wgmma_wait {pending=1}
        T.warpgroup_wait(1)
        # CHECK: call {name="pdl_trigger"}
        T.pdl_trigger()
        # CHECK: call {name="pdl_sync"}
        T.pdl_sync()
