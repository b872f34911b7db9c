# test: eval
# test: roundtrip
# CHECK-LABEL: func @gemms
# CHECK: launch %c2{{[_0-9]*}} {threads=256, cluster=[2, 1, 1]}{{.*}} |%bx: i32
# CHECK: %a = alloc : shared f16[2, 128, 64]
# CHECK: %b = alloc : shared f16[256, 64]
# CHECK: %half = alloc : shared f16[128, 64]
# CHECK: %c = alloc : fragment f32[128, 256]
# CHECK: %t = alloc : tmem f32[128, 256]
# CHECK: %done = alloc {counts=[1, 1]} : barrier u64[2]
# CHECK: for %c0{{[_0-9]*}}, %n {kind="serial"}{{.*}} |%k: i32
# CHECK: gemm_conditional %{{[0-9]+}}, %b, %c, %{{[0-9]+}} {transpose_a=0, transpose_b=1, policy="full_row"}
# CHECK: gemm %{{[0-9]+}}, %b, %c {transpose_a=0, transpose_b=1, clear_accum=0, policy="square", variant="wgmma", wg_wait=-1}
# CHECK: wgmma_wait {pending=0}
# CHECK: gemm_conditional %{{[0-9]+}}, %b, %t, %{{[0-9]+}}, %done, %c1{{[_0-9]*}} {transpose_a=0, transpose_b=1, policy="square", variant="tcgen05"}
# CHECK: gemm %{{[0-9]+}}, %half, %t {transpose_a=0, transpose_b=1, clear_accum=1, policy="square", variant="tcgen05", use_2cta=1}
# CHECK: %e = alloc : shared i16[128, 8]
# CHECK: %wide = alloc : shared f16[256, 128]
# CHECK: gemm_sparse %half, %e, %wide, %c {transpose_a=0, transpose_e=0, transpose_b=1, clear_accum=1, policy="square"}
# CHECK: %x = alloc : shared e4m3[128, 128]
# CHECK: %y = alloc : shared e5m2[256, 128]
# CHECK: %sfa = alloc : tmem u32[128, 4]
# CHECK: %sfb = alloc : tmem u32[128, 8]
# CHECK: gemm_scaled %x, %y, %t, %sfa, %sfb, %n, %c0{{[_0-9]*}}, %done, %c0{{[_0-9]*}} {transpose_a=0, transpose_b=1, policy="square", sf_a_granularity_k=32, sf_b_granularity_k=32, variant="tcgen05"}
# CHECK: call %done, %c0{{[_0-9]*}} {name="tcgen05_mma_arrive", arrive_2cta=1}
# A run-time clear_accum is an operand; the kinds of the hardware are a variant of one op; with two CTAs each has half of
# B; a sparse A has half of K.
import tilelang.language as T


@T.prim_func
def gemms(n: T.int32, D: T.Tensor((128, 256), "float32")):
    with T.ClusterKernel(2, cluster_dims=2, threads=256) as bx:
        a = T.alloc_shared((2, 128, 64), "float16")
        b = T.alloc_shared((256, 64), "float16")
        half = T.alloc_shared((128, 64), "float16")
        c = T.alloc_fragment((128, 256), "float32")
        t = T.alloc_tmem((128, 256), "float32")
        done = T.alloc_barrier([1, 1])
        for k in T.serial(n):
            T.gemm(a[k % 2, :, :], b, c, transpose_B=True, clear_accum=k == 0, policy=T.GemmWarpPolicy.FullRow)
        T.wgmma_gemm(a[0, :, :], b, c, transpose_B=True, annotations={"wg_wait": -1})
        T.wait_wgmma(0)
        T.tcgen05_gemm(a[1, :, :], b, t, transpose_B=True, mbar=done[1], clear_accum=n > 0)
        T.tcgen05_gemm(a[1, :, :], half, t, transpose_B=True, mbar=None, use_2cta=True, clear_accum=True)
        e = T.alloc_shared((128, 8), "int16")
        wide = T.alloc_shared((256, 128), "float16")
        T.gemm_sp(half, e, wide, c, transpose_B=True, clear_accum=True)
        x = T.alloc_shared((128, 128), "float8_e4m3fn")
        y = T.alloc_shared((256, 128), "float8_e5m2")
        sfa = T.alloc_tmem((128, 4), "uint32")
        sfb = T.alloc_tmem((128, 8), "uint32")
        T.tcgen05_gemm_blockscaled(
            x, y, t, sfa, sfb, transpose_B=True, mbar=done[0], k_start=n, sf_a_granularity_k=32, sf_b_granularity_k=32
        )
        T.tcgen05_mma_arrive(done, arrive_2cta=True)
