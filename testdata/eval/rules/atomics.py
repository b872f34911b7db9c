# Atomics: of one element an operation of every thread, of regions a tile operation with the extents of a copy.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @atomics
@T.prim_func
def atomics(A: T.Tensor((64, 64), "float32"), c: T.Tensor((8,), "int32"), h: T.Tensor((64,), "float16"), n: T.int32):
    with T.Kernel(2, threads=64) as bx:
        s = T.alloc_shared((32, 64), "float32")
        f = T.alloc_fragment((32, 64), "float32")
        T.copy(A[0, 0], s)
        T.copy(s, f)
        # Elements; the order is relaxed where nothing is said.
        # CHECK: %{{[0-9]+}} = atomic_element %c, %c0{{[_0-9]*}}, %c1{{[_0-9]*}} {op="add", order="relaxed"} : i32
        T.atomic_add(c[0], 1)
        # CHECK: %[[V2:[0-9]+]] = load %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}} : f32
        # CHECK: %{{[0-9]+}} = atomic_element %A, %bx, %n, %[[V2]] {op="add", order="relaxed"} : f32
        T.atomic_add(A[bx, n], A[0, 0])
        # CHECK: %x = atomic_element %c, %c1{{[_0-9]*}}, %n {op="add", order="acq_rel"} : i32
        x = T.atomic_add(c[1], n, memory_order="acq_rel", return_prev=True)
        # CHECK: %{{[0-9]+}} = atomic_element %c, %c2{{[_0-9]*}}, %n {op="max", order="release"} : i32
        T.atomic_max(c[2], n, memory_order="release")
        # CHECK: %{{[0-9]+}} = atomic_element %c, %c3{{[_0-9]*}}, %n {op="min", order="relaxed"} : i32
        T.atomic_min(c[3], n)
        # CHECK: %{{[0-9]+}} = atomic_element %c, %c4{{[_0-9]*}}, %c3{{[_0-9]*}} {op="or", order="seq_cst"} : i32
        T.atomic_or(c[4], 3, memory_order="seq_cst")
        # CHECK: %y = atomic_load %c, %c5{{[_0-9]*}} {order="seq_cst"} : i32
        y = T.atomic_load(c[5])
        # CHECK: %z = atomic_load %c, %c5{{[_0-9]*}} {order="acquire"} : i32
        z = T.atomic_load(c[5], memory_order="acquire")
        # CHECK: %[[V7:[0-9]+]] = add %x, %y : i32
        # CHECK: %[[V8:[0-9]+]] = add %[[V7]], %z : i32
        # CHECK: atomic_store %c, %c6{{[_0-9]*}}, %[[V8]] {order="seq_cst"}
        T.atomic_store(c[6], x + y + z)
        # CHECK: atomic_store %c, %c6{{[_0-9]*}}, %c0{{[_0-9]*}} {order="relaxed"}
        T.atomic_store(c[6], 0, memory_order="relaxed")
        # The value is converted to the element's type.
        # CHECK: %{{[0-9]+}} = atomic_element %h, %n, %{{[0-9]+}} {op="add", order="relaxed"} : f16
        T.atomic_add(h[n], 1.5)
        # Regions.
        # CHECK: %[[V10:[0-9]+]] = mul %bx, %c32{{[_0-9]*}} : i32
        # CHECK: %[[V11:[0-9]+]] = region %A, %[[V10]], %c0{{[_0-9]*}}, %c32{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f32[32, 64]
        # CHECK: atomic %s, %[[V11]] {op="add", order="relaxed"}
        T.atomic_add(A[bx * 32, 0], s)
        # CHECK: %[[V12:[0-9]+]] = mul %bx, %c32{{[_0-9]*}} : i32
        # CHECK: %[[V13:[0-9]+]] = region %A, %[[V12]], %c0{{[_0-9]*}}, %c32{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f32[32, 64]
        # CHECK: atomic %f, %[[V13]] {op="add", order="relaxed"}
        T.atomic_add(A[bx * 32 : (bx + 1) * 32, :], f, memory_order="relaxed")
        # CHECK: %[[V14:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c32{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f32[32, 64]
        # CHECK: atomic %s, %[[V14]] {op="add", order="relaxed", use_tma=1}
        T.atomic_add(A[0, 0], s, use_tma=True)
        # CHECK: %[[V15:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c32{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f32[32, 64]
        # CHECK: atomic %f, %[[V15]] {op="max", order="relaxed"}
        T.atomic_max(A[0:32, :], f)
        # CHECK: %[[V16:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c32{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f32[32, 64]
        # CHECK: atomic_fill %{{[0-9]+}}, %[[V16]] {op="add", order="relaxed"}
        T.atomic_add(A[0:32, :], 1.0)
        # Vectors of two and four.
        # CHECK: %[[V17:[0-9]+]] = region %s, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c2{{[_0-9]*}} : tile f32[1, 2]
        # CHECK: %[[V18:[0-9]+]] = region %A, %n, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c2{{[_0-9]*}} : tile f32[1, 2]
        # CHECK: call %[[V17]], %[[V18]] {name="atomic_add_vector", lanes=2}
        T.atomic_addx2(A[n, 0], s[0, 0])
        # CHECK: %[[V19:[0-9]+]] = region %s, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c4{{[_0-9]*}} : tile f32[1, 4]
        # CHECK: %[[V20:[0-9]+]] = region %A, %n, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c4{{[_0-9]*}} : tile f32[1, 4]
        # CHECK: call %[[V19]], %[[V20]] {name="atomic_add_vector", lanes=4}
        T.atomic_addx4(A[n, 0:4], s[0, 0:4])
        # CHECK: %[[V21:[0-9]+]] = region %s, %c0{{[_0-9]*}}, %c2{{[_0-9]*}}, %c1{{[_0-9]*}}, %c2{{[_0-9]*}} : tile f32[1, 2]
        # CHECK: %[[V22:[0-9]+]] = region %A, %n, %c2{{[_0-9]*}}, %c1{{[_0-9]*}}, %c2{{[_0-9]*}} : tile f32[1, 2]
        # CHECK: %v = call %[[V21]], %[[V22]] {name="atomic_add_vector_old", lanes=2} : f32x2
        v = T.atomic_addx2(A[n, 2], s[0, 2], return_prev=True)
