# Extents of a copy's sides. A whole buffer has its shape, a slice its lengths (an index beside a slice counts 1), a
# subscript of indices alone has none: it is a corner, and takes the extents of the other side.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @copies
@T.prim_func
def copies(A: T.Tensor((1024, 1024), "float16"), D: T.Tensor((4, 64, 32), "float16"), V: T.Tensor((64,), "float32"), n: T.int32):
    with T.Kernel(16) as bx:
        s = T.alloc_shared((64, 32), "float16")
        t = T.alloc_shared((64, 32), "float32")
        ring = T.alloc_shared((3, 64, 32), "float16")
        row = T.alloc_shared((32,), "float16")
        f = T.alloc_fragment((64, 32), "float16")
        # 1. whole to whole: equal shapes; the element is converted.
        # CHECK: copy %s, %t
        T.copy(s, t)
        # 2. index to index: one element, stored with a cast; it stays a copy where an annotation is given.
        # CHECK: %[[V1:[0-9]+]] = load %A, %bx, %c3{{[_0-9]*}} : f16
        # CHECK: %[[V2:[0-9]+]] = cast %[[V1]] : f32
        # CHECK: store %V, %c5{{[_0-9]*}}, %[[V2]]
        T.copy(A[bx, 3], V[5])
        # CHECK: %[[V3:[0-9]+]] = region %A, %bx, %c3{{[_0-9]*}}, %c1{{[_0-9]*}}, %c1{{[_0-9]*}} : tile f16[1, 1]
        # CHECK: %[[V4:[0-9]+]] = region %V, %c5{{[_0-9]*}}, %c1{{[_0-9]*}} : tile f32[1]
        # CHECK: copy %[[V3]], %[[V4]] {tag=1}
        T.copy(A[bx, 3], V[5], annotations={"tag": 1})
        # 3. a corner takes the other side's extents, whole or sliced, source or destination.
        # CHECK: %[[V5:[0-9]+]] = mul %bx, %c64{{[_0-9]*}} : i32
        # CHECK: %[[V6:[0-9]+]] = region %A, %[[V5]], %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: copy %[[V6]], %s
        T.copy(A[bx * 64, 0], s)
        # CHECK: %[[V7:[0-9]+]] = mul %bx, %c64{{[_0-9]*}} : i32
        # CHECK: %[[V8:[0-9]+]] = region %A, %[[V7]], %n, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: copy %s, %[[V8]]
        T.copy(s, A[bx * 64, n])
        # CHECK: %[[V9:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c32{{[_0-9]*}}, %c8{{[_0-9]*}}, %c16{{[_0-9]*}} : tile f16[8, 16]
        # CHECK: %[[V10:[0-9]+]] = region %s, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c8{{[_0-9]*}}, %c16{{[_0-9]*}} : tile f16[8, 16]
        # CHECK: copy %[[V9]], %[[V10]]
        T.copy(A[0, 32], s[0:8, 0:16])
        # CHECK: %[[V11:[0-9]+]] = region %s, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c8{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[8, 32]
        # CHECK: %[[V12:[0-9]+]] = region %A, %c8{{[_0-9]*}}, %c0{{[_0-9]*}}, %c8{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[8, 32]
        # CHECK: copy %[[V11]], %[[V12]]
        T.copy(s[0:8, :], A[8, 0])
        # Equal numbers of extents other than 1 are left alone.
        # CHECK: %[[V13:[0-9]+]] = region %A, %c3{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[1, 32]
        # CHECK: copy %[[V13]], %row
        T.copy(A[3, 0:32], row)
        # CHECK: %[[V14:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c3{{[_0-9]*}}, %c32{{[_0-9]*}}, %c1{{[_0-9]*}} : tile f16[32, 1]
        # CHECK: copy %row, %[[V14]]
        T.copy(row, A[0:32, 3])
        # CHECK: %[[V15:[0-9]+]] = floormod %bx, %c3{{[_0-9]*}} : i32
        # CHECK: %[[V16:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: %[[V17:[0-9]+]] = region %ring, %[[V15]], %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[1, 64, 32]
        # CHECK: copy %[[V16]], %[[V17]]
        T.copy(A[0:64, 0:32], ring[bx % 3, :, :])
        # CHECK: %[[V18:[0-9]+]] = region %ring, %c1{{[_0-9]*}}, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[1, 64, 32]
        # CHECK: copy %[[V18]], %s
        T.copy(ring[1, :, :], s)
        # 4. an index with more dimensions than the other side has extents: ones in front.
        # CHECK: %[[V19:[0-9]+]] = region %D, %bx, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[1, 64, 32]
        # CHECK: copy %s, %[[V19]]
        T.copy(s, D[bx, 0, 0])
        # CHECK: %[[V20:[0-9]+]] = region %D, %n, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[1, 64, 32]
        # CHECK: copy %[[V20]], %s
        T.copy(D[n, 0, 0], s)
        # CHECK: %[[V21:[0-9]+]] = region %A, %bx, %c64{{[_0-9]*}}, %c1{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[1, 32]
        # CHECK: copy %[[V21]], %row
        T.copy(A[bx, 64], row)
        # CHECK: %[[V22:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: copy %[[V22]], %f
        T.copy(A[0:64, 0:32], f)
        # 5. where both state extents and they differ, the inner memory's count, else the source's.
        # CHECK: %[[V23:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: copy %[[V23]], %s
        T.copy(A[0:32, 0:32], s)
        # CHECK: %[[V24:[0-9]+]] = region %s, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: copy %f, %[[V24]]
        T.copy(f, s[0:32, :])
        # CHECK: %[[V25:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: %[[V26:[0-9]+]] = region %A, %c64{{[_0-9]*}}, %c0{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: copy %[[V25]], %[[V26]]
        T.copy(A[0:64, 0:32], A[64:96, 0:32])
        # Negative constant indices count from the end.
        # CHECK: %[[V27:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c992{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: copy %[[V27]], %s
        T.copy(A[0, -32], s)
        # A length known at run time only.
        # CHECK: %[[V28:[0-9]+]] = add %n, %n : i32
        # CHECK: %[[V29:[0-9]+]] = sub %[[V28]], %n : i32
        # CHECK: %[[V30:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %n, %c32{{[_0-9]*}} : tile f16[?, 32]
        # CHECK: %[[V31:[0-9]+]] = region %A, %n, %c32{{[_0-9]*}}, %[[V29]], %c32{{[_0-9]*}} : tile f16[?, 32]
        # CHECK: copy %[[V30]], %[[V31]]
        T.copy(A[0:n, 0:32], A[n : n + n, 32:64])


# CHECK-LABEL: func @views
@T.prim_func
def views(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64, 64), "float16")
        # An alias keeps its region.
        part = s[0:8, 8:24]
        # CHECK: %[[V32:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c8{{[_0-9]*}}, %c16{{[_0-9]*}} : tile f16[8, 16]
        # CHECK: %[[V33:[0-9]+]] = region %s, %c0{{[_0-9]*}}, %c8{{[_0-9]*}}, %c8{{[_0-9]*}}, %c16{{[_0-9]*}} : tile f16[8, 16]
        # CHECK: copy %[[V32]], %[[V33]]
        T.copy(A[0, 0], part)
        # CHECK: %v = view %s : shared f16[32, 128]
        v = T.view(s, (32, 128))
        # CHECK: %w = view %s : shared f16[4096]
        w = T.reshape(s, [4096])
        h = T.view(s, (64, 128), dtype="int8")
        # CHECK: %[[V34:[0-9]+]] = region %w, %c0{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[64]
        # CHECK: %[[V35:[0-9]+]] = region %A, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[1, 64]
        # CHECK: copy %[[V34]], %[[V35]]
        T.copy(w[0:64], A[0, 0:64])
        # CHECK: transpose %s, %s
        T.transpose(s, s)
        # CHECK: %[[V36:[0-9]+]] = load %w, %c1{{[_0-9]*}} : f16
        # CHECK: %[[V37:[0-9]+]] = add %[[V36]], %{{[0-9]+}} : f16
        # CHECK: store %v, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %[[V37]]
        v[0, 0] = w[1] + 0
