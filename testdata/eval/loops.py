# test: eval
# test: roundtrip
# CHECK-LABEL: func @loops
# CHECK: for %c0, %c4 {kind="pipelined", num_stages=3} {{.*}}|%k: i32|
# CHECK: for %c2, %c4{{.*}} {kind="serial"}
# CHECK: for %c0, %{{.*}} {kind="serial"} {{.*}}|%i
# CHECK: %[[V:[0-9]+]] = mul %i, %c3
# CHECK-NEXT: add %[[V]], %c1
# CHECK: for %c0, %c4{{.*}} {kind="unroll"}
# CHECK: for %c0, %c8 {kind="vectorized"}
# CHECK: parallel %c64, %c32 {{.*}}|%i{{.*}}: i32, %j: i32|
# CHECK: for %c0, %n {kind="serial"}
# CHECK: if
# CHECK: break
import tilelang.language as T


@T.prim_func
def loops(A: T.Tensor((64, 32), "float32"), n: T.int32):
    with T.Kernel(1) as bx:
        f = T.alloc_fragment((64, 32), "float32")
        for k in T.Pipelined(4, num_stages=3):
            T.copy(A, f)
        for k in T.Pipelined(2, 4):
            T.copy(A, f)
        for i in range(1, 8, 3):
            A[i, 0] = 1.0
        for i in T.unroll(4):
            A[i, 1] = 1.0
        for i in T.vectorized(8):
            A[i, 2] = 1.0
        for i, j in T.Parallel(64, 32):
            f[i, j] = A[i, j] * 2
        for i in T.serial(n):
            if A[i, 0] > 3.0:
                break
