# A buffer that is read before anything writes it is a warning (compared by eval_test); in which order that is asked
# depends on who shares it.
# test: eval
import tilelang.language as T

N = 16


@T.prim_func
def never_written(C: T.Tensor((N, N), "float32")):
    with T.Kernel(N, threads=64) as bx:
        s = T.alloc_shared((N,), "float32")
        acc = T.alloc_local((1,), "float32")
        for i in T.Parallel(N):
            C[bx, i] = s[i]  # warning: 's' is read and never written
        C[bx, 0] = acc[0]  # warning: 'acc' is read and never written


@T.prim_func
def accumulators(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        a = T.alloc_shared((64, 64), "float16")
        b = T.alloc_shared((64, 64), "float16")
        stale = T.alloc_fragment((64, 64), "float32")
        cleared = T.alloc_fragment((64, 64), "float32")
        filled = T.alloc_fragment((64, 64), "float32")
        first = T.alloc_fragment((64, 64), "float32")
        rows = T.alloc_fragment((64,), "float32")
        T.copy(A, a)
        T.copy(A, b)
        T.gemm(a, b, stale)  # warning: 'stale' is added to before anything writes it
        T.gemm(a, b, cleared, clear_accum=True)
        T.clear(filled)
        T.gemm(a, b, filled)
        for k in T.Pipelined(2, num_stages=1):
            T.gemm(a, b, first, clear_accum=(k == 0))
        T.reduce_sum(first, rows, dim=1, clear=False)  # warning: 'rows' is added to before anything writes it
        T.copy(stale, C)
        T.copy(cleared, C)
        T.copy(filled, C)


# Per thread: the order of the statements. Between threads: whether anybody writes.
@T.prim_func
def orders(A: T.Tensor((N,), "float32"), C: T.Tensor((N, N), "float32")):
    with T.Kernel(N, threads=128) as bx:
        late = T.alloc_fragment((N,), "float32")
        carried = T.alloc_fragment((1,), "float32")
        branch = T.alloc_fragment((1,), "float32")
        for i in T.Parallel(N):
            C[bx, i] = late[i]  # warning: 'late' is read before anything writes it
        T.clear(late)
        for k in T.serial(N):
            C[bx, k] = carried[0]  # warning: 'carried' is read before anything writes it
            carried[0] = A[k]
        if bx > 0:
            branch[0] = 1.0
        C[bx, 0] = branch[0]
        s = T.alloc_shared((N,), "float32")
        tx = T.get_thread_binding()
        if tx < 64:
            for i in T.Parallel(N):
                C[bx, i] = s[i]
        else:
            T.copy(A, s)


# A store reads what it needs before it writes.
@T.prim_func
def itself(A: T.Tensor((N,), "int32"), C: T.Tensor((N,), "int32")):
    with T.Kernel(1, threads=64) as bx:
        alone = T.alloc_shared((N,), "int32")
        helped = T.alloc_shared((N,), "int32")
        kept = T.alloc_local((1,), "int32")
        started = T.alloc_local((1,), "int32")
        T.fill(helped, 0)
        started[0] = 0
        for i in T.Parallel(N):
            alone[i] = alone[i] + A[i]  # warning: 'alone' is read before anything writes it
            helped[i] = helped[i] + A[i]
        for i in T.serial(N):
            kept[0] = T.if_then_else(A[i] > 0, i, kept[0])  # warning: 'kept' is read before anything writes it
            started[0] = T.if_then_else(A[i] > 0, i, started[0])
        for i in T.Parallel(N):
            C[i] = alone[i] + helped[i] + kept[0] + started[0]


# Whoever gets the address may write.
@T.prim_func
def handed_over(C: T.Tensor((N,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        s = T.alloc_shared((N,), "float32")
        T.call_extern("handle", "fill_it", T.address_of(s[0]))
        for i in T.Parallel(N):
            C[i] = s[i]
