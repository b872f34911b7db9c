# The check for races in parallel loops, which a pass config asks for: two iterations that write one element with
# different values, a warning (compared by eval_test). What is fine comes first.
# test: eval
import tilelang
import tilelang.language as T

CHECKED = {"tl.disable_data_race_check": False}
N = 32


@tilelang.jit(pass_configs=CHECKED)
def fine(M=8):
    @T.prim_func
    def main(A: T.Tensor((N, N), "int32"), B: T.Tensor((N * N,), "int32"), n: T.int32):
        with T.Kernel(4, threads=128) as bx:
            f = T.alloc_fragment((N, N), "int32")
            for i, j in T.Parallel(N, N):
                A[i, j] = i
                A[j, i] = i
                f[i, j] = j
                B[i * N + j] = i
                B[(i * N + j) ^ 5] = i
                B[n + i + j * N] = i + j
                A[0, 0] = 1
                A[bx, 0] = bx
                if i == j:
                    A[i, 0] = j
                if (i == 3) and (j == 4):
                    A[0, 0] = i + j
            for i in T.Parallel(N):
                for j in T.serial(4):
                    B[i * 4 + j] = i
                B[i] = T.if_then_else(i < 4, i, 0)
            for i in T.serial(N):
                B[0] = i

    return main


@tilelang.jit(pass_configs=CHECKED)
def same_element(M=8):
    @T.prim_func
    def main(B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            for i in T.Parallel(N):
                B[0] = i  # warning: iterations 0 and 1 of a parallel loop write the same element of 'B'

    return main


@tilelang.jit(pass_configs=CHECKED)
def halves(M=8):
    @T.prim_func
    def main(B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            for i in T.Parallel(N):
                B[i // 2] = i  # warning: iterations 0 and 1 of a parallel loop write the same element of 'B'

    return main


@tilelang.jit(pass_configs=CHECKED)
def diagonals(M=8):
    @T.prim_func
    def main(B: T.Tensor((2 * N,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            for i, j in T.Parallel(N, N):
                B[i + j] = i  # warning: iterations (0, 1) and (1, 0) of a parallel loop write the same element of 'B'

    return main


@tilelang.jit(pass_configs=CHECKED)
def overlapping(M=8):
    @T.prim_func
    def main(B: T.Tensor((2 * N,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            for i in T.Parallel(N):
                for j in T.serial(4):
                    B[i + j] = i  # warning: iterations 0 and 1 of a parallel loop write the same element of 'B'

    return main


@tilelang.jit(pass_configs=CHECKED)
def scattered(M=8):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            for i in T.Parallel(N):
                B[A[i]] = i  # warning: iterations 0 and 1 of a parallel loop write the same element of 'B'

    return main


@tilelang.jit(pass_configs=CHECKED)
def read_values(M=8):
    @T.prim_func
    def main(A: T.Tensor((N,), "int32"), s: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            for i in T.Parallel(N):
                s[0] = A[i]  # warning: iterations 0 and 1 of a parallel loop write the same element of 's'

    return main


# Not asked: not looked at.
@tilelang.jit
def unasked(M=8):
    @T.prim_func
    def main(B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=128) as bx:
            for i in T.Parallel(N):
                B[0] = i

    return main
