# A side without extents takes the other's; slices have constant lengths whatever their offsets are.
# test: eval
# CHECK-LABEL: func @copies
# CHECK: region %A, %[[R:[0-9]+]], %c0, %c64, %c32 : tile f16[64, 32]
# CHECK: copy %{{[0-9]+}}, %s
# CHECK: region %A, %{{[0-9]+}}, %{{[0-9]+}}, %c64, %c32
# CHECK-NEXT: copy %s, %{{[0-9]+}}
# CHECK: region %ring, %{{[0-9]+}}, %c0, %c0, %c1, %c64, %c32 : tile f16[1, 64, 32]
# CHECK: copy %{{[0-9]+}}, %{{[0-9]+}}
# CHECK: region %D, %bx, %c0, %c0, %c1, %c64, %c32 : tile f16[1, 64, 32]
# CHECK: %[[X:[0-9]+]] = load %A, %bx, %c3
# CHECK-NEXT: %[[Y:[0-9]+]] = cast %[[X]] : f32
# CHECK-NEXT: store %F, %c5, %[[Y]]
# CHECK: region %A, %c0, %c1000
import tilelang.language as T


@T.prim_func
def copies(A: T.Tensor((1024, 1024), "float16"), D: T.Tensor((4, 64, 32), "float16"), F: T.Tensor((8,), "float32")):
    with T.Kernel(16) as bx:
        s = T.alloc_shared((64, 32), "float16")
        ring = T.alloc_shared((3, 64, 32), "float16")
        T.copy(A[bx * 64, 0], s)
        T.copy(s, A[(bx // 4) * 64 : (bx // 4 + 1) * 64, bx % 4 * 32 : (bx % 4 + 1) * 32])
        T.copy(A[bx * 64 : (bx + 1) * 64, 0:32], ring[bx % 3, :, :])
        T.copy(s, D[bx, 0, 0])
        T.copy(A[bx, 3], F[5])
        T.copy(A[0, -24], s)
