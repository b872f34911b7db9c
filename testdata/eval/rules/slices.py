# Slices as values and as targets: the elements, lowest first, all read before the first store.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @slices
@T.prim_func
def slices(F: T.Tensor((64,), "float32"), H: T.Tensor((8, 8), "float16"), V: T.Tensor((16,), "float32x2")):
    with T.Kernel(1, threads=32) as bx:
        # CHECK: store %F, %c0{{[_0-9]*}}, %{{[0-9]+}}
        # CHECK: store %F, %c1{{[_0-9]*}}, %{{[0-9]+}}
        F[0:2] = 1.0
        # CHECK: %[[V1:[0-9]+]] = load %F, %c8{{[_0-9]*}} : f32
        # CHECK: %[[V2:[0-9]+]] = load %F, %{{[0-9]+}} : f32
        # CHECK: store %F, %c0{{[_0-9]*}}, %[[V1]]
        # CHECK: store %F, %c1{{[_0-9]*}}, %[[V2]]
        F[0:2] = F[8:10]
        # CHECK: %[[V3:[0-9]+]] = load %F, %c1{{[_0-9]*}} : f32
        # CHECK: %[[V4:[0-9]+]] = load %F, %{{[0-9]+}} : f32
        # CHECK: %[[V5:[0-9]+]] = load %F, %{{[0-9]+}} : f32
        # CHECK: store %F, %c0{{[_0-9]*}}, %[[V3]]
        # CHECK: store %F, %c2{{[_0-9]*}}, %[[V4]]
        # CHECK: store %F, %c4{{[_0-9]*}}, %[[V5]]
        F[0:5:2] = F[1:4]
        # CHECK: %[[V6:[0-9]+]] = load %F, %bx : f32
        # CHECK: %[[V7:[0-9]+]] = add %bx, %c1{{[_0-9]*}} : i32
        # CHECK: %[[V8:[0-9]+]] = load %F, %[[V7]] : f32
        # CHECK: %[[V9:[0-9]+]] = cast %[[V6]] : f16
        # CHECK: store %H, %bx, %c0{{[_0-9]*}}, %[[V9]]
        # CHECK: %[[V10:[0-9]+]] = cast %[[V8]] : f16
        # CHECK: store %H, %bx, %c1{{[_0-9]*}}, %[[V10]]
        H[bx, 0:2] = F[bx : bx + 2]
        # T.Ramp(base, stride, lanes) as a subscript is a slice.
        # CHECK: %[[V11:[0-9]+]] = load %F, %c6{{[_0-9]*}} : f32
        # CHECK: %[[V12:[0-9]+]] = load %F, %{{[0-9]+}} : f32
        # CHECK: %[[V13:[0-9]+]] = call %[[V11]], %[[V12]] {name="vector_combine"} : f32x2
        # CHECK: %[[V14:[0-9]+]] = load %V, %c0{{[_0-9]*}} : f32x2
        # CHECK: %[[V15:[0-9]+]] = call %[[V13]], %[[V14]] {name="add2"} : f32x2
        # CHECK: %[[V16:[0-9]+]] = call %[[V15]], %c0{{[_0-9]*}} {name="lane_of"} : f32
        # CHECK: %[[V17:[0-9]+]] = call %[[V15]], %c1{{[_0-9]*}} {name="lane_of"} : f32
        # CHECK: store %F, %c4{{[_0-9]*}}, %[[V16]]
        # CHECK: store %F, %{{[0-9]+}}, %[[V17]]
        F[T.Ramp(4, 1, 2)] = T.add2(F[T.Ramp(6, 1, 2)], V[0])
        # So is slice(…), and a tuple of subscripts may be made first.
        at = (bx, slice(2, 4))
        # CHECK: %[[V18:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V19:[0-9]+]] = cast %[[V18]] : f16
        # CHECK: %[[V20:[0-9]+]] = call %{{[0-9]+}}, %[[V19]] {name="vector_combine"} : f16x2
        # CHECK: %[[V21:[0-9]+]] = call %[[V20]], %c0{{[_0-9]*}} {name="lane_of"} : f16
        # CHECK: %[[V22:[0-9]+]] = call %[[V20]], %c1{{[_0-9]*}} {name="lane_of"} : f16
        # CHECK: store %H, %bx, %c2{{[_0-9]*}}, %[[V21]]
        # CHECK: store %H, %bx, %{{[0-9]+}}, %[[V22]]
        H[at] = T.float16x2(1.0, F[0])
        # CHECK: %[[V23:[0-9]+]] = load %V, %c1{{[_0-9]*}} : f32x2
        # CHECK: %[[V24:[0-9]+]] = call %{{[0-9]+}} {name="broadcast"} : f32x2
        # CHECK: %x = mul %[[V23]], %[[V24]] : f32x2
        x = V[1] * 2.0
        # CHECK: %[[V25:[0-9]+]] = gt %bx, %c0{{[_0-9]*}} : b1
        # CHECK: %choice = alloc : local f32x2[1]
        # CHECK: if %[[V25]]
        # CHECK: %[[V26:[0-9]+]] = load %V, %c3{{[_0-9]*}} : f32x2
        # CHECK: store %choice, %c0{{[_0-9]*}}, %[[V26]]
        # CHECK: store %choice, %c0{{[_0-9]*}}, %x
        # CHECK: %[[V27:[0-9]+]] = load %choice, %c0{{[_0-9]*}} : f32x2
        # CHECK: store %V, %c2{{[_0-9]*}}, %[[V27]]
        V[2] = T.if_then_else(bx > 0, V[3], x)
        # CHECK: %[[V28:[0-9]+]] = call %{{[0-9]+}} {name="broadcast"} : f32x2
        # CHECK: store %V, %c4{{[_0-9]*}}, %[[V28]]
        V[4] = 0
        # CHECK: %[[V29:[0-9]+]] = load %F, %c62{{[_0-9]*}} : f32
        # CHECK: %[[V30:[0-9]+]] = load %F, %{{[0-9]+}} : f32
        # CHECK: %[[V31:[0-9]+]] = call %[[V29]], %[[V30]] {name="vector_combine"} : f32x2
        # CHECK: %[[V32:[0-9]+]] = cast %[[V31]] : f16x2
        # CHECK: %[[V33:[0-9]+]] = cast %[[V32]] : f32x2
        # CHECK: store %V, %c5{{[_0-9]*}}, %[[V33]]
        V[5] = T.Cast("float32x2", T.Cast("float16x2", F[-2:]))
