# Launches: one to three extents of the grid (known at run time or not), 128 threads unless stated.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @kernels
@T.prim_func
def kernels(A: T.Tensor((64,), "int32"), n: T.int32):
    # CHECK: launch %c4{{[_0-9]*}} {threads=128}{{.*}}|%bx: i32|
    with T.Kernel(4) as bx:
        # CHECK: store %A, %bx, %c0{{[_0-9]*}}
        A[bx] = 0
    # CHECK: %[[V1:[0-9]+]] = add %n, %c4{{[_0-9]*}} : i32
    # CHECK: %[[V2:[0-9]+]] = sub %[[V1]], %c1{{[_0-9]*}} : i32
    # CHECK: %[[V3:[0-9]+]] = floordiv %[[V2]], %c4{{[_0-9]*}} : i32
    # CHECK: launch %n, %c2{{[_0-9]*}}, %[[V3]] {threads=128, block=[32, 2, 2]}{{.*}}|%bx_1: i32, %by: i32, %bz: i32|
    with T.Kernel(n, 2, T.ceildiv(n, 4), threads=(32, 2, 2)) as (bx, by, bz):
        # Threads count with x fastest.
        # CHECK: %[[V4:[0-9]+]] = thread_index : i32
        # CHECK: %[[V5:[0-9]+]] = floormod %[[V4]], %c32{{[_0-9]*}} : i32
        # CHECK: store %A, %[[V5]], %c0{{[_0-9]*}}
        A[T.get_thread_binding()] = 0
        # CHECK: %[[V6:[0-9]+]] = thread_index : i32
        # CHECK: %[[V7:[0-9]+]] = floordiv %[[V6]], %c32{{[_0-9]*}} : i32
        # CHECK: %[[V8:[0-9]+]] = floormod %[[V7]], %c2{{[_0-9]*}} : i32
        # CHECK: store %A, %[[V8]], %c0{{[_0-9]*}}
        A[T.get_thread_binding(1)] = 0
        # CHECK: %[[V9:[0-9]+]] = thread_index : i32
        # CHECK: %[[V10:[0-9]+]] = floordiv %[[V9]], %c32{{[_0-9]*}} : i32
        # CHECK: %[[V11:[0-9]+]] = floordiv %[[V10]], %c2{{[_0-9]*}} : i32
        # CHECK: store %A, %[[V11]], %c0{{[_0-9]*}}
        A[T.get_thread_binding(2)] = 0
        tx, ty, tz = T.get_thread_bindings()
        # CHECK: store %A, %bz, %c2{{[_0-9]*}}
        A[T.get_block_binding(2)] = T.get_thread_extent(1)
    # One name for two extents is a list; a name for one can be unpacked.
    # CHECK: launch %c4{{[_0-9]*}}, %c2{{[_0-9]*}} {threads=64}{{.*}}|%{{[0-9]+}}: i32, %{{[0-9]+}}: i32|
    with T.Kernel(4, 2, threads=[64]) as block:
        # CHECK: store %A, %{{[0-9]+}}, %{{[0-9]+}}
        A[block[0]] = block[1]
    # Without extents one CTA.
    # CHECK: launch %c1{{[_0-9]*}} {threads=32}{{.*}}|%{{[0-9]+}}: i32|
    with T.Kernel(threads=32):
        A[1] = 1
    # CHECK: launch %c4{{[_0-9]*}} {threads=128}{{.*}}|%bx_2: i32|
    with T.Kernel(4) as (bx,):
        # CHECK: store %A, %bx_2, %c1{{[_0-9]*}}
        A[bx] = 1
    # CHECK: launch %c2{{[_0-9]*}} {threads=128, prelude="__device__ int f();"}{{.*}}|%{{[0-9]+}}: i32|
    with T.Kernel(2, prelude="__device__ int f();"):
        # CHECK: store %A, %c0{{[_0-9]*}}, %c2{{[_0-9]*}}
        A[0] = T.get_block_extent(0)


# CHECK-LABEL: func @clusters
@T.prim_func
def clusters(A: T.Tensor((64,), "int32")):
    # CHECK: launch %c8{{[_0-9]*}}, %c4{{[_0-9]*}} {threads=64, cluster=[2, 2, 1]}{{.*}}|%bx: i32, %by: i32|
    with T.ClusterKernel(8, 4, cluster_dims=(2, 2), threads=64) as (bx, by):
        # CHECK: %[[V12:[0-9]+]] = floordiv %by, %c2{{[_0-9]*}} : i32
        # CHECK: %[[V13:[0-9]+]] = call {name="block_rank_in_cluster"} : i32
        # CHECK: store %A, %[[V13]], %[[V12]]
        A[T.block_rank_in_cluster()] = T.get_cluster_id(1)
        # CHECK: store %A, %c1{{[_0-9]*}}, %c8{{[_0-9]*}}
        A[1] = T.get_cluster_size() + T.get_cluster_extent(0)
    # A cluster of one is none.
    # CHECK-NOT: cluster=
    # CHECK: launch %c8{{[_0-9]*}} {threads=128}{{.*}}|%bx_1: i32|
    with T.ClusterKernel(8, cluster_dims=1) as bx:
        A[0] = bx
    # CHECK: launch %c8{{[_0-9]*}} {threads=128, cluster=[2, 1, 1]}{{.*}}|%bx_2: i32|
    with T.Kernel(8, cluster_dims=[2]) as bx:
        A[0] = bx


# CHECK-LABEL: func @swizzles
@T.prim_func
def swizzles(A: T.Tensor((64,), "int32")):
    # CHECK: launch %c8{{[_0-9]*}}, %c4{{[_0-9]*}} {threads=128, swizzle_panel=10, swizzle_order="row"}{{.*}}|%bx: i32, %by: i32|
    with T.Kernel(8, 4) as (bx, by):
        T.use_swizzle(10)
        A[bx] = by
    # CHECK: launch %c8{{[_0-9]*}}, %c4{{[_0-9]*}} {threads=128, swizzle_panel=4, swizzle_order="column"}{{.*}}|%bx_1: i32, %by_1: i32|
    with T.Kernel(8, 4) as (bx, by):
        T.use_swizzle(panel_size=4, order="column", enable=True)
        A[bx] = by
    # CHECK-NOT: swizzle_panel
    with T.Kernel(8, 4) as (bx, by):
        T.use_swizzle(10, enable=False)
        T.annotate_min_blocks_per_sm(2)
        A[bx] = by
