# Element types that are none, or not there.
# test: eval
import tilelang.language as T


@T.prim_func
def numbers(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        a = T.alloc_local((1,), "flaot16")  # error: did you mean 'float16'
        b = T.alloc_local((1,), T.floot16)  # error: did you mean 'float16'
        c = T.alloc_local((1,), 16)  # error: element type
        d = T.alloc_local((1,), "float16x3x")  # error: element type
        e = T.alloc_local((1,), "float4_e2m1_unpacked")  # error: shared
