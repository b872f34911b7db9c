# test: eval
# test: roundtrip
# The type of x + y, as release 0.1.15 answers for variables of these types: a float beats an integer, the wider type
# the narrower, unsigned beats signed of one width, float16 beats bfloat16; bool becomes the other.
# CHECK: add {{.*}} : u32
# CHECK: add {{.*}} : u8
# CHECK: add {{.*}} : i64
# CHECK: add {{.*}} : i32
# CHECK: add {{.*}} : f16
# CHECK: add {{.*}} : f32
# CHECK: add {{.*}} : f16
# CHECK: add {{.*}} : i8
# CHECK: floordiv {{.*}} : u32
# CHECK: floormod {{.*}} : i64
import tilelang.language as T


@T.prim_func
def promotion(
    out: T.Tensor((16,), "float64"),
    i8: T.int8,
    i32: T.int32,
    i64: T.int64,
    u8: T.uint8,
    u32: T.uint32,
    f16: T.float16,
    b16: T.bfloat16,
    f32: T.float32,
    yes: T.bool,
):
    with T.Kernel(1) as bx:
        out[0] = i32 + u32
        out[1] = i8 + u8
        out[2] = i64 + u32
        out[3] = i32 + u8
        out[4] = i64 + f16
        out[5] = f16 + f32
        out[6] = f16 + b16
        out[7] = yes + i8
        out[8] = i32 // u32
        out[9] = i64 % u32
