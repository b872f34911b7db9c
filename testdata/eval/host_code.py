# Host code is followed as far as it can be; what cannot be known stays unknown and hurts nobody.
# test: eval
# CHECK: func @scale {{.*}} {instance="scale[N=128]", specialisation="main"} {{.*}} attrs {tl.disable_tma_lower=1, tl.ptxas_register_usage_level=10}
# CHECK: func @scale {{.*}} {instance="scale[N=256]", specialisation="main"}
# CHECK-NOT: func
import argparse
import torch
import tilelang
import tilelang.language as T
from somewhere import something


class Config:
    N = 5


@tilelang.jit(pass_configs={tilelang.PassConfigKey.TL_DISABLE_TMA_LOWER: True, "tl.ptxas_register_usage_level": 10})
def scale(N):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):
        with T.Kernel(1) as bx:
            for i in T.Parallel(N):
                A[i] = A[i] * 2.0

    return main


def reference(a):
    return a @ a.T


def main():
    parser = argparse.ArgumentParser()
    args = parser.parse_args()
    try:
        torch.manual_seed(0)
        if args.verbose:
            print("on", f"{args.n:>5}")
        for n in [128, 256]:
            kernel = scale(n)
            x = torch.randn(n, device="cuda")
            kernel(x)
            torch.testing.assert_close(x, reference(x))
    except RuntimeError as e:
        raise
    latency = kernel.get_profiler().do_bench()
    print(f"{latency:.2f}", {1, 2}, x[0])


if __name__ == "__main__":
    main()
