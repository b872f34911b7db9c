# test: eval
# test: roundtrip
# TVM's names for expressions and statements; breaks and returns that are calls; statements of a pipeline in groups.
# CHECK-LABEL: func @nodes
# CHECK: %[[IN:[0-9]+]] = lt %t, %c40{{[_0-9]*}} : b1
# CHECK: %[[BOTH:[0-9]+]] = logical_and %[[IN]], %{{[0-9]+}} : b1
# CHECK: if %[[BOTH]]
# CHECK: %[[SUM:[0-9]+]] = add %{{[0-9]+}}, %{{[a-z0-9_]+}} : f32
# CHECK-NEXT: store %B, %t, %[[SUM]]
# CHECK-NEXT: } else {
# CHECK: store %B, %t,
# CHECK: ws {lo=50, hi=64}
# CHECK-NEXT: thread_return
# CHECK: store %B, %t,
import functools

import tilelang.language as T


@T.prim_func
def nodes(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        t = T.get_thread_binding()
        with T.If(T.And(T.LT(t, 40), T.Not(T.EQ(t % 2, 1)))):
            with T.Then():
                B[t] = T.Add(A[t], 1.0)
            with T.Else():
                B[t] = 0.0
        with T.If(T.Or(64 > 32, t > 3)), T.Then():
            B[t] = A[t]
        with T.If(64 > 128), T.Then():
            B[t] = 7.0
        if t >= 50:
            T.thread_return()
        B[t] = 2.0


# CHECK-LABEL: func @calls
# CHECK: for %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} {kind="pipelined", num_stages=2, {{.*}}group="[[0], [1, 2]]"}
# CHECK: layout %s {kind="layout"}
# CHECK: break
@T.prim_func
def calls(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1, threads=64):
        s = T.alloc_shared((64, 64), "float16")
        n = T.alloc_var(T.int32, init=4)
        for k in T.Pipelined(4, num_stages=2, group=[[0], [1, 2]]):
            T.copy(A, s)
        T.annotate_layout({s: T.Layout(s.shape, functools.partial(lambda i, j, width: i * width + j, width=64))})
        for i in T.serial(8):
            if n <= 0:
                T.loop_break()
            n -= 1
            T.fill(s, 0)


# A new value inside a branch of a loop: what the next iteration reads is the one of before the loop.
# CHECK-LABEL: func @branch
# CHECK: %anchor = load %A, %c0
# CHECK: store %B, %s, %anchor
# CHECK: %anchor_1 = load %A, %s
@T.prim_func
def branch(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        anchor = A[0]
        for s in T.serial(4):
            if s > 2:
                B[s] = anchor
            else:
                anchor = A[s]
                B[s + 8] = anchor
