# Reductions, scans and reducers: defaults and what they may be told.
# test: eval
# test: roundtrip
import tilelang.language as T


# CHECK-LABEL: func @reductions
@T.prim_func
def reductions(A: T.Tensor((32, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        x = T.alloc_fragment((32, 64), "float32")
        rows = T.alloc_fragment((32,), "float32")
        kept = T.alloc_fragment((32, 1), "float32")
        b = T.alloc_fragment((32, 64), "int32")
        w = T.alloc_fragment((32,), "int32")
        T.copy(A, x)
        # The last dimension, and what was there is overwritten.
        # CHECK: reduce %x, %rows {op="sum", dim=1, clear=1}
        T.reduce_sum(x, rows)
        # CHECK: reduce %x, %kept {op="max", dim=1, clear=0}
        T.reduce_max(x, kept, dim=1, clear=False)
        # CHECK: reduce %x, %rows {op="min", dim=1, clear=1, batch=2}
        T.reduce_min(x, rows, -1, True, 2)
        # CHECK: reduce %x, %rows {op="absmax", dim=1, clear=1, nan_propagate=1}
        T.reduce_absmax(x, rows, dim=1, nan_propagate=True)
        # CHECK: reduce %x, %rows {op="abssum", dim=1, clear=1}
        T.reduce_abssum(x, rows, 1)
        # CHECK: reduce %b, %w {op="bitand", dim=1, clear=1}
        T.reduce_bitand(b, w)
        # CHECK: reduce %b, %w {op="bitor", dim=1, clear=0}
        T.reduce_bitor(b, w, dim=1, clear=False)
        # CHECK: reduce %b, %w {op="bitxor", dim=1, clear=1}
        T.reduce_bitxor(b, w)
        # Inclusive, from the front, along dimension 0, in place.
        # CHECK: %x_scan = alloc : shared f32[32, 64]
        # CHECK: copy %x, %x_scan
        # CHECK: scan %x_scan, %x_scan {op="sum", dim=0, reverse=0}
        # CHECK: copy %x_scan, %x
        T.cumsum(x)
        # CHECK: %x_scan_1 = alloc : shared f32[32, 64]
        # CHECK: copy %x, %x_scan_1
        # CHECK: scan %x_scan_1, %x_scan_1 {op="sum", dim=1, reverse=1}
        # CHECK: copy %x_scan_1, %x
        T.cumsum(x, x, dim=1, reverse=True)
        # CHECK: %x_scan_2 = alloc : shared f32[32, 64]
        # CHECK: copy %x, %x_scan_2
        # CHECK: scan %x_scan_2, %x_scan_2 {op="max", dim=1, reverse=0}
        # CHECK: copy %x_scan_2, %x
        T.cummax(x, dim=1)


# CHECK-LABEL: func @reducers
@T.prim_func
def reducers(A: T.Tensor((32, 64), "float32"), B: T.Tensor((32,), "float32")):
    with T.Kernel(1, threads=128) as bx:
        x = T.alloc_fragment((32, 64), "float32")
        out = T.alloc_fragment((32,), "float32")
        T.copy(A, x)
        # A handle: begun, updated once an iteration, finished into a fragment.
        r = T.alloc_reducer((32,), "float32", op="max")
        # CHECK: reducer_init %r
        T.reducer_init(r)
        for i, j in T.Parallel(32, 64):
            # CHECK: %[[V1:[0-9]+]] = load %x, %i, %j : f32
            # CHECK: reducer_update %r, %i, %[[V1]]
            T.reducer_update(r[i], x[i, j])
        # CHECK: reducer_finalize %r, %out
        T.finalize_reducer(r, out)
        # The older form is a fragment that is written directly.
        # CHECK: %old = alloc {reducer="sum", replication="all"} : fragment f32[32]
        old = T.alloc_reducer((32,), "float32", op="sum", replication="all")
        # CHECK: fill %old, %{{[0-9]+}}
        T.clear(old)
        for i, j in T.Parallel(32, 64):
            # CHECK: %[[V2:[0-9]+]] = load %old, %i_1 : f32
            # CHECK: %[[V3:[0-9]+]] = load %x, %i_1, %j_1 : f32
            # CHECK: %[[V4:[0-9]+]] = add %[[V2]], %[[V3]] : f32
            # CHECK: store %old, %i_1, %[[V4]]
            old[i] += x[i, j]
        # CHECK: reducer_finalize %old
        T.finalize_reducer(old)
        T.copy(old, B)
