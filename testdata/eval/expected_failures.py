# Kernels that the program expects to be refused are not looked at.
# test: eval
# CHECK: instance="make[n=4]"
# CHECK-NOT: instance=
import pytest
import tilelang
import tilelang.language as T


@tilelang.jit
def make(n):
    @T.prim_func
    def main(A: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=n) as bx:
            A[0] = 1

    return main


make(4)
with pytest.raises(ValueError, match="threads"):
    make(-1)
