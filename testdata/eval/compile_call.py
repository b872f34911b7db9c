# tilelang.compile of a plain factory's kernel, with its options.
# test: eval
# CHECK: func @main {{.*}} {instance="main[N=64]", specialisation="literal"} args [N=64] outputs [1] attrs {tl.disable_wgmma=1}
# CHECK-NOT: func
import tilelang
from tilelang import language as T


def program(N):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1) as bx:
            T.copy(A, B)

    return main


kernel = tilelang.compile(program(64), out_idx=[-1], pass_configs={"tl.disable_wgmma": True})
