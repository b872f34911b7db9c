# Values of run-time blocks that lists, dicts and attributes carry out, and variables that an assignment would lose.
# test: eval
import tilelang.language as T


class State:
    pass


@T.prim_func
def through_list(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32):
        sums = [A[0]]
        for i in T.serial(3):
            sums[0] = sums[0] + A[i]
        A[1] = sums[0]  # error: a value of a run-time block is used after the block


@T.prim_func
def through_dict(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32):
        found = {}
        with T.ws(0):
            found["a"] = A[1] + 1
        A[1] = found["a"]  # error: a value of a run-time block is used after the block


@T.prim_func
def through_attribute(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32):
        state = State()
        if A[0] > 1:
            state.x = A[2] + 1
        A[1] = state.x  # error: a value of a run-time block is used after the block


@T.prim_func
def buffer_of_a_loop(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32):
        buffers = []
        for i in T.serial(3):
            buffers.append(T.alloc_local((4,), "int32"))
        buffers[0][0] = 1  # error: a value of a run-time block is used after the block


@T.prim_func
def lost_variables(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32):
        state = State()
        state.count = T.alloc_var("int32", init=0)
        counts = [T.alloc_var("int32", init=0) for _ in range(2)]
        state.count += 1  # error: the variable that it has is not stored to
        counts[1] = counts[1] + A[0]  # error: the variable that it has is not stored to
        state.count[0] += 1
        A[0] = counts[0] + state.count
