# What a copy may be told: every argument is in the IR.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @hints
@T.prim_func
def hints(A: T.Tensor((256, 64), "float16")):
    with T.ClusterKernel(4, cluster_dims=2, threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        f = T.alloc_fragment((64, 64), "float16")
        bar = T.alloc_cluster_barrier([1])
        # CHECK: %[[V1:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: copy %[[V1]], %s {coalesced_width=8, disable_tma=1}
        T.copy(A[0, 0], s, coalesced_width=8, disable_tma=True)
        # CHECK: %[[V2:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: copy %[[V2]], %s {eviction_policy="evict_normal"}
        T.copy(A[0, 0], s, eviction_policy="evict_normal")
        # CHECK: %[[V3:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: copy %[[V3]], %s {eviction_policy="evict_first"}
        T.copy(A[0, 0], s, eviction_policy="evict_first")
        # CHECK: %[[V4:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: copy %[[V4]], %s {eviction_policy="evict_last"}
        T.copy(A[0, 0], s, eviction_policy="evict_last")
        # CHECK: %[[V5:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: copy %[[V5]], %s {prefer="tma"}
        T.copy(A[0, 0], s, prefer_instruction="tma")
        # CHECK: %[[V6:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: copy %[[V6]], %s {prefer="cp_async", tag=[1, 2], name="x"}
        T.copy(A[0, 0], s, prefer_instruction="cp_async", annotations={"tag": [1, 2], "name": "x"})
        # CHECK: %[[V7:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: copy %[[V7]], %s {prefer="sync"}
        T.copy(A[0, 0], s, prefer_instruction="sync")
        # CHECK: loop_layout {of="next", kind="fragment"}{{.*}}|%i0: i32, %i1: i32|
        # CHECK: %[[V8:[0-9]+]] = floordiv %i0, %c2{{[_0-9]*}} : i32
        # CHECK: %[[V9:[0-9]+]] = floordiv %i1, %c64{{[_0-9]*}} : i32
        # CHECK: %[[V10:[0-9]+]] = add %[[V8]], %[[V9]] : i32
        # CHECK: %[[V11:[0-9]+]] = floormod %i0, %c2{{[_0-9]*}} : i32
        # CHECK: %[[V12:[0-9]+]] = mul %[[V11]], %c64{{[_0-9]*}} : i32
        # CHECK: %[[V13:[0-9]+]] = add %[[V12]], %i1 : i32
        # CHECK: yield %[[V10]], %[[V13]]
        # CHECK: copy %s, %f
        T.copy(s, f, loop_layout=T.Fragment((64, 64), forward_fn=lambda i, j: (i // 2 + j // 64, i % 2 * 64 + j)))
        # CHECK: %[[V14:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: async_copy %[[V14]], %s {coalesced_width=4}
        # CHECK: cp_async_commit
        T.async_copy(A[0, 0], s, coalesced_width=4)
        # CHECK: cp_async_wait {pending=0}
        T.ptx_wait_group(0)
        # CHECK: %[[V15:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: tma_copy %[[V15]], %s, %bar, %c0{{[_0-9]*}} {leader_scope_threads=64, eviction_policy="evict_last"}
        T.tma_copy(A[0, 0], s, barrier=bar, leader_scope_threads=64, eviction_policy="evict_last")
        # CHECK: %[[V16:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: tma_copy %[[V16]], %s, %bar, %c0{{[_0-9]*}} {cluster_mask=3}
        T.tma_copy(A[0, 0], s, barrier=bar[0], cluster_mask=3)
        # CHECK: %[[V17:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: tma_copy %s, %[[V17]]
        T.tma_copy(s, A[0, 0])
        # CHECK: copy_cluster %s, %s, %c1{{[_0-9]*}}
        T.copy_cluster(s, s, dst_block=1)
        # CHECK: copy_cluster %s, %s, %bx, %bar, %c0{{[_0-9]*}}
        T.copy_cluster(s, s, dst_block=bx, remote_barrier=bar[0])
        # CHECK: %[[V18:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64, 64]
        # CHECK: copy_cluster %[[V18]], %s {cluster_mask=3, eviction_policy="evict_first"}
        T.copy_cluster(A[0, 0], s, cluster_mask=3, eviction_policy="evict_first")


# CHECK-LABEL: func @gathers
@T.prim_func
def gathers(A: T.Tensor((256, 64), "float16"), I: T.Tensor((2, 16, 16, 32), "float16")):
    with T.Kernel(4, threads=128) as bx:
        rows = T.alloc_shared((4, 64), "float16")
        col = T.alloc_shared((64, 32), "float16")
        bar = T.alloc_barrier(1)
        # CHECK: mbarrier_arrive_expect_tx %bar, %c0{{[_0-9]*}} {bytes=512}
        T.mbarrier_arrive_expect_tx(bar, T.tma_gather4_bytes(64, "float16"))
        # CHECK: tma_gather %A, %rows, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %bx, %c9{{[_0-9]*}}, %c200{{[_0-9]*}}, %bar, %c0{{[_0-9]*}} {eviction_policy="evict_first"}
        T.tma_gather4(A, rows, 0, [1, bx, 9, 200], barrier=bar, eviction_policy="evict_first")
        # CHECK: tma_scatter %rows, %A, %c0{{[_0-9]*}}, %c3{{[_0-9]*}}, %c2{{[_0-9]*}}, %c1{{[_0-9]*}}, %bx
        T.tma_scatter4(rows, A, 0, [3, 2, 1, bx])
        # CHECK: im2col %I, %col, %bx, %c0{{[_0-9]*}} {kernel=3, stride=1, dilation=1, pad=1, eviction_policy="evict_first"}
        T.im2col(I, col, bx, 0, 3, 1, 1, 1, "evict_first")
        # CHECK: im2col %I, %col, %bx, %c0{{[_0-9]*}} {kernel=3, stride=2, dilation=1, pad=0}
        T.c2d_im2col(I, col, nhw_step=bx, c_step=0, kernel=3, stride=2, dilation=1, pad=0)
