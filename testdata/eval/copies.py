# test: eval
# test: roundtrip
# CHECK-LABEL: func @copies
# CHECK: launch %c4{{[_0-9]*}} {threads=128, cluster=[2, 1, 1]}{{.*}} |%bx: i32
# CHECK: %s = alloc : shared f16[64, 64]
# CHECK: %f = alloc : fragment f16[64, 64]
# CHECK: %full = alloc {counts=[1, 1], cluster=1} : barrier u64[2]
# CHECK: copy %{{[0-9]+}}, %s {coalesced_width=4, eviction_policy="evict_first", prefer="cp_async"}
# CHECK: copy %s, %f {tag=[1, 2]}
# CHECK: store %B, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: async_copy %{{[0-9]+}}, %s
# CHECK: cp_async_commit
# CHECK: cp_async_wait {pending=0}
# CHECK: tma_copy %{{[0-9]+}}, %s, %full, %c1{{[_0-9]*}} {cluster_mask=3, leader_scope_threads=32}
# CHECK: tma_copy %s, %{{[0-9]+}}
# CHECK: call {name="tma_store_arrive"}
# CHECK: call {name="tma_store_wait", count=1, read=0}
# CHECK: copy_cluster %s, %s, %c1{{[_0-9]*}}, %full, %c0{{[_0-9]*}}
# CHECK: call %full, %c0{{[_0-9]*}}, %c1{{[_0-9]*}} {name="mbarrier_arrive_remote"}
# CHECK: %rows = alloc : shared f16[4, 64]
# CHECK: tma_gather %A, %rows, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c5{{[_0-9]*}}, %c9{{[_0-9]*}}, %bx, %full, %c0{{[_0-9]*}}
# CHECK: tma_scatter %rows, %A, %c8{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c2{{[_0-9]*}}, %c3{{[_0-9]*}}
# CHECK: mbarrier_expect_tx %full, %c0{{[_0-9]*}} {bytes=512}
# CHECK: transpose %s, %s
# CHECK: %col = alloc : shared f16[64, 32]
# CHECK: im2col %I, %col, %bx, %c0{{[_0-9]*}} {kernel=3, stride=1, dilation=1, pad=1}
# CHECK: fill %{{[0-9]+}}, %{{[0-9]+}}
import tilelang.language as T


@T.prim_func
def copies(A: T.Tensor((256, 64), "float16"), I: T.Tensor((1, 16, 16, 32), "float16"), B: T.Tensor((8, 8), "float32")):
    with T.ClusterKernel(4, cluster_dims=(2, 1, 1), threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        f = T.alloc_fragment((64, 64), "float16")
        full = T.alloc_cluster_barrier([1, 1])
        T.copy(A[bx * 64, 0], s, eviction_policy="evict_first", coalesced_width=4, prefer_instruction="cp_async")
        T.copy(s, f, annotations={"tag": [1, 2]})
        T.copy(A[1, 2], B[0, 0])
        T.async_copy(A[0:64, :], s)
        T.ptx_wait_group(0)
        T.tma_copy(A[0, 0], s, barrier=full[1], cluster_mask=3, leader_scope_threads=32)
        T.tma_copy(s, A[64, 0])
        T.tma_store_arrive()
        T.tma_store_wait(1, read=False)
        T.copy_cluster(s, s, dst_block=1, remote_barrier=full)
        T.mbarrier_arrive(full[0], cta_id=1)
        rows = T.alloc_shared((4, 64), "float16")
        T.tma_gather4(A, rows, 0, [1, 5, 9, bx], barrier=full[0])
        T.tma_scatter4(rows, A, 8, (0, 1, 2, 3))
        T.mbarrier_expect_tx(full, T.tma_gather4_bytes(64, "float16"))
        T.transpose(s, s)
        col = T.alloc_shared((64, 32), "float16")
        T.im2col(I, col, bx, 0, 3, 1, 1, 1)
        T.fill(s[0:32, :], 1)
