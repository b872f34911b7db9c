# Names that are not there any more, and what may not be assigned.
# test: eval
import tilelang.language as T


@T.prim_func
def bound_in_if(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(1, threads=32) as bx:
        if n > 2:
            y = A[1]
        A[2] = y  # error: 'y' was bound inside a run-time block
        for i in T.serial(4):
            z = A[i]
        A[3] = z  # error: 'z' was bound inside a run-time block
        k = T.alloc_var("int32", 0)
        while k < 4:
            w = A[k]
            k += 1
        A[4] = w  # error: 'w' was bound inside a run-time block


@T.prim_func
def carried(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32) as bx:
        x = A[0]
        for i in T.serial(4):
            x = x + A[i]  # error: 'x' would carry a value from one iteration


@T.prim_func
def whole(A: T.Tensor((64,), "int32"), B: T.Tensor((4, 4), "int32")):
    with T.Kernel(1, threads=32) as bx:
        A += 1  # error: an augmented assignment to a whole buffer
        A[0] = B[1]  # error: 'B' has 2 dimensions, the subscript has 1
        A[0, 0] = 1  # error: 'A' has 1 dimensions, the subscript has 2
