# Kernels that are reached through classes: a module, an autograd function with its backward pass, records, partial
# application, and functions that are handed to functions nobody knows.
# test: eval
# CHECK: func @scale {{.*}} {instance="scale[N=96]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=64]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=32]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=40]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=48]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=56]", specialisation="main"}
# CHECK-NOT: func
import functools
from dataclasses import dataclass
from enum import Enum

import torch
import tilelang
import tilelang.language as T
from tilelang.profiler import do_bench


@tilelang.jit(out_idx=[1])
def scale(N):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1) as bx:
            for i in T.Parallel(N):
                B[i] = A[i] * 2.0

    return main


class Base(torch.nn.Module):
    factor = 2

    def __init__(self, size):
        super().__init__()
        self.size = size * self.factor

    @property
    def padded(self):
        return self.size + 64

    @staticmethod
    def half(n):
        return n // 2


class Layer(Base):
    factor = 1

    def __init__(self, size):
        super().__init__(size)
        self.kernel = scale(self.padded)

    def forward(self, x):
        return self.kernel(x)


class Doubling(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, rows):
        ctx.save_for_backward(x)
        ctx.rows = rows
        return scale(x.shape[0])(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return scale(grad.shape[0] // ctx.rows)(x), None


@dataclass
class Config:
    size: int
    copies: int = 5

    def total(self):
        return self.size * self.copies


class Kind(Enum):
    SMALL = 48
    LARGE = 96


def run(*sizes, **options):
    for size in sizes:
        scale(size + options["extra"])


def main():
    layer = Layer(32).cuda()
    layer(torch.randn(96))
    Doubling.apply(torch.randn(64), 2).sum().backward()
    scale(Config(size=8).total())
    do_bench(lambda: scale(Kind.SMALL.value)(torch.randn(48)))
    functools.partial(run, extra=6)(50)


if __name__ == "__main__":
    main()
