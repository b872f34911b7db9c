# test: eval
# test: roundtrip
# CHECK-LABEL: func @intrinsics
# CHECK: launch %c1{{[_0-9]*}} {threads=32, block=[8, 4]}{{.*}} |%bx: i32
# CHECK: %t = floormod %{{[0-9]+}}, %c8{{[_0-9]*}} : i32
# CHECK: %v = call %{{[0-9]+}}, %c1{{[_0-9]*}}, %c32{{[_0-9]*}}, %c4294967295{{[_0-9]*}} {name="shfl_xor"} : f32
# CHECK: call %{{[0-9]+}}, %c4294967295{{[_0-9]*}} {name="any_sync"} : i32
# CHECK: store %n, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %{{[0-9]+}} {name="popcount"} : i32
# CHECK: call %{{[0-9]+}} {name="clz"} : i32
# CHECK: store %n, %c1{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %v {name="fast_exp"} : f32
# CHECK: call %v {name="floor"} : f32
# CHECK: call %v, %{{[0-9]+}} {name="ieee_add", rounding="rz"} : f32
# CHECK: call %v, %{{[0-9]+}} {name="pow"} : f32
# CHECK: call %v, %v, %v {name="fma"} : f32
# CHECK: store %x, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %{{[0-9]+}} {name="sin"} : f16
# CHECK: store %h, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %v {name="cast_rounded", round="rz", sat=0} : f16
# CHECK: store %h, %c2{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %v {name="reinterpret"} : i32
# CHECK: call %v {name="reinterpret"} : i32
# CHECK: store %n, %c4{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %v {name="isnan"} : b1
# CHECK: store %x, %c1{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %v {name="warp_reduce_sum"} : f32
# CHECK: store %x, %c2{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %t {name="syncthreads_count"} : i32
# CHECK: store %n, %c5{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call {name="shuffle_elect", threads=32} : b1
# CHECK: if %{{[0-9]+}}
# CHECK: fence_proxy_async
# CHECK: call %c7{{[_0-9]*}}, %{{[0-9]+}}, %c0{{[_0-9]*}} {name="rng_init", generator="curandStatePhilox4_32_10_t"}
# CHECK: call {name="rng_rand_float", dist="uniform"} : f32
# CHECK: store %x, %c3{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %v {name="print", message="v"}
# CHECK: call %{{[0-9]+}} {name="device_assert", message="index"}
# CHECK: call {name="set_max_nreg", count=240, increase=1}
# CHECK: call {name="pdl_trigger"}
# CHECK: call {name="cluster_sync"}
# CHECK: call {name="sync_grid"}
# CHECK: %w = call %{{[0-9]+}} {name="ldg", bits=128} : u32x4
# CHECK: call %{{[0-9]+}}, %w {name="stg", bits=128}
# CHECK: %acc = alloc : local f32[1]
# CHECK: call %v, %c1{{[_0-9]*}}, %{{[0-9]+}} {name="thread_allreduce", dims=[1], op="sum"}
import tilelang.language as T


@T.prim_func
def intrinsics(x: T.Tensor((64,), "float32"), n: T.Tensor((64,), "int32"), h: T.Tensor((64,), "float16")):
    with T.Kernel(1, threads=(8, 4)) as bx:
        t = T.get_thread_binding(0)
        k = T.get_thread_binding(1)
        v = T.shfl_xor(x[t], 1)
        n[0] = T.any_sync(v > 0.0)
        n[1] = T.popcount(n[2]) + T.clz(n[3])
        x[0] = T.__exp(v) + T.floor(v) + T.ieee_add(v, 1.0, "rz") + T.pow(v, 3) + T.pow(v, 0.5) + T.fma(v, v, v)
        h[0] = T.sin(h[1])
        h[2] = T.cast(v, "float16", round="rz", sat=False)
        n[4] = T.reinterpret(v, "int32") ^ T.reinterpret("int32", v)
        x[1] = T.if_then_else(T.isnan(v), T.max_value("float16"), T.min_value("float8_e4m3fn"))
        x[2] = T.warp_reduce_sum(v)
        n[5] = T.syncthreads_count(t)
        if T.shuffle_elect(32):
            T.fence_proxy_async()
        T.rng_init(7)
        x[3] = T.rng_rand_float()
        T.print(v, msg="v")
        T.device_assert(t >= 0, "index")
        T.set_max_nreg(240, 1)
        T.pdl_trigger()
        T.cluster_sync()
        T.sync_grid()
        w = T.ldg128(x[4])
        T.stg128(x[8], w)
        acc = T.alloc_local((1,), "float32")
        with T.attr(T.comm_reducer(lambda p, q: p + q, [0.0]), "reduce_scope", T.reinterpret(T.uint64(0), dtype="handle")):
            T.evaluate(T.tvm_thread_allreduce(T.uint32(1), v, True, acc[0], k, dtype="handle"))
