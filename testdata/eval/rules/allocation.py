# Allocations: scope and defaults of each.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @allocations
@T.prim_func
def allocations(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=128) as bx:
        # CHECK: %s = alloc : shared f16[4, 8]
        s = T.alloc_shared((4, 8), "float16")
        # CHECK: %t = alloc {scope="shared"} : shared f16[4, 8]
        t = T.alloc_shared([4, 8], dtype=T.float16, scope="shared")
        # CHECK: %flags = alloc {scope="shared"} : shared b1[8]
        flags = T.alloc_shared((8,), "bool")
        # CHECK: %f = alloc : fragment f32[4, 8]
        f = T.alloc_fragment((4, 8), "float32")
        # CHECK: %g = alloc : fragment bf16[8]
        g = T.alloc_fragment(8, T.bfloat16, scope="local.fragment")
        # CHECK: %l = alloc : local e4m3[4]
        l = T.alloc_local((4,), "float8_e4m3fn")
        # CHECK: %v = alloc {scope="local.var"} : local u8[1]
        v = T.alloc_var("uint8")
        # CHECK: %w = alloc : global f32[64, 2]
        w = T.alloc_global((64, 2), "float32")
        # One entry a count.
        # CHECK: %one = alloc {counts=[128]} : barrier u64[1]
        one = T.alloc_barrier(128)
        # CHECK: %three = alloc {counts=[1, 32, 128]} : barrier u64[3]
        three = T.alloc_barrier([1, 32, 128])
        # CHECK: %c = alloc {counts=[2], cluster=1} : barrier u64[1]
        c = T.alloc_cluster_barrier([2])
        # Rows are lanes, columns 32 bit wide; leading dimensions are batches side by side.
        # CHECK: %m = alloc : tmem f32[128, 256]
        m = T.alloc_tmem((128, 256), "float32")
        # CHECK: %b = alloc : tmem f32[2, 128, 64]
        b = T.alloc_tmem((2, 128, 64), "float32")
        # CHECK: %d = alloc {descriptor="wgmma"} : local u64[1]
        d = T.alloc_descriptor("wgmma")
        # CHECK: %e = alloc {descriptor="tcgen05_smem"} : local u64[1]
        e = T.alloc_descriptor("tcgen05_smem", "uint64")
        # CHECK: %i = alloc {descriptor="tcgen05_instr"} : local u32[1]
        i = T.alloc_descriptor(kind="tcgen05_instr", dtype="uint32")
        # CHECK: %r = alloc {reducer="max"} : fragment f32[4]
        r = T.alloc_reducer((4,), "float32", op="max")
        # CHECK: %q = alloc {reducer="sum", replication="all"} : fragment f32[4]
        q = T.alloc_reducer((4,), "float32", replication="all")
        u, x, y = T.SharedBuffer((4,), "float16"), T.FragmentBuffer((4,), "float16"), T.LocalBuffer((4,), "float16")
        # CHECK: call %m {name="deallocate_tmem"}
        T.deallocate_tmem(m)
