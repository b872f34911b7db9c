# Promotion, snapshots of loads, variables, lazy choices.
# test: eval
# test: roundtrip
# CHECK-LABEL: func @scalars
# CHECK: %x = load %H, %bx : f16
# CHECK: %[[W:[0-9]+]] = cast %x : f32
# CHECK-NEXT: mul %[[W]], %{{[0-9]+}} : f32
# CHECK: %v = alloc {scope="local.var"} : local i32[1]
# CHECK-NEXT: %c7 = constant {value=7}
# CHECK: store %v, %c0, %c7
# CHECK: %old = load %v, %c0
# CHECK: store %v, %c0
# CHECK: %[[S:[0-9]+]] = select %{{[0-9]+}}, %{{[0-9a-z]+}}, %{{[0-9a-z]+}} : i32
# CHECK: store %I, %c1, %[[S]]
# CHECK: %choice = alloc : local i32[1]
# CHECK: if
# CHECK: load %I, %n
# CHECK: store %choice
# CHECK: } else {
# CHECK: store %choice
# CHECK: logical_and
# CHECK: load %I, %c3
# CHECK-NEXT: add
# CHECK-NEXT: store %I, %c3
# CHECK: %[[T:[0-9]+]] = cast %y : f16
# CHECK-NEXT: store %H, %c4, %[[T]]
# CHECK: max
# CHECK-NEXT: exp2
import tilelang.language as T


@T.prim_func
def scalars(H: T.Tensor((64,), T.float16), I: T.Tensor((64,), T.int32), n: T.int32):
    with T.Kernel(64) as bx:
        x = H[bx]
        y = x * 1.5
        v = T.alloc_var("int32", init=7)
        old = v
        v = v + 1
        I[0] = old
        I[1] = 3 if bx > n else n
        I[2] = T.if_then_else(n < 64, I[n], -1)
        if bx > 2 and n < 5:
            I[3] += 1
        H[4] = y
        H[5] = T.exp2(T.max(x, 0))
