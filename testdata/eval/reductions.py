# test: eval
# test: roundtrip
# CHECK-LABEL: func @reductions
# CHECK: launch %c1{{[_0-9]*}} {threads=128}{{.*}} |%bx: i32
# CHECK: %x = alloc : fragment f32[32, 64]
# CHECK: %row = alloc : fragment f32[32]
# CHECK: %kept = alloc : fragment f32[1, 64]
# CHECK: reduce %x, %row {op="sum", dim=1, clear=1}
# CHECK: reduce %x, %kept {op="max", dim=0, clear=0, nan_propagate=1}
# CHECK: reduce %x, %row {op="absmax", dim=1, clear=1}
# CHECK: reduce %x, %row {op="abssum", dim=1, clear=1}
# CHECK: %s = alloc : shared f32[32, 64]
# CHECK: %out = alloc : shared f32[32]
# CHECK: %s_frag = alloc : fragment f32[32, 64]
# CHECK: %out_frag = alloc : fragment f32[32]
# CHECK: copy %out, %out_frag
# CHECK: copy %s, %s_frag
# CHECK: reduce %s_frag, %out_frag {op="min", dim=1, clear=0}
# CHECK: copy %out_frag, %out
# CHECK: %bits = alloc : fragment i32[32, 64]
# CHECK: %word = alloc : fragment i32[32]
# CHECK: reduce %bits, %word {op="bitxor", dim=1, clear=1, batch=2}
# CHECK: reduce %x, %row {op="sum", dim=1, clear=1}
# CHECK: %one = alloc : local f32[8]
# CHECK: %total = alloc : local f32[1]
# CHECK: reduce %one, %total {op="sum", dim=0, clear=1}
# CHECK: scan %s, %s {op="sum", dim=1, reverse=1}
# CHECK: %x_scan = alloc : shared f32[32, 64]
# CHECK: copy %x, %x_scan
# CHECK: scan %x_scan, %x_scan {op="max", dim=0, reverse=0}
# CHECK: copy %x_scan, %x
# CHECK: call %{{[0-9]+}} {name="any_of"} : b1
# CHECK: %flag = alloc {scope="local.var"} : local b1[1]
# CHECK: store %flag, %c0{{[_0-9]*}}, %{{[0-9]+}}
# CHECK: %r = alloc {reducer="max"} : fragment f32[32]
# CHECK: reducer_init %r, %{{[0-9]+}}
# CHECK: parallel %c32{{[_0-9]*}}, %c64{{[_0-9]*}}{{.*}} |%i: i32, %j: i32
# CHECK: reducer_update %r, %i, %{{[0-9]+}}
# CHECK: reducer_finalize %r, %row
# A reduction works on fragments: a shared operand goes through one of its own. A result keeps the dimension as 1 or
# drops it; clear=False joins what was there.
import tilelang.language as T


@T.prim_func
def reductions(A: T.Tensor((32, 64), "float32"), n: T.Tensor((32,), "int32")):
    with T.Kernel(1) as bx:
        x = T.alloc_fragment((32, 64), "float32")
        row = T.alloc_fragment((32,), "float32")
        kept = T.alloc_fragment((1, 64), "float32")
        T.reduce_sum(x, row, dim=1)
        T.reduce_max(x, kept, dim=0, clear=False, nan_propagate=True)
        T.reduce_absmax(x, row)
        T.reduce_abssum(x, row, dim=-1)
        s = T.alloc_shared((32, 64), "float32")
        out = T.alloc_shared((32,), "float32")
        T.reduce_min(s, out, dim=1, clear=False)
        bits = T.alloc_fragment((32, 64), "int32")
        word = T.alloc_fragment((32,), "int32")
        T.reduce_bitxor(bits, word, batch=2)
        T.reduce(x, row, "sum", 1, True)
        one = T.alloc_local((8,), "float32")
        total = T.alloc_local((1,), "float32")
        T.reduce_sum(one, total, dim=0)
        T.cumsum(s, dim=1, reverse=True)
        T.cummax(x, x, dim=0)
        flag = T.alloc_var("bool", T.any_of(bits[0, 0:64]))
        r = T.alloc_reducer((32,), "float32", op="max")
        T.reducer_init(r, 0)
        for i, j in T.Parallel(32, 64):
            T.reducer_update(r[i], x[i, j])
        T.finalize_reducer(r, row)
