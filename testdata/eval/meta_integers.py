# Integers carry expressions over the factory's parameters; branches on them become preconditions.
# test: eval M=1000
# CHECK-LABEL: func @meta (%A: global f16[1000:"M", 520:"K"]) {instance="meta[M=1000, K=520, BK=64]", specialisation="arg"
# CHECK: pre "M % 8 == 0" [M]
# CHECK-NEXT: pre "K >= 64" [K]
# CHECK-NEXT: pre "ceildiv(K, BK) >= 0" [K, BK]
# CHECK-NOT: pre
# CHECK: constant {value=9:"ceildiv(K, BK)"}
# CHECK: constant {value=1003:"M + 3"}
# CHECK: constant {value=64:"min(BK, K)"}
# CHECK: constant {value=-2:"(K // BK) - 10"}
import tilelang
import tilelang.language as T


@tilelang.jit
def meta(M, K, BK=64):
    assert M % 8 == 0, f"M is {M}"
    if K >= 64:
        steps = T.ceildiv(K, BK)
    else:
        steps = 1

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16")):
        with T.Kernel(steps, threads=M + 3 if steps < 0 else 32) as bx:
            s = T.alloc_shared((8,), "int32")
            for i in T.serial(M + 3):
                s[i] = min(BK, K)
                s[i] = K // BK - 10

    return main


kernel = meta(512, 520)
