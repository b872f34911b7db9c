# Each kernel's first error, on the line that causes it.
# test: eval
import tilelang.language as T


def helper(x):
    if x > 0:  # error: a condition known at run time only, in a plain Python function
        return 1
    return 2


@T.prim_func
def typo(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        T.copi(A, A)  # error: tilelang.language has no name 'copi'


@T.prim_func
def later(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        T.create_barriers(1)  # error: unsupported: T.create_barriers


@T.prim_func
def unknown_name(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        T.copy(A, s)  # error: name 's' is not defined


@T.prim_func
def keyword(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        T.copy(A, A, disable_tme=True)  # error: T.copy has no parameter 'disable_tme'


@T.prim_func
def argument(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        T.copy(A, A, loop_layout=3)  # error: a loop_layout has to be a T.Fragment, not an integer


@T.prim_func
def rank(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        A[0] = 1.0  # error: 'A' has 2 dimensions, the subscript has 1


@T.prim_func
def shape(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((8, 8), "float32")
        T.copy(s, A[0:8, 0:4])  # error: the source of the copy has 8 x 8 elements, the destination 8 x 4
        T.copy(A[0:8, 0], s)  # error: the source of the copy has 8 elements, the destination 8 x 8
        T.copy(A[0:16, 0:8], s)  # error: the source of the copy has 16 x 8 elements, the destination 8 x 8


@T.prim_func
def no_slice(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        A[0:4, 0:4] = 1.0  # error: unsupported: a slice of more than one dimension
        A[0, 0:3] = A[0, 0:4]  # error: 4 values for a slice of 3 elements
        v = T.alloc_local((4,), "float32x2")
        v[0:2] = 1.0
        A[0, 0:2] = v[0:2]  # error: a vector of 2 lanes for an element of 1


@T.prim_func
def slice_step(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        T.copy(A[0:64:2, 0:8], A[0:32, 0:8])  # error: unsupported: a slice with a step


@T.prim_func
def step(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        T.copy(A[0:8:2, 0:8], A[0:4, 0:8])  # error: unsupported: a slice with a step


@T.prim_func
def zero_count(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        b = T.alloc_barrier(0)  # error: an arrive count of 0


@T.prim_func
def no_barrier(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        T.barrier_arrive(A)  # error: the barrier has to come from T.alloc_barrier


@T.prim_func
def tma_needs_barrier(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((64, 64), "float32")
        T.tma_copy(A, s)  # error: T.tma_copy of a load needs barrier=


@T.prim_func
def gemm_memory(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        T.gemm(A, A, A)  # error: A of T.gemm is global f32[64, 64]


@T.prim_func
def gemm_shape(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        a = T.alloc_shared((64, 32), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.gemm(a, a, c)  # error: N of T.gemm differs: 32 and 64


@T.prim_func
def division(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        A[bx // 0, 0] = 1.0  # error: division by zero


@T.prim_func
def int_division(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        A[0, 0] = bx / bx  # error: operator / does not take int32 and int32: // is the integer division


@T.prim_func
def dtype(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((8,), "float61")  # error: 'float61' is no element type


@T.prim_func
def dtype_later(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((8,), "float16x3x4")  # error: 'float16x3x4' is no element type


@T.prim_func
def empty_shape(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        s = T.alloc_shared((8, 0), "float16")  # error: an extent of the shape is 0


@T.prim_func
def nested_launch(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        with T.Kernel(1) as by:  # error: a launch inside a launch
            A[0, 0] = 1.0


@T.prim_func
def wrong_warpgroup(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        with T.ws(1):  # error: threads 128..255 do not come here: threads 0..127 do
            A[0, 0] = 1.0


@T.prim_func
def list_loop(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        for i in [1, 2]:  # error: a loop of a kernel runs over
            A[i, 0] = 1.0


@T.prim_func
def overflow(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        A[0, 0] = 2 ** 63  # error: the integer does not fit 64 bits


@T.prim_func
def lists(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        A[0, 0] = [1][3]  # error: index 3 of 1 items


@T.prim_func
def branch_in_helper(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        helper(bx)


@T.prim_func
def gone(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        for i in range(4):
            x = i + 1
        A[x, 0] = 1.0  # error: 'x' was bound inside a run-time block


@T.prim_func
def carried(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        x = 0
        for i in range(4):
            A[x, 0] = 1.0
            x = x + i  # error: 'x' would carry a value from one iteration


@T.prim_func
def no_launch(A: T.Tensor((8,), "float32")):  # error: 'no_launch' launches no kernel
    pass


@T.prim_func
def untyped(A):  # error: parameter 'A' of a prim_func needs a type
    pass
