# The gemm family: operands, attributes, what is waited for.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @gemms
@T.prim_func
def gemms(A: T.Tensor((256, 256), "float16"), n: T.int32):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((64, 32), "float16")
        at = T.alloc_shared((32, 64), "float16")
        b = T.alloc_shared((32, 128), "float16")
        bt = T.alloc_shared((128, 32), "float16")
        ring = T.alloc_shared((3, 64, 32), "float16")
        wide = T.alloc_shared((64, 256), "float16")
        c = T.alloc_fragment((64, 128), "float32")
        f = T.alloc_fragment((64, 32), "float16")
        # C += A B; by default the policy is Square.
        # CHECK: gemm %a, %b, %c {transpose_a=0, transpose_b=0, clear_accum=0, policy="square"}
        T.gemm(a, b, c)
        # CHECK: gemm %at, %b, %c {transpose_a=1, transpose_b=0, clear_accum=0, policy="square"}
        T.gemm(at, b, c, transpose_A=True)
        # CHECK: gemm %a, %bt, %c {transpose_a=0, transpose_b=1, clear_accum=0, policy="full_row"}
        T.gemm(a, bt, c, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
        # CHECK: gemm %at, %bt, %c {transpose_a=1, transpose_b=1, clear_accum=1, policy="full_col"}
        T.gemm(at, bt, c, True, True, T.GemmWarpPolicy.FullCol, True)
        # A run-time clear_accum.
        # CHECK: %[[V1:[0-9]+]] = eq %n, %c0{{[_0-9]*}} : b1
        # CHECK: gemm_conditional %a, %b, %c, %[[V1]] {transpose_a=0, transpose_b=0, policy="square"}
        T.gemm(a, b, c, clear_accum=n == 0)
        # A in a fragment; the last two dimensions of a region are the matrix.
        # CHECK: gemm %f, %b, %c {transpose_a=0, transpose_b=0, clear_accum=0, policy="square", tag=1}
        T.gemm(f, b, c, annotations={"tag": 1})
        # CHECK: %[[V2:[0-9]+]] = floormod %n, %c3{{[_0-9]*}} : i32
        # CHECK: %[[V3:[0-9]+]] = region %ring, %[[V2]], %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[1, 64, 32]
        # CHECK: gemm %[[V3]], %b, %c {transpose_a=0, transpose_b=0, clear_accum=0, policy="square"}
        T.gemm(ring[n % 3, :, :], b, c)
        # CHECK: %[[V4:[0-9]+]] = region %wide, %c0{{[_0-9]*}}, %c32{{[_0-9]*}}, %c64{{[_0-9]*}}, %c32{{[_0-9]*}} : tile f16[64, 32]
        # CHECK: gemm %[[V4]], %b, %c {transpose_a=0, transpose_b=0, clear_accum=0, policy="square"}
        T.gemm(wide[:, 32:64], b, c)
        # CHECK: gemm %a, %b, %c {transpose_a=0, transpose_b=0, clear_accum=0, policy="square", k_pack=2}
        T.gemm(a, b, c, k_pack=2)
        # Without a wait.
        # CHECK: gemm %a, %b, %c {transpose_a=0, transpose_b=0, clear_accum=1, policy="square", variant="wgmma"}
        T.wgmma_gemm(a, b, c, clear_accum=True)
        # CHECK: wgmma_wait {pending=0}
        T.wait_wgmma(0)


# CHECK-LABEL: func @tensor_memory
@T.prim_func
def tensor_memory(A: T.Tensor((256, 256), "bfloat16"), n: T.int32):
    with T.ClusterKernel(2, cluster_dims=2, threads=128) as bx:
        a = T.alloc_shared((128, 64), "bfloat16")
        b = T.alloc_shared((64, 128), "bfloat16")
        half = T.alloc_shared((64, 64), "bfloat16")
        c = T.alloc_tmem((128, 128), "float32")
        done = T.alloc_barrier([1, 1])
        # CHECK: %[[V5:[0-9]+]] = floormod %n, %c2{{[_0-9]*}} : i32
        # CHECK: %[[V6:[0-9]+]] = eq %n, %c0{{[_0-9]*}} : b1
        # CHECK: gemm_conditional %a, %b, %c, %[[V6]], %done, %[[V5]] {transpose_a=0, transpose_b=0, policy="square", variant="tcgen05"}
        T.tcgen05_gemm(a, b, c, mbar=done[n % 2], clear_accum=n == 0)
        # None: no barrier of its own.
        # CHECK: gemm %a, %b, %c {transpose_a=0, transpose_b=0, clear_accum=0, policy="square", variant="tcgen05"}
        T.tcgen05_gemm(a, b, c, mbar=None)
        # Two CTAs: each has half of B's columns.
        # CHECK: gemm %a, %half, %c, %done, %c0{{[_0-9]*}} {transpose_a=0, transpose_b=0, clear_accum=0, policy="square", variant="tcgen05", use_2cta=1}
        T.tcgen05_gemm(a, half, c, mbar=done, use_2cta=True)
        # CHECK: call %done, %c0{{[_0-9]*}} {name="tcgen05_mma_arrive", arrive_2cta=0}
        T.tcgen05_mma_arrive(done)
        # CHECK: call %done, %c1{{[_0-9]*}} {name="tcgen05_mma_arrive", arrive_2cta=1}
        T.tcgen05_mma_arrive(done[1], arrive_2cta=True)
        # CHECK: gemm %a, %b, %c, %done, %c0{{[_0-9]*}} {transpose_a=0, transpose_b=0, clear_accum=0, policy="square"}
        T.gemm(a, b, c, mbar=done[0])


# CHECK-LABEL: func @scaled
@T.prim_func
def scaled(A: T.Tensor((256, 256), "float8_e4m3fn")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((128, 128), "float8_e4m3fn")
        b = T.alloc_shared((128, 128), "float8_e4m3fn")
        c = T.alloc_tmem((128, 128), "float32")
        sa = T.alloc_tmem((128, 4), "uint32")
        sb = T.alloc_tmem((128, 4), "uint32")
        bar = T.alloc_barrier(1)
        # CHECK: gemm_scaled %a, %b, %c, %sa, %sb, %c0{{[_0-9]*}}, %c1{{[_0-9]*}}, %bar, %c0{{[_0-9]*}} {transpose_a=0, transpose_b=1, policy="square", sf_a_granularity_k=128, sf_b_granularity_k=128, variant="tcgen05"}
        T.tcgen05_gemm_blockscaled(a, b, c, sa, sb, transpose_B=True, clear_accum=True, mbar=bar, k_start=0, sf_a_granularity_k=128, sf_b_granularity_k=128)
        e = T.alloc_shared((128, 64), "float16")
        m = T.alloc_shared((128, 8), "int16")
        g = T.alloc_shared((128, 64), "float16")
        f = T.alloc_fragment((128, 64), "float32")
        # K is twice the columns that A stores.
        # CHECK: gemm_sparse %e, %m, %g, %f {transpose_a=0, transpose_e=0, transpose_b=0, clear_accum=0, policy="square"}
        T.gemm_sp(e, m, g, f)
        # CHECK: gemm_sparse %e, %m, %g, %f {transpose_a=0, transpose_e=0, transpose_b=0, clear_accum=1, policy="full_row"}
        T.gemm_sp(e, m, g, f, policy=T.GemmWarpPolicy.FullRow, clear_accum=True)
