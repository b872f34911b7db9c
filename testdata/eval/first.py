# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @copy_tile (%A: global f16[64, 64], %B: global f16[64, 64])
# CHECK: launch %c1 {threads=128}
# CHECK: %s = alloc : shared f16[64, 64]
# CHECK-NEXT: copy %A, %s
# CHECK-NEXT: copy %s, %B
@T.prim_func
def copy_tile(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64, 64), "float16")
        T.copy(A, s)
        T.copy(s, B)
