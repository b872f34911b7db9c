# Element operations that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def scalars(F: T.Tensor((64,), "float32"), I: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(1, threads=32) as bx:
        F[0] = T.cast(F[0], "float16", round="up")  # error: no rounding 'up'
        F[0] = T.cast(F[0], "float16", round="rs")  # error: rbits
        F[0] = T.cast(F[0], "float16", rbits=n)  # error: rbits
        I[0] = T.infinity("int32")  # error: no infinity
        F[0] = T.ieee_add(F[0], F[1], "up")  # error: rounding mode
        I[0] = T.reinterpret(F[0], "int64")  # error: 32 bits as 64
        I[0] = n / 2  # error: operator / does not take int32 and 2
        I[0] = n // 0  # error: division by zero
        F[0] = F[0] % 2.0  # error: operator % does not take float32 and float32
        F[0] = T.exp()  # error: needs 'x'
        F[0] = T.exq(F[0])  # error: did you mean
        I[0] = T.all_of(F, F)  # error: positional
        I[0] = F[0] << 2  # error: operator << does not take float32 and 2
