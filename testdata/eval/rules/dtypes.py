# Element types: names, aliases, those of other libraries and of Python.
# test: eval
# test: roundtrip
import numpy as np
import tilelang.language as T
import torch


# CHECK-LABEL: func @numbers
@T.prim_func
def numbers(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32) as bx:
        # CHECK: %{{[0-9]+}} = alloc : local i8[1]
        # CHECK: %{{[0-9]+}} = alloc : local i16[1]
        # CHECK: %{{[0-9]+}} = alloc : local i32[1]
        # CHECK: %{{[0-9]+}} = alloc : local i64[1]
        i = [T.alloc_local((1,), t) for t in ("int8", "int16", "int32", "int64")]
        # CHECK: %{{[0-9]+}} = alloc : local u8[1]
        # CHECK: %{{[0-9]+}} = alloc : local u16[1]
        # CHECK: %{{[0-9]+}} = alloc : local u32[1]
        # CHECK: %{{[0-9]+}} = alloc : local u64[1]
        u = [T.alloc_local((1,), t) for t in (T.uint8, T.uint16, T.uint32, T.uint64)]
        # CHECK: %{{[0-9]+}} = alloc : local b1[1]
        # CHECK: %{{[0-9]+}} = alloc : local f16[1]
        # CHECK: %{{[0-9]+}} = alloc : local bf16[1]
        # CHECK: %{{[0-9]+}} = alloc : local f32[1]
        # CHECK: %{{[0-9]+}} = alloc : local f64[1]
        # CHECK: %{{[0-9]+}} = alloc : local tf32[1]
        f = [T.alloc_local((1,), t) for t in ("bool", "float16", T.bfloat16, "float32", "float64", "tfloat32")]
        # CHECK: %{{[0-9]+}} = alloc : local i4[8]
        # CHECK: %{{[0-9]+}} = alloc : local e3m4[8]
        # CHECK: %{{[0-9]+}} = alloc : local e4m3_ieee[8]
        # CHECK: %{{[0-9]+}} = alloc : local e4m3b11fnuz[8]
        n = [T.alloc_local((8,), t) for t in ("int4", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz")]
        # CHECK: %{{[0-9]+}} = alloc : local e4m3[8]
        # CHECK: %{{[0-9]+}} = alloc : local e4m3fnuz[8]
        # CHECK: %{{[0-9]+}} = alloc : local e5m2[8]
        # CHECK: %{{[0-9]+}} = alloc : local e5m2fnuz[8]
        o = [T.alloc_local((8,), t) for t in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")]
        # CHECK: %{{[0-9]+}} = alloc : local e8m0[8]
        # CHECK: %{{[0-9]+}} = alloc : local e2m3[8]
        # CHECK: %{{[0-9]+}} = alloc : local e3m2[8]
        # CHECK: %{{[0-9]+}} = alloc : local e2m1[8]
        p = [T.alloc_local((8,), t) for t in ("float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")]
        # CHECK: %s = alloc : shared e2m1_unpacked[8]
        s = T.alloc_shared((8,), "float4_e2m1_unpacked")
        # CHECK: %{{[0-9]+}} = alloc : local i16[1]
        # CHECK: %{{[0-9]+}} = alloc : local i32[1]
        # CHECK: %{{[0-9]+}} = alloc : local u32[1]
        # CHECK: %{{[0-9]+}} = alloc : local i64[1]
        # CHECK: %{{[0-9]+}} = alloc : local f16[1]
        # CHECK: %{{[0-9]+}} = alloc : local f32[1]
        # CHECK: %{{[0-9]+}} = alloc : local f64[1]
        a = [T.alloc_local((1,), t) for t in (T.short, T.int, T.uint, T.long, T.half, T.float, T.double)]
        # CHECK: %{{[0-9]+}} = alloc : local f16[1]
        # CHECK: %{{[0-9]+}} = alloc : local f16[1]
        # CHECK: %{{[0-9]+}} = alloc : local i64[1]
        # CHECK: %{{[0-9]+}} = alloc : local e4m3[1]
        # CHECK: %{{[0-9]+}} = alloc : local b1[1]
        t = [T.alloc_local((1,), t) for t in (torch.float16, torch.half, torch.int64, torch.float8_e4m3fn, torch.bool)]
        # CHECK: %{{[0-9]+}} = alloc : local b1[1]
        # CHECK: %{{[0-9]+}} = alloc : local i32[1]
        # CHECK: %{{[0-9]+}} = alloc : local f32[1]
        # CHECK: %{{[0-9]+}} = alloc : local f16[1]
        # CHECK: %{{[0-9]+}} = alloc : local i32[1]
        y = [T.alloc_local((1,), t) for t in (bool, int, float, np.float16, np.int32)]
        # CHECK: %{{[0-9]+}} = alloc : local f16x2[1]
        # CHECK: %{{[0-9]+}} = alloc : local f32x4[1]
        # CHECK: %{{[0-9]+}} = alloc : local i8x4[1]
        # CHECK: %{{[0-9]+}} = alloc : local u8x16[1]
        # CHECK: %{{[0-9]+}} = alloc : local bf16x2[1]
        # CHECK: %{{[0-9]+}} = alloc : local e2m1x64[1]
        v = [T.alloc_local((1,), t) for t in ("float16x2", T.float32x4, "int8x4", "uint8x16", T.bfloat16x2, "float4_e2m1fnx64")]
        d = T.dtype("float16")
        # CHECK: %w = alloc : local f16[16, 2]
        w = T.alloc_local((d.bits, d.itemsize), d)
        # CHECK: %x = alloc : local f32[1]
        x = T.alloc_local((1,), A.dtype)
