# keep_found: what the manifest names comes to what is found without it.
# test: eval
# CHECK: instance="make[n=8]", specialisation="literal"
# CHECK: instance="make[n=16]", specialisation="manifest more"
import tilelang
import tilelang.language as T


@tilelang.jit
def make(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "int32")):
        with T.Kernel(1, threads=32) as bx:
            A[0] = 1

    return main


make(8)
