# test: eval
# test: roundtrip
# CHECK-LABEL: func @pointers
# CHECK: %flat = view %K : global f16[64, 4]
# CHECK: launch %c4{{[_0-9]*}} {threads=128}{{.*}} |%bx: i32
# CHECK: %s = alloc : shared f32[64, 32]
# CHECK: %half = view %s : shared f16[64, 64]
# CHECK: %wide = view %s : shared f32[32, 64]
# CHECK: %other = pointer_view %{{[0-9]+}} : global f32[64, 32]
# CHECK: copy %other, %s
# CHECK: store %wide, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: store %half, %c1{{[_0-9]*}}, %c1{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: annotate {kind="import_source", text="__device__ void f(float*, const float*, int) {}"}
# CHECK: call %{{[0-9]+}}, %{{[0-9]+}}, %bx {name="call_extern", function="f", access="wuv"}
# CHECK: %y = call %{{[0-9]+}}, %c2{{[_0-9]*}} {name="call_extern_value", function="g", access="rv"} : f32
# CHECK: store %s, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %y
# CHECK: call %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} {name="ptx_cp_async", elements=4}
# CHECK: alloc {counts=[128]} : barrier u64[1]
# CHECK: call %{{[0-9]+}}, %c0{{[_0-9]*}} {name="cp_async_barrier_noinc"}
# Views are the same memory under another type; a pointer is a region with an access, where a function takes it.
import tilelang.language as T


@T.prim_func
def pointers(A: T.Tensor((64, 32), "float32"), P: T.Tensor((4,), T.ptr), K: T.Tensor((8, 8, 4), "float16")):
    flat = T.Tensor((64, 4), "float16", K.data)
    with T.Kernel(4, threads=128) as bx:
        s = T.alloc_shared((64, 32), "float32")
        half = T.view(s, (64, 64), "float16")
        wide = T.reshape(s, (32, 64))
        other = T.make_tensor(P[bx], (64, 32), "float32")
        T.copy(other, s)
        wide[0, 0] = 1.0
        half[1, 1] = flat[2, 3]
        T.import_source("__device__ void f(float*, const float*, int) {}")
        T.call_extern("handle", "f", T.access_ptr(s[0, 0], "w", 8), T.address_of(A[bx, 0]), bx)
        y = T.call_extern("float32", "g", T.access_ptr(A[0, 0], "r"), 2)
        s[0, 1] = y
        T.ptx_cp_async(T.access_ptr(s[bx, 0], "w", 4), T.access_ptr(A[bx, 4], "r", 4), 4, predicate=bx > 0)
        T.cp_async_barrier_noinc(T.alloc_barrier(128))
