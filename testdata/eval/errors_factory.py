# Errors of factories, their calls and their options.
# test: eval
import argparse
import tilelang
import tilelang.language as T

args = argparse.ArgumentParser().parse_args()


@tilelang.jit
def open_parameters(M, N=3):  # error: 'open_parameters' needs a value for M
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32")):
        with T.Kernel(1) as bx:
            A[0, 0] = 1.0

    return main


@tilelang.jit
def scale(N, dtype="float32"):
    assert N % 32 == 0, f"N = {N} is no multiple of 32"  # error: the assertion does not hold: N = 33 is no multiple of 32

    @T.prim_func
    def main(A: T.Tensor((N,), dtype)):
        with T.Kernel(1) as bx:
            for i in T.Parallel(N):
                A[i] = A[i] * 2.0

    return main


scale(33)
scale(32, dtipe="float16")  # error: 'scale' has no parameter 'dtipe'
scale()  # error: 'scale' needs a value for N


@tilelang.jit
def unknown(N):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):  # error: an extent of the shape is not known without running the file: it comes from the command line
        with T.Kernel(1) as bx:
            A[0] = 1.0

    return main


unknown(args.n)


@tilelang.jit(out_idx=[2])
def out_of_range(N=8):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):  # error: out_idx 2 of a kernel with 1 parameters
        with T.Kernel(1) as bx:
            A[0] = 1.0

    return main


@tilelang.jit
def no_kernel(N=8):  # error: 'no_kernel' returns an integer, not a @T.prim_func
    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):
        with T.Kernel(1) as bx:
            A[0] = 1.0

    return 5


@tilelang.jit
def raises(N=8):
    if N < 16:
        raise ValueError("N is too small")  # error: the program raises: N is too small

    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):
        with T.Kernel(1) as bx:
            A[0] = 1.0

    return main


@tilelang.jit
def endless(N=8):
    while N > 0:  # error: the evaluation takes more than 2000000 steps; --bound steps=N allows more
        N = N + 0

    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):
        with T.Kernel(1) as bx:
            A[0] = 1.0

    return main


@tilelang.jit
def eager(A, N: int = 8):  # error: 'eager' needs a value for A
    with T.Kernel(1) as bx:
        A[0] = 1.0
