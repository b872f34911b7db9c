# test: eval
# A function that defines a kernel inside and returns it: its own parameters come from the manifest, from --arg or its
# defaults. Host code that waits for something outside of the program is left after a round.
# CHECK-LABEL: func @kernel (%A: global f16[16, 32], %B: global f16[16, 32]) {instance="copies[rows=16, columns=32, dtype=float16].kernel[block=16, threads=128]", specialisation="manifest small"}
# CHECK-LABEL: func @kernel (%A: global bf16[128, 64], %B: global bf16[128, 64]) {instance="copies[rows=128, columns=64, dtype=bfloat16].kernel[block=64, threads=128]", specialisation="manifest large"}
# CHECK: launch %c2{{[_0-9]*}} {threads=128:"threads"}
import functools
import queue

import tilelang
import tilelang.language as T


@functools.lru_cache(maxsize=32)
def copies(rows, columns: int, dtype="float16"):
    @tilelang.jit(out_idx=[-1])
    def kernel(block: int = 64, threads=128):
        @T.prim_func
        def main(A: T.Tensor((rows, columns), dtype), B: T.Tensor((rows, columns), dtype)):
            with T.Kernel(T.ceildiv(rows, block), threads=threads) as bx:
                for i, j in T.Parallel(block, columns):
                    B[bx * block + i, j] = A[bx * block + i, j]

        return main

    return kernel


class Copy:
    def __init__(self, rows, columns):
        self.kernel = copies(rows, columns)

    def forward(self, x):
        return self.kernel(block=32)(x)


def serve(requests: queue.Queue):
    while True:
        rows = requests.get()
        if rows is None:
            break
        while True:
            if requests.empty():
                return


serve(queue.Queue())
