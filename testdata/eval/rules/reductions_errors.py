# Reductions that are refused.
# test: eval
import tilelang.language as T


@T.prim_func
def reductions(A: T.Tensor((32, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        x = T.alloc_fragment((32, 64), "float32")
        rows = T.alloc_fragment((32,), "float32")
        columns = T.alloc_fragment((64,), "float32")
        r = T.alloc_reducer((32,), "float32", op="max")
        T.reduce_sum(x, columns, dim=1)  # error: 32
        T.reduce_sum(x, rows, dim=2)  # error: dimension
        T.reduce_abssum(x, rows, clear=False)  # error: no parameter 'clear'
        T.reduce_bitand(x, rows)  # error: integer
        T.reduce_max(x)  # error: needs 'out'
        T.cumsum(x, dim=2)  # error: dimension
        T.reducer_update(rows[0], 1.0)  # error: reducer
        T.finalize_reducer(x)  # error: reducer
        T.reduce_sum(x, rows, batch=0)  # error: batch
