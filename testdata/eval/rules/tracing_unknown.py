# A call of something that is not known is an error where it could have built a part of the kernel, never skipped.
# test: eval
import not_known
import tilelang.language as T
from tilelang.tools.cuda import iket


@T.prim_func
def unknown(A: T.Tensor((64,), "int32")):
    # Marks of the profiling tool do nothing.
    with T.Kernel(1, threads=32) as bx, iket.range("all"):
        iket.mark("begin")
        not_known.store(A, 1)  # error: what this call does is not known without running the file
        A[0] = not_known.value()  # error: the stored value is not known without running the file
        with not_known.context():  # error: the context is not known without running the file
            A[1] = 1
