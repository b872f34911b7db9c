# test: eval
# test: roundtrip
# CHECK-LABEL: func @vectors
# CHECK: launch %c1{{[_0-9]*}} {threads=32}{{.*}} |%bx: i32
# CHECK: %v = alloc : local f32x2[4]
# CHECK: call %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} {name="fma2"} : f32x2
# CHECK: store %v, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: call %{{[0-9]+}} {name="broadcast"} : f32x2
# CHECK: call %{{[0-9]+}}, %{{[0-9]+}} {name="max2"} : f32x2
# CHECK: call %{{[0-9]+}}, %{{[0-9]+}} {name="add2"} : f32x2
# CHECK: store %v, %c1{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: store %B, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: %lane = call %{{[0-9]+}}, %c1{{[_0-9]*}} {name="lane_of"} : f32
# CHECK: call %lane {name="broadcast"} : f32x2
# CHECK: store %v, %c2{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: %both = call %{{[0-9]+}}, %{{[0-9]+}} {name="vector_combine"} : f32x4
# CHECK: call %both {name="vector_low"} : f32x2
# CHECK: store %v, %c3{{[_0-9]*}}, %{{[0-9]+}}
# Elements may be vectors: f16x4. Packed arithmetic works on pairs.
import tilelang.language as T


@T.prim_func
def vectors(A: T.Tensor((16,), "float32x2"), B: T.Tensor((8,), T.float16x4)):
    with T.Kernel(1, threads=32) as bx:
        v = T.alloc_local((4,), "float32x2")
        v[0] = T.fma2(A[0], A[1], A[2])
        v[1] = T.add2(T.broadcast(1.0, 2), T.max2(v[0], A[3]))
        B[0] = B[1]
        lane = T.extract_lane(A[0], 1)
        v[2] = T.broadcast(lane, 2)
        both = T.vectorcombine("float32x4", A[0], A[1])
        v[3] = T.vectorlow("float32x2", both)
