# test: eval
# test: roundtrip
# CHECK-LABEL: func @atomics
# CHECK: launch %c2{{[_0-9]*}} {threads=128}{{.*}} |%bx: i32
# CHECK: %s = alloc : shared f32[32, 64]
# CHECK: atomic_element %c, %c0{{[_0-9]*}}, %c1{{[_0-9]*}} {op="add", order="relaxed"} : i32
# CHECK: %old = alloc {scope="local.var"} : local i32[1]
# CHECK: store %old, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: atomic_element %c, %bx, %{{[0-9]+}} {op="max", order="release"} : i32
# CHECK: atomic_element %c, %c1{{[_0-9]*}}, %c3{{[_0-9]*}} {op="or", order="relaxed"} : i32
# CHECK: atomic %s, %{{[0-9]+}} {op="add", order="relaxed", use_tma=1}
# CHECK: atomic_fill %{{[0-9]+}}, %{{[0-9]+}} {op="min", order="relaxed"}
# CHECK: parallel %c32{{[_0-9]*}}{{.*}} |%i: i32
# CHECK: call %{{[0-9]+}}, %{{[0-9]+}} {name="atomic_add_vector", lanes=2}
# CHECK: %v = atomic_load %c, %c2{{[_0-9]*}} {order="acquire"} : i32
# CHECK: atomic_store %c, %c3{{[_0-9]*}}, %{{[0-9]+}} {order="relaxed"}
# Elements: an op every thread does, with a result on request. Regions: a tile operation with the extents of a copy.
import tilelang.language as T


@T.prim_func
def atomics(A: T.Tensor((64, 64), "float32"), c: T.Tensor((4,), "int32")):
    with T.Kernel(2) as bx:
        s = T.alloc_shared((32, 64), "float32")
        old = T.alloc_var("int32", T.atomic_add(c[0], 1, return_prev=True))
        T.atomic_max(c[bx], old, memory_order="release")
        T.atomic_or(c[1], 3)
        T.atomic_add(A[bx * 32, 0], s, use_tma=True)
        T.atomic_min(A[0:32, :], 1.0)
        for i in T.Parallel(32):
            T.atomic_addx2(A[i, 0], s[i, 0])
        v = T.atomic_load(c[2], memory_order="acquire")
        T.atomic_store(c[3], v + 1, memory_order="relaxed")
