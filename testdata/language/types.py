# One matrix product in every element type, with tiles that stick out of the matrices.
import tilelang.language as T


def product(M, N, K, dtype, sums, tile=32, depth=32):
    @T.prim_func
    def typed(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), sums)):
        with T.Kernel(T.ceildiv(N, tile), T.ceildiv(M, tile), threads=128) as (bx, by):
            a = T.alloc_shared((tile, depth), dtype)
            b = T.alloc_shared((tile, depth), dtype)
            c = T.alloc_fragment((tile, tile), sums)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, depth), num_stages=3):
                T.copy(A[by * tile, k * depth], a)
                T.copy(B[bx * tile, k * depth], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * tile, bx * tile])

    return typed


half = product(45, 70, 50, "float16", "float16")
wide_half = product(45, 70, 50, "float16", "float32")
brain = product(45, 70, 50, "bfloat16", "float32")
single = product(45, 70, 50, "float32", "float32")
double = product(45, 70, 50, "float64", "float64")
narrow = product(45, 70, 50, "float8_e4m3fn", "float32")
wide_narrow = product(45, 70, 50, "float8_e5m2", "float32")
octets = product(45, 70, 50, "int8", "int32")
