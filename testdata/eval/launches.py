# test: eval
# test: roundtrip
# CHECK-LABEL: func @launches
# CHECK: launch %{{[0-9]+}}, %c2{{[_0-9]*}} {threads=128, block=[32, 4], swizzle_panel=8, swizzle_order="column"}{{.*}} |%bx: i32, %by: i32
# CHECK: %tx = floormod %{{[0-9]+}}, %c32{{[_0-9]*}} : i32
# CHECK: %ty = floordiv %{{[0-9]+}}, %c32{{[_0-9]*}} : i32
# CHECK: store %A, %tx, %{{[0-9]+}}
# CHECK: store %A, %c4{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: launch %c4{{[_0-9]*}}, %c2{{[_0-9]*}} {threads=512, cluster=[2, 1, 1], prelude="// text"}{{.*}} |%{{[0-9]+}}: i32, %{{[0-9]+}}: i32
# CHECK: store %A, %{{[0-9]+}}, %{{[0-9]+}}
# CHECK: ws {lo=0, hi=384, ranges=[0, 128, 256, 384]}
# CHECK: sync_threads {id=1, threads=256}
# CHECK: ws {lo=128, hi=384}
# CHECK: call {name="block_rank_in_cluster"} : i32
# CHECK: store %A, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: launch %c1{{[_0-9]*}} {threads=64, source="__global__ void f() {}", entry="f"}
# Several launches in one function; thread and CTA indices by dimension, x fastest; one name for a grid of two is a list.
import tilelang.language as T


@T.prim_func
def launches(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(T.ceildiv(n, 4), 2, threads=(32, 4)) as (bx, by):
        tx = T.get_thread_binding(0)
        ty = T.get_thread_binding(1)
        tz = T.get_thread_binding(2)
        A[tx] = ty + tz + T.get_block_binding(1)
        A[T.get_thread_extent(1)] = T.get_lane_idx() + T.get_warp_idx()
        T.use_swizzle(8, order="column")
    with T.Kernel(4, 2, threads=512, prelude="// text", cluster_dims=(2, 1)) as b:
        A[b[0]] = b[1] * T.get_cluster_id(0) + T.get_cluster_size() + T.get_cluster_extent(0)
        with T.ws(0, 2):
            T.sync_threads(1, 256)
        with T.ws(1, 2):
            A[0] = T.block_rank_in_cluster()
    T.CUDASourceCodeKernel(1, threads=64, source_code_or_path="__global__ void f() {}", entry_name="f")
