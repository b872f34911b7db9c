# What factories do in Python: dicts, tuples, closures, lambdas, comprehensions, helpers, static choices.
# test: eval
# CHECK-LABEL: func @factory {{.*}}instance="factory[N=256, fast=True, shape=(32, 64), scale=0.125]"
# CHECK: alloc : shared bf16[32, 64]
# CHECK: alloc : shared f32[12]
# CHECK: %[[C:[0-9]+]] = constant {value=0.18033688}
# CHECK-NEXT: fill %t, %[[C]]
import math
import tilelang
import tilelang.language as T

LOG2E = 1.44269504
TYPES = {"fast": T.bfloat16, "slow": "float32"}


def pick(fast, types=TYPES):
    return types["fast"] if fast else types["slow"]


@tilelang.jit(out_idx=-1)
def factory(N, fast=False, shape=(16, 16), scale=None):
    if scale is None:
        scale = 1.0 / math.sqrt(N)
    scale *= LOG2E
    kind = pick(fast)
    sizes = [i * 2 for i in range(4)]
    twice = lambda n: n * 2
    total = sum(sizes)
    assert total == 12 and len(sizes) == 4 and twice(3) == 6
    a, (b, c) = 1, (2, 3)
    assert not (a > b) and c in [3, 4]

    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):
        with T.Kernel(1) as bx:
            s = T.alloc_shared(shape, kind)
            t = T.alloc_shared(total, "float32")
            T.fill(t, scale)
            T.clear(s)
            T.copy(t[0:8], A[0:8])

    return main


factory(256, fast=True, shape=(32, 64), scale=0.125)
