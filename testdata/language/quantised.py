# Scaled 8-bit floats per group, and products whose second matrix is stored in 4 bits: integers and floats.
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1, 2])
def quantise(M, N, group=32, rows=4):
    top = 448.0

    @T.prim_func
    def main(
        X: T.Tensor((M, N), T.bfloat16),
        Y: T.Tensor((M, N), T.float8_e4m3fn),
        scales: T.Tensor((M, N // group), T.float32),
    ):
        with T.Kernel(T.ceildiv(M, rows), N // group, threads=128) as (bx, by):
            x = T.alloc_fragment((rows, group), T.bfloat16)
            y = T.alloc_fragment((rows, group), T.float8_e4m3fn)
            largest = T.alloc_fragment((rows,), T.bfloat16)
            scale = T.alloc_fragment((rows,), T.float32)
            T.copy(X[bx * rows, by * group], x)
            T.reduce_absmax(x, largest, dim=1)
            for i in T.Parallel(rows):
                scale[i] = T.max(T.cast(largest[i], T.float32), 1e-4) / top
                scales[bx * rows + i, by] = scale[i]
            for i, j in T.Parallel(rows, group):
                y[i, j] = T.clamp(x[i, j] / scale[i], -top, top)
            T.copy(y, Y[bx * rows, by * group])

    return main


def widen_int4(byte, place):
    half = (byte >> T.cast(place * 4, "uint8")) & T.uint8(15)
    return T.cast(half, "float16") - T.float16(8)


def widen_fp4(byte, place):
    bits = T.cast((byte >> T.cast(place * 4, "uint8")) & T.uint8(15), "int32")
    exponent = (bits >> 1) & 3
    mantissa = bits & 1
    size = T.if_then_else(
        exponent == 0,
        T.cast(mantissa, "float32") * 0.5,
        T.exp2(T.cast(exponent - 1, "float32")) * (1.0 + 0.5 * T.cast(mantissa, "float32")),
    )
    return T.cast(T.if_then_else(bits >= 8, -size, size), "float16")


@tilelang.jit(out_idx=[2])
def dequantised(M, N, K, kind, tile=32, depth=32):
    widen = widen_int4 if kind == "int4" else widen_fp4

    @T.prim_func
    def main(
        A: T.Tensor((M, K), T.float16),
        B: T.Tensor((N, K // 2), T.uint8),
        C: T.Tensor((M, N), T.float32),
    ):
        with T.Kernel(T.ceildiv(N, tile), T.ceildiv(M, tile), threads=128) as (bx, by):
            a = T.alloc_shared((tile, depth), T.float16)
            packed = T.alloc_shared((tile, depth // 2), T.uint8)
            b = T.alloc_fragment((tile, depth), T.float16)
            b_shared = T.alloc_shared((tile, depth), T.float16)
            c = T.alloc_fragment((tile, tile), T.float32)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, depth), num_stages=2):
                T.copy(A[by * tile, k * depth], a)
                T.copy(B[bx * tile, k * depth // 2], packed)
                for i, j in T.Parallel(tile, depth):
                    b[i, j] = widen(packed[i, j // 2], j % 2)
                T.copy(b, b_shared)
                T.gemm(a, b_shared, c, transpose_B=True)
            T.copy(c, C[by * tile, bx * tile])

    return main


quantise(12, 128)
dequantised(48, 64, 64, "int4")
dequantised(32, 48, 96, "fp4")
