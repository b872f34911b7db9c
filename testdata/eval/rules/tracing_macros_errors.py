# Where macros may not be called, and what they may not do.
# test: eval
import tilelang.language as T


@T.macro
def early(buffer, n):
    if n > 2:
        return 1  # error: return inside a run-time block
    buffer[0] = n


@T.macro
def positive(x):
    return x > 0


@T.macro
def one_argument(x: T.Ref):
    x = 1


@T.prim_func
def macros(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(1, threads=32) as bx:
        early(A, n)
        if n > 1 and positive(A[0]):  # error: the macro 'positive' in an operand
            A[1] = 1
        A[2] = 1 if positive(A[0]) else 2
        A[3] = positive(A[0]) if n > 2 else 3  # error: the macro 'positive' in an operand
        positive()  # error: needs a value for x
        one_argument(n)  # error: 'x' of 'one_argument' is a T.Ref
        one_argument(3)  # error: 'x' of 'one_argument' is a T.Ref
