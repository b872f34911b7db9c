# Errors do not stop at the first one of a kernel: what follows from an unknown name is not said again, near names are
# proposed, and the calls that led to an error are its notes.
# test: eval
import tilelang
import tilelang.language as T


def padded(n):
    return n + missing  # error: name 'missing' is not defined


@T.macro
def fill_all(buffer, value):
    T.fil(buffer, value)  # error: tilelang.language has no name 'fil', did you mean 'fill'?


@tilelang.jit
def many(N=128):
    size = padded(N)

    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float23")):  # error: 'float23' is no element type, did you mean 'float32'?
        with T.Kernel(1) as bx:
            A[0] = 1.0

    return main


@tilelang.jit
def body(N=128):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            shared = T.alloc_shard((N,), "float32")  # error: tilelang.language has no name 'alloc_shard', did you mean 'alloc_shared'?
            T.copy(A, shared)
            for i in T.Parallel(N):
                A[i] = shared[i] + 1.0
            fragment = T.alloc_fragment((N,), "float32")
            fill_all(fragment, 0)
            T.copy(src=A, dest=fragment)  # error: T.copy has no parameter 'dest', did you mean 'dst'?

    return main
