# Layouts that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def layouts(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        f = T.alloc_fragment((64, 64), "float16")
        rows = T.Layout((64, 64), lambda i, j: i * 64 + j)
        twice = rows.repeat(0, 2)  # error: unsupported: 'repeat' of a layout
        T.annotate_layout({f: rows})  # error: has to be a T.Fragment
        T.annotate_layout({s: 64})  # error: a layout has to be a T.Layout, a T.Fragment or a function
        T.annotate_layout(rows)  # error: takes a dict
        T.annotate_layout({s: T.Fragment((64, 64))})  # error: needs forward_fn or forward_thread_fn
        for i, j in T.Parallel(64, 64, loop_layout=rows):  # error: a loop_layout has to be a T.Fragment
            s[i, j] = 0
