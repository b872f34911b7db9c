# Gemms that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def gemms(A: T.Tensor((256, 256), "float16")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((64, 32), "float16")
        b = T.alloc_shared((32, 128), "float16")
        x = T.alloc_shared((16, 128), "float16")
        i = T.alloc_shared((32, 128), "int8")
        v = T.alloc_shared((32,), "float16")
        c = T.alloc_fragment((64, 128), "float32")
        d = T.alloc_fragment((64, 64), "float32")
        T.gemm(a, x, c)  # error: K of T.gemm differs: 32 and 16
        T.gemm(a, b, d)  # error: N of T.gemm differs: 128 and 64
        T.gemm(a, b, c, transpose_A=True)  # error: differs
        T.gemm(a, v, c)  # error: has to be a matrix
        T.gemm(a, i, c)  # error: elements of float16, B of int8
        T.gemm(a, b, c, policy="FullRow")  # error: policy
        T.gemm(a, b)  # error: needs 'C'
        T.gemm(a, b, c, wg_count=2)  # error: has no parameter 'wg_count'
        T.tcgen05_gemm(a, b, c)  # error: needs 'mbar'
        T.gemm(a, b, c, mbar=a)  # error: barrier
