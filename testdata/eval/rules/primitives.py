# Warps, clusters, random numbers, tensor memory.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @warps
@T.prim_func
def warps(A: T.Tensor((64,), "float32"), I: T.Tensor((64,), "int32"), U: T.Tensor((64,), "uint64"), n: T.int32):
    with T.Kernel(1, threads=128) as bx:
        x = A[0]
        # value, lane or distance, width 32, all lanes.
        # CHECK: %[[V1:[0-9]+]] = call %x, %c3{{[_0-9]*}}, %c32{{[_0-9]*}}, %c4294967295{{[_0-9]*}} {name="shfl_sync"} : f32
        # CHECK: store %A, %c1{{[_0-9]*}}, %[[V1]]
        A[1] = T.shfl_sync(x, 3)
        # CHECK: %[[V2:[0-9]+]] = call %x, %c1{{[_0-9]*}}, %c16{{[_0-9]*}}, %c4294967295{{[_0-9]*}} {name="shfl_xor"} : f32
        # CHECK: store %A, %c2{{[_0-9]*}}, %[[V2]]
        A[2] = T.shfl_xor(x, 1, 16)
        # CHECK: %[[V3:[0-9]+]] = call %x, %n, %c32{{[_0-9]*}}, %c255{{[_0-9]*}} {name="shfl_down"} : f32
        # CHECK: store %A, %c3{{[_0-9]*}}, %[[V3]]
        A[3] = T.shfl_down(x, n, mask=255)
        # CHECK: %[[V4:[0-9]+]] = call %x, %c1{{[_0-9]*}}, %c32{{[_0-9]*}}, %c4294967295{{[_0-9]*}} {name="shfl_up"} : f32
        # CHECK: store %A, %c4{{[_0-9]*}}, %[[V4]]
        A[4] = T.shfl_up(x, 1)
        # CHECK: %[[V5:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: %[[V6:[0-9]+]] = call %[[V5]] {name="ballot"} : u64
        # CHECK: store %U, %c0{{[_0-9]*}}, %[[V6]]
        U[0] = T.ballot(n > 0)
        # CHECK: %[[V7:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: %[[V8:[0-9]+]] = call %[[V7]], %c15{{[_0-9]*}} {name="ballot_sync"} : u64
        # CHECK: store %U, %c1{{[_0-9]*}}, %[[V8]]
        U[1] = T.ballot_sync(n > 0, 15)
        # CHECK: %[[V9:[0-9]+]] = call {name="activemask"} : u64
        # CHECK: store %U, %c2{{[_0-9]*}}, %[[V9]]
        U[2] = T.activemask()
        # CHECK: %[[V10:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: %[[V11:[0-9]+]] = call %[[V10]], %c4294967295{{[_0-9]*}} {name="any_sync"} : i32
        # CHECK: %[[V12:[0-9]+]] = call %n, %c4294967295{{[_0-9]*}} {name="all_sync"} : i32
        # CHECK: %[[V13:[0-9]+]] = add %[[V11]], %[[V12]] : i32
        # CHECK: store %I, %c1{{[_0-9]*}}, %[[V13]]
        I[1] = T.any_sync(n > 0) + T.all_sync(n)
        # CHECK: %[[V14:[0-9]+]] = call %n, %c4294967295{{[_0-9]*}} {name="match_any_sync"} : u32
        # CHECK: %[[V15:[0-9]+]] = cast %[[V14]] : i32
        # CHECK: store %I, %c2{{[_0-9]*}}, %[[V15]]
        I[2] = T.match_any_sync(n)
        # CHECK: %[[V16:[0-9]+]] = call %x {name="warp_reduce_sum"} : f32
        # CHECK: %[[V17:[0-9]+]] = call %x {name="warp_reduce_max"} : f32
        # CHECK: %[[V18:[0-9]+]] = add %[[V16]], %[[V17]] : f32
        # CHECK: %[[V19:[0-9]+]] = call %x {name="warp_reduce_min"} : f32
        # CHECK: %[[V20:[0-9]+]] = add %[[V18]], %[[V19]] : f32
        # CHECK: store %A, %c5{{[_0-9]*}}, %[[V20]]
        A[5] = T.warp_reduce_sum(x) + T.warp_reduce_max(x) + T.warp_reduce_min(x)
        # CHECK: %[[V21:[0-9]+]] = call %n {name="warp_reduce_bitand"} : i32
        # CHECK: %[[V22:[0-9]+]] = call %n {name="warp_reduce_bitor"} : i32
        # CHECK: %[[V23:[0-9]+]] = bit_or %[[V21]], %[[V22]] : i32
        # CHECK: store %I, %c3{{[_0-9]*}}, %[[V23]]
        I[3] = T.warp_reduce_bitand(n) | T.warp_reduce_bitor(n)
        # CHECK: %[[V24:[0-9]+]] = call {name="shuffle_elect", threads=128} : b1
        # CHECK: if %[[V24]]
        if T.shuffle_elect(128):
            I[4] = 1
        # CHECK: %[[V25:[0-9]+]] = call {name="shuffle_elect", threads=0} : b1
        # CHECK: if %[[V25]]
        if T.shuffle_elect(0):
            I[4] = 1
        # CHECK: %[[V26:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: %[[V27:[0-9]+]] = call %[[V26]] {name="syncthreads_count"} : i32
        # CHECK: %[[V28:[0-9]+]] = call %n {name="syncthreads_and"} : i32
        # CHECK: %[[V29:[0-9]+]] = add %[[V27]], %[[V28]] : i32
        # CHECK: %[[V30:[0-9]+]] = call %n {name="syncthreads_or"} : i32
        # CHECK: %[[V31:[0-9]+]] = add %[[V29]], %[[V30]] : i32
        # CHECK: store %I, %c5{{[_0-9]*}}, %[[V31]]
        I[5] = T.syncthreads_count(n > 0) + T.syncthreads_and(n) + T.syncthreads_or(n)
        # CHECK: %[[V32:[0-9]+]] = thread_index : i32
        # CHECK: %[[V33:[0-9]+]] = floormod %[[V32]], %c32{{[_0-9]*}} : i32
        # CHECK: %[[V34:[0-9]+]] = thread_index : i32
        # CHECK: %[[V35:[0-9]+]] = floordiv %[[V34]], %c32{{[_0-9]*}} : i32
        # CHECK: %[[V36:[0-9]+]] = add %[[V33]], %[[V35]] : i32
        # CHECK: %[[V37:[0-9]+]] = thread_index : i32
        # CHECK: %[[V38:[0-9]+]] = floordiv %[[V37]], %{{[0-9]+}} : i32
        # CHECK: %[[V39:[0-9]+]] = add %[[V36]], %[[V38]] : i32
        # CHECK: store %I, %c6{{[_0-9]*}}, %[[V39]]
        I[6] = T.get_lane_idx() + T.get_warp_idx() + T.get_warp_group_idx()


# CHECK-LABEL: func @random
@T.prim_func
def random(A: T.Tensor((64,), "uint32"), F: T.Tensor((64,), "float32"), n: T.int32):
    with T.Kernel(1, threads=64) as bx:
        # CHECK: %[[V40:[0-9]+]] = mul %bx, %c64{{[_0-9]*}} : i32
        # CHECK: %[[V41:[0-9]+]] = thread_index : i32
        # CHECK: %[[V42:[0-9]+]] = add %[[V41]], %[[V40]] : i32
        # CHECK: call %c7{{[_0-9]*}}, %[[V42]], %c0{{[_0-9]*}} {name="rng_init", generator="curandStatePhilox4_32_10_t"}
        T.rng_init(7)
        # CHECK: call %n, %bx, %c3{{[_0-9]*}} {name="rng_init", generator="curandStateXORWOW_t"}
        T.rng_init(n, seq=bx, off=3, generator="curandStateXORWOW_t")
        # CHECK: %[[V43:[0-9]+]] = call {name="rng_rand"} : u32
        # CHECK: store %A, %c0{{[_0-9]*}}, %[[V43]]
        A[0] = T.rng_rand()
        # CHECK: %[[V44:[0-9]+]] = call {name="rng_rand_float", dist="uniform"} : f32
        # CHECK: store %F, %c0{{[_0-9]*}}, %[[V44]]
        F[0] = T.rng_rand_float()
        # CHECK: %[[V45:[0-9]+]] = call {name="rng_rand_float", dist="normal"} : f32
        # CHECK: store %F, %c1{{[_0-9]*}}, %[[V45]]
        F[1] = T.rng_rand_float(bit=32, dist="normal")


# CHECK-LABEL: func @tensor_memory
@T.prim_func
def tensor_memory(A: T.Tensor((128, 128), "uint32"), n: T.int32):
    with T.ClusterKernel(2, cluster_dims=2, threads=128) as bx:
        s = T.alloc_shared((128, 4), "uint32")
        m = T.alloc_tmem((128, 32), "uint32")
        r = T.alloc_shared((4,), "uint32")
        bar = T.alloc_barrier(1)
        T.copy(A[0, 0], s)
        # CHECK: call %s {name="tcgen05_sf_warp_transpose"}
        T.tcgen05_sf_warp_transpose(s)
        # CHECK: call %s, %m, %c0{{[_0-9]*}} {name="tcgen05_cp_warpx4", use_2cta=0}
        T.tcgen05_cp_warpx4(s, m)
        # CHECK: call %s, %m, %n {name="tcgen05_cp_warpx4", use_2cta=1}
        T.tcgen05_cp_warpx4(s, m, n, use_2cta=True)
        # CHECK: call {name="tcgen05_before_thread_sync"}
        T.tcgen05_before_thread_sync()
        # CHECK: call {name="tcgen05_after_thread_sync"}
        T.tcgen05_after_thread_sync()
        # CHECK: call %r, %bar, %c0{{[_0-9]*}} {name="clc_try_cancel"}
        T.clc_try_cancel(r, bar)
        # CHECK: call %r, %bar, %c0{{[_0-9]*}} {name="clc_try_cancel_multicast"}
        T.clc_try_cancel_multicast(r, bar[0])
        # CHECK: %[[V46:[0-9]+]] = call %r {name="clc_is_canceled"} : i32
        # CHECK: %[[V47:[0-9]+]] = ne %[[V46]], %c0{{[_0-9]*}} : b1
        # CHECK: if %[[V47]]
        if T.clc_is_canceled(r):
            # CHECK: %[[V48:[0-9]+]] = call %r {name="clc_get_first_ctaid_x"} : u32
            # CHECK: %[[V49:[0-9]+]] = call %r {name="clc_get_first_ctaid_y"} : u32
            # CHECK: %[[V50:[0-9]+]] = add %[[V48]], %[[V49]] : u32
            # CHECK: %[[V51:[0-9]+]] = call %r {name="clc_get_first_ctaid_z"} : u32
            # CHECK: %[[V52:[0-9]+]] = add %[[V50]], %[[V51]] : u32
            # CHECK: store %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %[[V52]]
            A[0, 0] = T.clc_get_first_ctaid_x(r) + T.clc_get_first_ctaid_y(r) + T.clc_get_first_ctaid_z(r)
        # CHECK: %[[V53:[0-9]+]] = region %r, %c0{{[_0-9]*}}, %c1{{[_0-9]*}} : tile u32[1]
        # CHECK: %[[V54:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c1{{[_0-9]*}} : tile u32[1, 1]
        # CHECK: call %[[V53]], %[[V54]] {name="ptx_cp_async", elements=4}
        T.ptx_cp_async(T.access_ptr(r[0], "w"), T.access_ptr(A[0, 0], "r"), 4)
        # CHECK: %[[V55:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: %[[V56:[0-9]+]] = region %r, %c0{{[_0-9]*}}, %c1{{[_0-9]*}} : tile u32[1]
        # CHECK: %[[V57:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c1{{[_0-9]*}} : tile u32[1, 1]
        # CHECK: call %[[V56]], %[[V57]], %[[V55]] {name="ptx_cp_async", elements=4}
        T.ptx_cp_async(T.access_ptr(r[0], "w"), T.access_ptr(A[0, 0], "r"), 4, n > 0)
