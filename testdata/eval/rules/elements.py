# Element operations.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @fills
@T.prim_func
def fills(A: T.Tensor((64, 64), "float16"), x: T.float32):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        v = T.alloc_var("int32", 1)
        # CHECK: constant {value=0.0} : f16
        # CHECK: fill %s, %{{[0-9]+}}
        T.clear(s)
        # CHECK: %[[V1:[0-9]+]] = cast %x : f16
        # CHECK: %[[V2:[0-9]+]] = region %s, %c0{{[_0-9]*}}, %c0{{[_0-9]*}}, %c8{{[_0-9]*}}, %c64{{[_0-9]*}} : tile f16[8, 64]
        # CHECK: fill %[[V2]], %[[V1]]
        T.fill(s[0:8, :], x)
        # CHECK: fill %A, %{{[0-9]+}}
        T.fill(A, 1)
        # CHECK: fill %v, %c0{{[_0-9]*}}
        T.clear(v)


# CHECK-LABEL: func @scalars
@T.prim_func
def scalars(F: T.Tensor((64,), "float32"), I: T.Tensor((64,), "int32"), n: T.int32, h: T.float16):
    with T.Kernel(1, threads=32) as bx:
        # Lazy: the load is made only where it counts. T.Select takes both.
        # CHECK: %[[V3:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: %choice = alloc : local f32[1]
        # CHECK: if %[[V3]]
        # CHECK: %[[V4:[0-9]+]] = load %F, %n : f32
        # CHECK: store %choice, %c0{{[_0-9]*}}, %[[V4]]
        # CHECK: store %choice, %c0{{[_0-9]*}}, %{{[0-9]+}}
        # CHECK: %[[V5:[0-9]+]] = load %choice, %c0{{[_0-9]*}} : f32
        # CHECK: store %F, %c0{{[_0-9]*}}, %[[V5]]
        F[0] = T.if_then_else(n > 0, F[n], 1.0)
        # CHECK: %[[V6:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: %[[V7:[0-9]+]] = load %F, %n : f32
        # CHECK: %[[V8:[0-9]+]] = select %[[V6]], %[[V7]], %{{[0-9]+}} : f32
        # CHECK: store %F, %c1{{[_0-9]*}}, %[[V8]]
        F[1] = T.Select(n > 0, F[n], 1.0)
        # CHECK: %[[V9:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V10:[0-9]+]] = cast %h : f32
        # CHECK: %[[V11:[0-9]+]] = max %[[V9]], %[[V10]] : f32
        # CHECK: store %F, %c2{{[_0-9]*}}, %[[V11]]
        F[2] = T.max(F[0], h)
        # CHECK: %[[V12:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V13:[0-9]+]] = max %[[V12]], %{{[0-9]+}} : f32
        # CHECK: %[[V14:[0-9]+]] = min %[[V13]], %{{[0-9]+}} : f32
        # CHECK: store %F, %c3{{[_0-9]*}}, %[[V14]]
        F[3] = T.clamp(F[0], -1.0, 1.0)
        # CHECK: %c4{{[_0-9]*}} = constant {value=4} : i32
        # CHECK: %[[V15:[0-9]+]] = constant {value=inf} : f32
        # CHECK: store %F, %c4{{[_0-9]*}}, %[[V15]]
        F[4] = T.infinity("float32")
        # CHECK: %c5{{[_0-9]*}} = constant {value=5} : i32
        # CHECK: %[[V16:[0-9]+]] = constant {value=-inf} : f32
        # CHECK: store %F, %c5{{[_0-9]*}}, %[[V16]]
        F[5] = -T.infinity("float16")
        # To nearest and saturating where nothing else is said.
        # CHECK: %[[V17:[0-9]+]] = cast %n : f16
        # CHECK: %[[V18:[0-9]+]] = cast %[[V17]] : f32
        # CHECK: store %F, %c6{{[_0-9]*}}, %[[V18]]
        F[6] = T.cast(n, "float16")
        # CHECK: %[[V19:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V20:[0-9]+]] = call %[[V19]] {name="cast_rounded", round="rz", sat=1} : f16
        # CHECK: %[[V21:[0-9]+]] = cast %[[V20]] : f32
        # CHECK: store %F, %c7{{[_0-9]*}}, %[[V21]]
        F[7] = T.cast(F[0], "float16", round="rz")
        # CHECK: %[[V22:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V23:[0-9]+]] = call %[[V22]] {name="cast_rounded", round="rn", sat=0} : e4m3
        # CHECK: %[[V24:[0-9]+]] = cast %[[V23]] : f32
        # CHECK: store %F, %c8{{[_0-9]*}}, %[[V24]]
        F[8] = T.cast(F[0], "float8_e4m3fn", sat=False)
        # CHECK: %[[V25:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V26:[0-9]+]] = cast %n : u32
        # CHECK: %[[V27:[0-9]+]] = call %[[V25]], %[[V26]] {name="cast_rounded", round="rs", sat=1} : e4m3
        # CHECK: %[[V28:[0-9]+]] = cast %[[V27]] : f32
        # CHECK: store %F, %c9{{[_0-9]*}}, %[[V28]]
        F[9] = T.cast(F[0], "float8_e4m3fn", round="rs", rbits=n)
        # CHECK: %[[V29:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V30:[0-9]+]] = cast %[[V29]] : bf16
        # CHECK: %[[V31:[0-9]+]] = cast %[[V30]] : f32
        # CHECK: store %F, %c10{{[_0-9]*}}, %[[V31]]
        F[10] = T.Cast("bfloat16", F[0])
        # CHECK: %[[V32:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V33:[0-9]+]] = cast %[[V32]] : f16
        # CHECK: %[[V34:[0-9]+]] = cast %[[V33]] : f32
        # CHECK: store %F, %c11{{[_0-9]*}}, %[[V34]]
        F[11] = T.float16(F[0])
        # CHECK: %[[V35:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V36:[0-9]+]] = cast %[[V35]] : f16
        # CHECK: %[[V37:[0-9]+]] = cast %[[V36]] : f32
        # CHECK: store %F, %c12{{[_0-9]*}}, %[[V37]]
        F[12] = F[0].astype("float16")
        # An integer constant stays one.
        # CHECK: store %I, %c0{{[_0-9]*}}, %{{[0-9]+}}
        I[0] = T.int32(7) // 2
        # CHECK: %[[V38:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V39:[0-9]+]] = call %[[V38]] {name="reinterpret"} : i32
        # CHECK: store %I, %c1{{[_0-9]*}}, %[[V39]]
        I[1] = T.reinterpret(F[0], "int32")
        # CHECK: %[[V40:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V41:[0-9]+]] = call %[[V40]] {name="reinterpret"} : i32
        # CHECK: store %I, %c2{{[_0-9]*}}, %[[V41]]
        I[2] = T.reinterpret("int32", F[0])
        # Ties to even.
        # CHECK: %[[V42:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V43:[0-9]+]] = call %[[V42]] {name="round"} : f32
        # CHECK: store %F, %c13{{[_0-9]*}}, %[[V43]]
        F[13] = T.round(F[0])
        # CHECK: %[[V44:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V45:[0-9]+]] = mul %[[V44]], %[[V44]] : f32
        # CHECK: store %F, %c14{{[_0-9]*}}, %[[V45]]
        F[14] = T.pow(F[0], 2)
        # CHECK: %[[V46:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V47:[0-9]+]] = load %F, %c1{{[_0-9]*}} : f32
        # CHECK: %[[V48:[0-9]+]] = call %[[V46]], %[[V47]] {name="pow"} : f32
        # CHECK: store %F, %c15{{[_0-9]*}}, %[[V48]]
        F[15] = T.pow(F[0], F[1])
        # CHECK: %[[V49:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V50:[0-9]+]] = neg %[[V49]] : f32
        # CHECK: %[[V51:[0-9]+]] = exp %[[V50]] : f32
        # CHECK: %[[V52:[0-9]+]] = add %{{[0-9]+}}, %[[V51]] : f32
        # CHECK: %[[V53:[0-9]+]] = div %{{[0-9]+}}, %[[V52]] : f32
        # CHECK: store %F, %c16{{[_0-9]*}}, %[[V53]]
        F[16] = T.sigmoid(F[0])
        # CHECK: %[[V54:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V55:[0-9]+]] = call %[[V54]] {name="exp10"} : f32
        # CHECK: %[[V56:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V57:[0-9]+]] = call %[[V56]] {name="log1p"} : f32
        # CHECK: %[[V58:[0-9]+]] = add %[[V55]], %[[V57]] : f32
        # CHECK: %[[V59:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V60:[0-9]+]] = call %[[V59]] {name="erf"} : f32
        # CHECK: %[[V61:[0-9]+]] = add %[[V58]], %[[V60]] : f32
        # CHECK: %[[V62:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V63:[0-9]+]] = load %F, %c1{{[_0-9]*}} : f32
        # CHECK: %[[V64:[0-9]+]] = call %[[V62]], %[[V63]] {name="fmod"} : f32
        # CHECK: %[[V65:[0-9]+]] = add %[[V61]], %[[V64]] : f32
        # CHECK: store %F, %c17{{[_0-9]*}}, %[[V65]]
        F[17] = T.exp10(F[0]) + T.log1p(F[0]) + T.erf(F[0]) + T.fmod(F[0], F[1])
        # CHECK: %[[V66:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V67:[0-9]+]] = call %[[V66]] {name="fast_exp"} : f32
        # CHECK: %[[V68:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V69:[0-9]+]] = call %[[V68]] {name="fast_sin"} : f32
        # CHECK: %[[V70:[0-9]+]] = add %[[V67]], %[[V69]] : f32
        # CHECK: %[[V71:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V72:[0-9]+]] = call %[[V71]] {name="fast_rcp"} : f32
        # CHECK: %[[V73:[0-9]+]] = add %[[V70]], %[[V72]] : f32
        # CHECK: store %F, %c18{{[_0-9]*}}, %[[V73]]
        F[18] = T.__exp(F[0]) + T.__sin(F[0]) + T.fast_rcp(F[0])
        # CHECK: %[[V74:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V75:[0-9]+]] = load %F, %c1{{[_0-9]*}} : f32
        # CHECK: %[[V76:[0-9]+]] = call %[[V74]], %[[V75]] {name="ieee_add", rounding="rz"} : f32
        # CHECK: %[[V77:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V78:[0-9]+]] = load %F, %c1{{[_0-9]*}} : f32
        # CHECK: %[[V79:[0-9]+]] = load %F, %c2{{[_0-9]*}} : f32
        # CHECK: %[[V80:[0-9]+]] = call %[[V77]], %[[V78]], %[[V79]] {name="ieee_fmaf", rounding="rn"} : f32
        # CHECK: %[[V81:[0-9]+]] = add %[[V76]], %[[V80]] : f32
        # CHECK: %[[V82:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V83:[0-9]+]] = call %[[V82]] {name="ieee_frsqrt"} : f32
        # CHECK: %[[V84:[0-9]+]] = add %[[V81]], %[[V83]] : f32
        # CHECK: store %F, %c19{{[_0-9]*}}, %[[V84]]
        F[19] = T.ieee_add(F[0], F[1], "rz") + T.ieee_fmaf(F[0], F[1], F[2]) + T.ieee_frsqrt(F[0])
        # CHECK: %[[V85:[0-9]+]] = call %n {name="popcount"} : i32
        # CHECK: %[[V86:[0-9]+]] = call %n {name="clz"} : i32
        # CHECK: %[[V87:[0-9]+]] = add %[[V85]], %[[V86]] : i32
        # CHECK: store %I, %c3{{[_0-9]*}}, %[[V87]]
        I[3] = T.popcount(n) + T.clz(n)
        # CHECK: %[[V88:[0-9]+]] = load %F, %c0{{[_0-9]*}} : f32
        # CHECK: %[[V89:[0-9]+]] = call %[[V88]] {name="isnan"} : b1
        # CHECK: %[[V90:[0-9]+]] = cast %[[V89]] : i32
        # CHECK: store %I, %c4{{[_0-9]*}}, %[[V90]]
        I[4] = T.isnan(F[0])
        # CHECK: %[[V91:[0-9]+]] = floordiv %n, %c4{{[_0-9]*}} : i32
        # CHECK: %[[V92:[0-9]+]] = floormod %n, %c4{{[_0-9]*}} : i32
        # CHECK: %[[V93:[0-9]+]] = add %[[V91]], %[[V92]] : i32
        # CHECK: %[[V94:[0-9]+]] = call %n, %c4{{[_0-9]*}} {name="truncdiv"} : i32
        # CHECK: %[[V95:[0-9]+]] = add %[[V93]], %[[V94]] : i32
        # CHECK: %[[V96:[0-9]+]] = call %n, %c4{{[_0-9]*}} {name="truncmod"} : i32
        # CHECK: %[[V97:[0-9]+]] = add %[[V95]], %[[V96]] : i32
        # CHECK: store %I, %c5{{[_0-9]*}}, %[[V97]]
        I[5] = T.floordiv(n, 4) + T.floormod(n, 4) + T.truncdiv(n, 4) + T.truncmod(n, 4)
        # CHECK: %[[V98:[0-9]+]] = shift_left %n, %c2{{[_0-9]*}} : i32
        # CHECK: %[[V99:[0-9]+]] = shift_right %n, %c1{{[_0-9]*}} : i32
        # CHECK: %[[V100:[0-9]+]] = bit_xor %n, %cm1{{[_0-9]*}} : i32
        # CHECK: %[[V101:[0-9]+]] = bit_and %[[V100]], %c5{{[_0-9]*}} : i32
        # CHECK: %[[V102:[0-9]+]] = bit_xor %[[V99]], %[[V101]] : i32
        # CHECK: %[[V103:[0-9]+]] = bit_or %[[V98]], %[[V102]] : i32
        # CHECK: store %I, %c6{{[_0-9]*}}, %[[V103]]
        I[6] = T.shift_left(n, 2) | (n >> 1) ^ ~n & 5
        # CHECK: %[[V104:[0-9]+]] = floordiv %n, %cm4{{[_0-9]*}} : i32
        # CHECK: %[[V105:[0-9]+]] = floormod %n, %c4{{[_0-9]*}} : i32
        # CHECK: %[[V106:[0-9]+]] = add %[[V104]], %[[V105]] : i32
        # CHECK: store %I, %c7{{[_0-9]*}}, %[[V106]]
        I[7] = n // -4 + n % 4
        # CHECK: %[[V107:[0-9]+]] = abs %n : i32
        # CHECK: %[[V108:[0-9]+]] = min %n, %c3{{[_0-9]*}} : i32
        # CHECK: %[[V109:[0-9]+]] = add %[[V107]], %[[V108]] : i32
        # CHECK: store %I, %c8{{[_0-9]*}}, %[[V109]]
        I[8] = T.abs(n) + T.min(n, 3)


# CHECK-LABEL: func @whole
@T.prim_func
def whole(B: T.Tensor((64,), "bool"), S: T.Tensor((64,), "int8"), I: T.Tensor((1,), "int32"), P: T.Tensor((8,), "int8x4")):
    with T.Kernel(1, threads=32) as bx:
        s = T.alloc_shared((64,), "bool")
        T.copy(B, s)
        # CHECK: %[[V110:[0-9]+]] = call %s {name="any_of"} : b1
        # CHECK: if %[[V110]]
        if T.any_of(s):
            I[0] = 1
        # CHECK: %[[V111:[0-9]+]] = region %s, %c0{{[_0-9]*}}, %c8{{[_0-9]*}} : tile b1[8]
        # CHECK: %[[V112:[0-9]+]] = call %[[V111]] {name="all_of"} : b1
        # CHECK: if %[[V112]]
        if T.all_of(s[0:8]):
            I[0] = 2
        acc = T.alloc_local((1,), "int32")
        # CHECK: %[[V113:[0-9]+]] = region %S, %c0{{[_0-9]*}}, %c4{{[_0-9]*}} : tile i8[4]
        # CHECK: %[[V114:[0-9]+]] = region %S, %c4{{[_0-9]*}}, %c4{{[_0-9]*}} : tile i8[4]
        # CHECK: call %[[V113]], %[[V114]], %acc {name="dp4a"}
        T.dp4a(S[0:4], S[4:8], acc)


# CHECK-LABEL: func @texts
@T.prim_func
def texts(F: T.Tensor((64,), "float32"), n: T.int32):
    with T.Kernel(1, threads=64) as bx:
        s = T.alloc_shared((64,), "float32")
        # CHECK: call %n {name="print", message=""}
        T.print(n)
        # CHECK: call %s {name="print", message="all", lane=32, access="r"}
        T.print(s, msg="all", warp_group_id=0, warp_id=1)
        # CHECK: call {name="print", message="here"}
        T.print(msg="here")
        # CHECK: %[[V115:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: call %[[V115]] {name="device_assert"}
        T.device_assert(n > 0)
        # CHECK: %[[V116:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: call %[[V116]] {name="device_assert", message="positive"}
        T.device_assert(n > 0, "positive")
        # CHECK: %[[V117:[0-9]+]] = gt %n, %c0{{[_0-9]*}} : b1
        # CHECK: call %[[V117]] {name="device_assert", message="positive", no_stack_info=1}
        T.device_assert(n > 0, msg="positive", no_stack_info=True)
        # CHECK: %[[V118:[0-9]+]] = floormod %n, %c4{{[_0-9]*}} : i32
        # CHECK: %[[V119:[0-9]+]] = eq %[[V118]], %c0{{[_0-9]*}} : b1
        # CHECK: assume %[[V119]]
        T.assume(n % 4 == 0)
        # CHECK: annotate {kind="import_source", text="__device__ int f(int);"}
        T.import_source("__device__ int f(int);")
        # CHECK: %[[V120:[0-9]+]] = call %n {name="call_extern_value", function="f", access="v"} : i32
        # CHECK: %[[V121:[0-9]+]] = cast %[[V120]] : f32
        # CHECK: store %F, %c0{{[_0-9]*}}, %[[V121]]
        F[0] = T.call_extern("int32", "f", n)
        # CHECK: %[[V122:[0-9]+]] = region %F, %c4{{[_0-9]*}}, %c1{{[_0-9]*}} : tile f32[1]
        # CHECK: %[[V123:[0-9]+]] = region %F, %c8{{[_0-9]*}}, %c1{{[_0-9]*}} : tile f32[1]
        # CHECK: %{{[0-9]+}} = call %[[V122]], %[[V123]] {name="call_extern_value", function="g", access="uu"} : i32
        T.call_extern("int32", "g", T.address_of(F[4]), T.access_ptr(F[8], "rw"))
        T.evaluate(n)
