# Forms of Python in host code and factories: what they are worth decides the instances.
# test: eval
# CHECK: func @scale {{.*}} {instance="scale[N=8, tag=a-b_8]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=16, tag=  16|0x10|1.50]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=24, tag=[4, 2]]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=32, tag=True]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=40, tag=(4, 64, 3)]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=48, tag=13]", specialisation="main"}
# CHECK: func @scale {{.*}} {instance="scale[N=20, tag=56]", specialisation="main"}
# CHECK-NOT: func
import itertools
import os

import torch
import torch.nn.functional as F
import tilelang
import tilelang.language as T
from einops import rearrange

COUNT = 0


@tilelang.jit
def scale(N, tag):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):
        with T.Kernel(1) as bx:
            for i in T.Parallel(N):
                A[i] = A[i] * 2.0

    return main


def count():
    global COUNT
    COUNT += 1
    return COUNT


def lengths():
    seqlens = torch.tensor([3, 5, 5], dtype=torch.int32)
    ends = F.pad(torch.cumsum(seqlens, dim=0), (1, 0))
    return int(ends.max().item())


def main():
    first, *rest = [8, 16, 24, 32]
    names = {name: n for n, name in enumerate("ab")} | {"c": 2}
    scale(first, "-".join(sorted(names)[:2]) + f"_{first}")
    scale(rest[0], "{:>4}|{:#x}|{value:.2f}".format(16, 16, value=1.5))
    scale(rest[1], [n for n in range(5)][::-2][:2])
    if (last := rest[-1]) and os.environ.get("TILE", "none") == "none":
        scale(last, isinstance(last, (int, float)) and count() == 1 and count() == COUNT)
    x = rearrange(torch.empty(2, 4 * 3, 64), "b (h g) d -> h (b g) d", g=6)
    x = torch.stack([x[:, 0], x[:, 1], x[:, 2]], dim=-1)
    y = torch.einsum("hdn, hdk -> kdn", x, torch.empty(2, 64, 4))
    scale(sum(a * b for a, b in itertools.product([1, 2], [4, 5])) + 13, y.shape)
    scale(48, lengths())
    scale(*itertools.accumulate([20, 36]))


if __name__ == "__main__":
    main()
