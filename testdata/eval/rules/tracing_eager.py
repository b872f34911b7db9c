# An eager kernel is traced in two phases: names of T.const first stand for themselves, until the launch, to find which
# parameter's extent each of them is; then for their numbers, and everything computed from them is a number.
# Parameters of the kernel: the declared ones, then the tensors of T.empty as they were made; outputs in the order of
# the return.
# test: eval
# test: roundtrip
import tilelang
import tilelang.language as T
import torch


# CHECK-LABEL: func @two_phases (%A: global f16[256:"M", 32:"K"], %B: global f16[32:"K", 128:"N"] strides [128:"N", 1], %S: global i32[?:"$n"], %C: global f16[256:"M", 128:"N"], %D: global i32[256:"M", 128:"N"], %E: global f32[128:"N"]) symbols (%n: i32)
@tilelang.jit
def two_phases(A, B, S, factor, widths):
    M, N, K = T.const("M, N K")
    A: T.Tensor((M, K), "float16")
    B: T.StridedTensor((K, N), (N, 1), "float16")
    n = T.dynamic("n")
    S: T.Tensor((n,), "int32")
    tiles = T.ceildiv(M, 64) * len(widths) + sum(widths)
    C = T.empty((M, N), "float16")
    D = T.empty(M, N, dtype="int32")
    E = T.empty((N,))
    # 4 * 3 + 6 = 18, with where it comes from.
    # CHECK: %c4{{[_0-9]*}} = constant {value=4} : i32
    # CHECK: %c1{{[_0-9]*}} = constant {value=1} : i32
    # CHECK: %[[V1:[0-9]+]] = add %n, %c4{{[_0-9]*}} : i32
    # CHECK: %[[V2:[0-9]+]] = sub %[[V1]], %c1{{[_0-9]*}} : i32
    # CHECK: %[[V3:[0-9]+]] = floordiv %[[V2]], %c4{{[_0-9]*}} : i32
    # CHECK: %c18{{[_0-9]*}} = constant {value=18:"(ceildiv(M, 64)*3) + 6"} : i32
    # CHECK: launch %c18{{[_0-9]*}}, %[[V3]] {threads=64}{{.*}}|%bx: i32, %by: i32|
    with T.Kernel(tiles, T.ceildiv(n, 4), threads=64) as (bx, by):
        # CHECK: %s = alloc : shared f16[64, 32:"factor"]
        s = T.alloc_shared((64, factor), "float16")
        T.copy(A[bx * 64, 0], s)
        T.fill(E, factor)
        C[0, 0] = N - 1
        # CHECK: store %D, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %n
        D[0, 0] = n
    return E, C, D


a = torch.empty(256, 32, dtype=torch.float16)
b = torch.empty(32, 128, dtype=torch.float16)
s = torch.empty(100, dtype=torch.int32)
two_phases(a, b, s, 32, [1, 2, 3])


# CHECK-LABEL: func @by_name (%A: global f32[64:"K"], %n: i32, %x: f32)
@tilelang.jit
def by_name(A, n: T.int32, x: T.float32):
    K = T.const("K", dtype="int32")
    A: T.Tensor[[K], T.float32]
    with T.Kernel(1, threads=32) as bx:
        # CHECK: store %A, %n, %x
        A[n] = x
        # CHECK: constant {value=64.0} : f32
        A[0] = K


by_name.compile(K=64)


# CHECK-LABEL: func @symbols (%A: global f32[?:"$m", ?:"$n"], %B: global f32[?:"$n", ?:"$k"] strides [?:"$stride", 1]) symbols (%m: i32, %n: i32, %k: i32, %stride: i32)
@tilelang.jit
def symbols(A, B):
    m = T.dynamic("m")
    n, k = T.symbolic("n, k")
    A: T.Tensor((m, n), "float32")
    B: T.StridedTensor((n, k), (T.dynamic("stride"), 1), "float32")
    # CHECK: launch %m {threads=32}{{.*}}|%bx: i32|
    with T.Kernel(m, threads=32) as bx:
        # CHECK: %[[V4:[0-9]+]] = sub %k, %c1{{[_0-9]*}} : i32
        # CHECK: %[[V5:[0-9]+]] = sub %n, %c1{{[_0-9]*}} : i32
        # CHECK: %[[V6:[0-9]+]] = load %B, %c0{{[_0-9]*}}, %[[V4]] : f32
        # CHECK: store %A, %bx, %[[V5]], %[[V6]]
        A[bx, n - 1] = B[0, k - 1]


symbols.compile()
