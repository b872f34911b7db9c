# Atomics that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def atomics(A: T.Tensor((64, 64), "float32"), c: T.Tensor((8,), "int32")):
    with T.Kernel(2, threads=64) as bx:
        f = T.alloc_fragment((32, 64), "float32")
        T.atomic_add(c[0], 1, memory_order="strong")  # error: no memory_order
        T.atomic_add(A[0, 0], f, return_prev=True)  # error: return_prev
        T.atomic_max(c[0], 1, use_tma=True)  # error: no parameter 'use_tma'
        T.atomic_add(A[0, 0], f, use_tma=True)  # error: shared
        T.atomic_add(1, c[0])  # error: buffer
        T.atomic_or(A[0, 0], 1)  # error: integer
