# What an eager kernel may not do.
# test: eval
import tilelang
import tilelang.language as T
import torch


@tilelang.jit
def not_a_dimension(A):
    M, N = T.const("M, N")
    A: T.Tensor((M, N * 2), "float16")
    with T.Kernel(1, threads=32) as bx:
        A[0, 0] = 1


not_a_dimension(torch.empty(4, 8, dtype=torch.float16))  # error: needs a value for N of T.const


@tilelang.jit
def not_returned(A):
    M = T.const("M")
    A: T.Tensor((M,), "float16")
    B = T.empty((M,), "float16")
    C = T.empty((M,), "float16")  # error: 'C' of T.empty is not returned
    with T.Kernel(1, threads=32) as bx:
        B[0] = A[0]
        C[0] = A[0]
    return B


not_returned(torch.empty(4, dtype=torch.float16))


@tilelang.jit(out_idx=[-1])
def out_idx(A):  # error: out_idx with an eager kernel
    M = T.const("M")
    A: T.Tensor((M,), "float16")
    with T.Kernel(1, threads=32) as bx:
        A[0] = 1


out_idx(torch.empty(4, dtype=torch.float16))


@tilelang.jit
def other_type(A):
    M = T.const("M")
    A: T.Tensor((M,), "float16")
    with T.Kernel(1, threads=32) as bx:
        A[0] = 1


other_type(torch.empty(4, 4, dtype=torch.float16))  # error: 'A' of 'other_type' has 1 dimensions, the tensor of this call 2
