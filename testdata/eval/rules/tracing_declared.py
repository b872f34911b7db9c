# A prim_func may declare its parameters in its body and return tensors of T.empty, like an eager kernel.
# test: eval
# test: roundtrip
import tilelang
import tilelang.language as T


# Of a factory, whose names are known inside.
@tilelang.jit
def factory(M):
    M = M * 2

    @T.prim_func
    def main(A):
        A: T.Tensor((M,), "int32")
        with T.Kernel(1, threads=64) as bx:
            A[bx] = M

    return main


# CHECK-LABEL: func @factory (%A: global i32[16:"M*2"])
factory(8)


# The launch may stand in a macro.
@T.macro
def launch(A, B):
    m, n = A.shape
    p, q = B.shape
    assert m == p and n == q
    with T.Kernel(m, threads=32) as bx:
        B[bx, 0] = A[bx, 0]


@tilelang.jit
def eager(A, B):
    m = T.dynamic("m")
    N = T.const("N")
    A: T.Tensor((m, N), "float16")
    B: T.Tensor((m, N), "float16")
    launch(A, B)


# CHECK-LABEL: func @eager (%A: global f16[?:"$m", 32:"N"], %B: global f16[?:"$m", 32:"N"])
# CHECK: launch %m {threads=32}
eager.get_tir(T.Tensor((16, 32), "float16"), T.Tensor((16, 32), "float16"))


# CHECK-LABEL: func @declared (%A: global f32[64, 64], %n: i32, %B: global f32[64, 64])
@T.prim_func
def declared(A, n):
    A: T.Tensor[[64, 64], T.float32]
    n: T.int32
    # CHECK: %[[V1:[0-9]+]] = floormod %n, %c4{{[_0-9]*}} : i32
    # CHECK: %[[V2:[0-9]+]] = eq %[[V1]], %c0{{[_0-9]*}} : b1
    # CHECK: assume %[[V2]]
    T.assume(n % 4 == 0)
    B = T.empty([64, 64], T.float32)
    with T.Kernel(1, threads=64) as bx:
        # CHECK: %[[V3:[0-9]+]] = load %A, %n, %c0{{[_0-9]*}} : f32
        # CHECK: store %B, %c0{{[_0-9]*}}, %n, %[[V3]]
        B[0, n] = A[n, 0]
    return B


# Memory at an address, of a size that is known at run time; a place from a row-major number.
# CHECK-LABEL: func @at_address
@T.prim_func
def at_address(p: T.ptr, n: T.int32, m: T.int32):
    # CHECK: %view = pointer_view %p : global f32[?:"$length.0", ?:"$length.1"]
    view = T.make_tensor(p, (n, m), "float32")
    with T.Kernel(1, threads=64) as bx, T.ws(0):
        # CHECK: ws {lo=0, hi=64}
        i, j, k = T.index_to_coordinates(n, (2, 3, m))
        # CHECK: %[[V4:[0-9]+]] = cast %k : f32
        # CHECK: store %view, %i, %j, %[[V4]]
        view[i, j] = k
