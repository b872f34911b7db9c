# The instances come from manifest.tilecheck.toml beside this file.
# test: eval
# CHECK: func @scale {{.*}} {instance="scale[N=32, dtype=float16]", specialisation="manifest"} args [N=32] outputs [0] attrs {tl.disable_wgmma=1}
# CHECK: func @scale {{.*}} {instance="scale[N=64, dtype=float32]", specialisation="manifest"}
# CHECK-NOT: func
import tilelang
import tilelang.language as T


@tilelang.jit
def scale(N, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype)):
        with T.Kernel(1) as bx:
            for i in T.Parallel(N):
                A[i] = A[i] * 2.0

    return main


scale(1024)
