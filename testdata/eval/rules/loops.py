# Loops and what they may be told.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @loops
@T.prim_func
def loops(A: T.Tensor((64, 64), "float16"), n: T.int32):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        f = T.alloc_fragment((64, 64), "float16")
        # CHECK: parallel %c64{{[_0-9]*}}, %c64{{[_0-9]*}} {coalesced_width=4, prefer_async=1, tag=1}{{.*}}|%i: i32, %j: i32|
        for i, j in T.Parallel(64, 64, coalesced_width=4, prefer_async=True, annotations={"tag": 1}):
            s[i, j] = A[i, j]
        # CHECK: parallel %c64{{[_0-9]*}}{{.*}}|%i_1: i32|
        for i in T.Parallel(64):
            # CHECK: parallel %n{{.*}}|%j_1: i32|
            for j in T.Parallel(n):
                s[i, j] = A[i, j]
        # One extent starts at 0; without stages it is a serial loop.
        # CHECK: for %c0{{[_0-9]*}}, %c4{{[_0-9]*}} {kind="serial"}{{.*}}|%k: i32|
        for k in T.Pipelined(4):
            T.copy(A, s)
        # CHECK: for %c2{{[_0-9]*}}, %n {kind="pipelined", num_stages=3}{{.*}}|%k_1: i32|
        for k in T.Pipelined(2, n, num_stages=3):
            T.copy(A, s)
        # Only statements that do something count for order and stage: the number bound to `at` does not.
        # CHECK: for %c0{{[_0-9]*}}, %c4{{[_0-9]*}} {kind="pipelined", num_stages=2, order=[0, 1], stage=[0, 1]}{{.*}}|%k_2: i32|
        for k in T.Pipelined(4, num_stages=2, order=[0, 1], stage=[0, 1]):
            at = k * 16
            T.copy(A[at, 0], s[0:16, :])
            T.copy(s, f)
        # Of other versions: sync means nothing, groups are kept.
        # CHECK: for %c0{{[_0-9]*}}, %c4{{[_0-9]*}} {kind="pipelined", num_stages=2, tag=2, group=[0, 0]}{{.*}}|%k_3: i32|
        for k in T.Pipelined(4, num_stages=2, sync=[[0, 1]], group=[0, 0], annotations={"tag": 2}):
            T.copy(A, s)
            T.copy(s, f)
        # CHECK: for %c0{{[_0-9]*}}, %c4{{[_0-9]*}} {kind="unroll"}{{.*}}|%k_4: i32|
        for k in T.unroll(4):
            A[k, 0] = 0
        # CHECK: for %c0{{[_0-9]*}}, %c8{{[_0-9]*}} {kind="unroll", explicit=1}{{.*}}|%k_5: i32|
        for k in T.unroll(0, 8, explicit=True):
            A[k, 0] = 0
        # CHECK: for %c0{{[_0-9]*}}, %{{[0-9]+}} {kind="unroll", unroll_factor=2}{{.*}}|%k_6: i32|
        # CHECK: %{{[0-9]+}} = mul %k_6, %c2{{[_0-9]*}} : i32
        for k in T.unroll(0, 8, 2, unroll_factor=2):
            A[k, 0] = 0
        # CHECK: for %c0{{[_0-9]*}}, %c8{{[_0-9]*}} {kind="vectorized"}{{.*}}|%k_7: i32|
        for k in T.vectorized(0, 8):
            A[0, k] = 0
        # CHECK: for %c0{{[_0-9]*}}, %c2{{[_0-9]*}} {kind="serial"}{{.*}}|%a: i32|
        # CHECK: for %c0{{[_0-9]*}}, %n {kind="serial"}{{.*}}|%b: i32|
        for a, b in T.grid(2, n):
            A[a, b] = 0
        # CHECK: for %c0{{[_0-9]*}}, %n {kind="serial", tag=3}{{.*}}|%k_8: i32|
        for k in T.serial(n, annotations={"tag": 3}):
            A[k, 0] = 0
