# Allocations that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def allocations(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((n,), "float16")  # error: is known at run time only
        b = T.alloc_shared((0,), "float16")  # error: an extent of the shape is 0
        c = T.alloc_shared((4,), "float17")  # error: float17
        d = T.alloc_tmem((64,), "float32")  # error: dimensions
        e = T.alloc_barrier(0)  # error: an arrive count of 0
        f = T.alloc_descriptor("mma")  # error: mma
        g = T.alloc_reducer((4,), "float32", op="mean")  # error: mean
        h = T.alloc_var("int32", 1, "local.var", init=2)  # error: two initial values
        k = T.alloc_fragment((4,))  # error: needs 'dtype'
        s = T.alloc_shared((4, 8), "float16", scoped="shared")  # error: scoped
