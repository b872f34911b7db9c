# What a kernel can ask of the machine beyond tiles: pointers, the bits of its own arrays, vectors, exchanges, clusters,
# random numbers.
import tilelang.language as T


@T.prim_func
def through_pointers(
    tables: T.Tensor((3, 2), T.ptr), rows: T.Tensor((3,), "int32"), C: T.Tensor((3, 8, 32), "float32")
):
    with T.Kernel(3, threads=64) as bx:
        a = T.make_tensor(tables[bx, 0], (8, 16), "float16")
        b = T.make_tensor(tables[bx, 1], (16, 32), "float16")
        x = T.alloc_shared((8, 16), "float16")
        y = T.alloc_shared((16, 32), "float16")
        c = T.alloc_fragment((8, 32), "float32")
        T.copy(a, x)
        T.copy(b, y)
        T.gemm(x, y, c, clear_accum=True)
        for i, j in T.Parallel(8, 32):
            if i < rows[bx]:
                C[bx, i, j] = c[i, j]


@T.prim_func
def bits_of_own_arrays(X: T.Tensor((64,), "float32"), Y: T.Tensor((64, 4), "uint8"), Z: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        t = T.get_thread_binding()
        own = T.alloc_local((2,), "float32")
        octets = T.view(own, (2, 4), "uint8")
        own[0] = X[t]
        own[1] = 0.0
        for i in T.serial(4):
            Y[t, i] = octets[0, i]
        octets[1, 3] = 0x40
        Z[t] = own[1] + T.cast(t, "float32")


@T.prim_func
def slices_as_views(X: T.Tensor((4, 3, 8), "float16"), Y: T.Tensor((2, 4), "float32")):
    with T.Kernel(2, threads=32) as bx:
        t = T.get_thread_binding()
        part = T.view(X[1 + bx, 2, :], (4,), "float32")
        if t < 4:
            Y[bx, t] = part[t]


@T.prim_func
def vectors(A: T.Tensor((32, 8), "float16"), B: T.Tensor((32, 8), "float16"), P: T.Tensor((64,), "float32x2"), Q: T.Tensor((32,), "float32x2")):
    with T.Kernel(1, threads=32) as bx:
        t = T.get_thread_binding()
        T.stg128(B[t, 0], T.ldg128(A[t, 0]))
        Q[t] = T.fma2(P[2 * t], P[2 * t + 1], T.add2(P[t], T.broadcast(0.5, 2)))


@T.prim_func
def sums_over_columns(X: T.Tensor((8, 4), "float32"), Y: T.Tensor((8, 4), "float32")):
    with T.Kernel(1, threads=(8, 4)) as bx:
        t = T.get_thread_binding(0)
        k = T.get_thread_binding(1)
        acc = T.alloc_local((1,), "float32")
        with T.attr(T.comm_reducer(lambda p, q: p + q, [0.0]), "reduce_scope", T.reinterpret(T.uint64(0), dtype="handle")):
            T.evaluate(T.tvm_thread_allreduce(T.uint32(1), X[t, k], True, acc[0], k, dtype="handle"))
        Y[t, k] = acc[0]


@T.prim_func
def neighbours(X: T.Tensor((4, 32), "float32"), Y: T.Tensor((4, 32), "float32")):
    with T.ClusterKernel(4, threads=32, cluster_dims=4) as bx:
        t = T.get_thread_binding()
        mine = T.alloc_shared((32,), "float32")
        theirs = T.alloc_shared((32,), "float32")
        mine[t] = X[bx, t]
        T.cluster_arrive()
        Y[bx, t] = 0.0
        T.cluster_wait()
        T.copy_cluster(mine, theirs, dst_block=(T.block_rank_in_cluster() + 1) % 4)
        T.cluster_sync()
        Y[bx, t] = theirs[t]


@T.prim_func
def launch_control(count: T.Tensor((12,), "int32"), owner: T.Tensor((12,), "int32")):
    with T.Kernel(12, threads=32) as bx:
        t = T.get_thread_binding()
        result = T.alloc_shared((4,), "uint32")
        answered = T.alloc_barrier([1])
        tile = T.alloc_var("int32")
        valid = T.alloc_var("int32")
        tile = bx
        valid = 1
        turn = T.alloc_var("int32")
        turn = 0
        while valid == 1:
            if t == 0:
                T.atomic_add(count[tile], 1)
                owner[tile] = bx
                T.mbarrier_arrive_expect_tx(answered, 16)
                T.clc_try_cancel(result, answered)
            T.mbarrier_wait_parity(answered, turn & 1)
            valid = T.clc_is_canceled(result)
            tile = T.cast(T.clc_get_first_ctaid_x(result), "int32")
            turn = turn + 1
            T.sync_threads()


@T.prim_func
def random_numbers(U: T.Tensor((32, 4), "float32"), V: T.Tensor((32, 6), "float32"), W: T.Tensor((32, 4), "float64")):
    with T.Kernel(1, threads=32) as bx:
        t = T.get_thread_binding()
        T.rng_init(1234, t, 3)
        for i in T.serial(4):
            U[t, i] = T.rng_rand_float()
        for i in T.serial(6):
            V[t, i] = T.rng_rand_float(dist="normal")
        for i in T.serial(4):
            W[t, i] = T.rng_rand_float(bit=64, dist="normal")


@T.prim_func
def roundings(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32"), up: T.Tensor((64,), "float32"), down: T.Tensor((64,), "float32"), cut: T.Tensor((64,), "float16"), whole: T.Tensor((64,), "int32"), chance: T.Tensor((64,), "bfloat16")):
    with T.Kernel(1, threads=64) as bx:
        t = T.get_thread_binding()
        up[t] = T.ieee_mul(X[t], Y[t], "ru")
        down[t] = T.ieee_add(X[t], Y[t], "rd")
        cut[t] = T.cast(X[t], "float16", round="rz")
        whole[t] = T.cast(X[t], "int32", round="ra")
        chance[t] = T.cast(X[t], "bfloat16", round="rs", rbits=T.cast(t * 1000, "uint32"))
