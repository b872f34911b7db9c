# test: eval
# test: roundtrip
# CHECK-LABEL: func @persistent
# CHECK: launch %c5{{[_0-9]*}} {threads=32}{{.*}} |%bx: i32
# CHECK: for %c0{{[_0-9]*}}, %{{[0-9]+}} {kind="serial"}{{.*}} |%wave: i32
# CHECK: if %{{[0-9]+}}
# CHECK: break
# CHECK: %m = floormod %{{[0-9]+}}, %c8{{[_0-9]*}} : i32
# CHECK: %k = add %{{[0-9]+}}, %{{[0-9]+}} : i32
# CHECK: if %{{[0-9]+}}
# CHECK: store %A, %m, %k, %c1{{[_0-9]*}}
# CHECK-LABEL: func @scheduler
# CHECK: launch %c5{{[_0-9]*}} {threads=32}{{.*}} |%bx: i32
# CHECK: %tiles_m_idx = alloc {scope="local.var"} : local i32[1]
# CHECK: %tiles_n_idx = alloc {scope="local.var"} : local i32[1]
# CHECK: %tiles_linear_idx = alloc {scope="local.var"} : local i32[1]
# CHECK: %tiles_current_iter = alloc {scope="local.var"} : local i32[1]
# CHECK: store %tiles_current_iter, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}
# CHECK: store %tiles_linear_idx, %c0{{[_0-9]*}}, %bx
# CHECK: store %tiles_m_idx, %c0{{[_0-9]*}}, %{{[a-z_0-9]+}}
# CHECK: store %tiles_n_idx, %c0{{[_0-9]*}}, %{{[a-z_0-9]+}}
# CHECK: while
# CHECK: condition %{{[0-9]+}}
# CHECK: store %A, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}
# CHECK: if %{{[0-9]+}}
# CHECK: break
# CHECK: store %tiles_current_iter, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: store %tiles_linear_idx, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: store %tiles_m_idx, %c0{{[_0-9]*}}, %{{[a-z_0-9]+}}
# CHECK: store %tiles_n_idx, %c0{{[_0-9]*}}, %{{[a-z_0-9]+}}
# The tiles of a persistent CTA: T.Persistent decodes tile w * wave + index by digits (groups of the last dimension
# first and last); a tile scheduler keeps the same in variables.
import tilelang.language as T


@T.prim_func
def persistent(A: T.Tensor((8, 12), "int32")):
    with T.Kernel(5, threads=32) as bx:
        for m, k in T.Persistent([8, 12], 5, bx, group_size=4):
            A[m, k] = 1


@T.prim_func
def scheduler(A: T.Tensor((8, 12), "int32"), n: T.int32):
    with T.Kernel(5, threads=32) as bx:
        tiles = T.PersistentTileScheduler(8, 12, num_workers=5, swizzle_size=4, name="tiles")
        tiles.init(bx)
        while tiles.valid():
            A[tiles.m_idx, tiles.n_idx] = tiles.current_iter
            if n > 3:
                break
            tiles.next_tile()
