# Products with scales for blocks of K, of pairs of CTAs, and with 2:4 sparse operands.
import tilelang.language as T


def scaled_tensor_memory(M, N, K, granularity, dtype_a, dtype_b):
    words = (K // granularity + 3) // 4

    @T.prim_func
    def tensor_memory(
        A: T.Tensor((M, K), dtype_a),
        B: T.Tensor((N, K), dtype_b),
        SA: T.Tensor((words * M,), "uint32"),
        SB: T.Tensor((words * N,), "uint32"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, 128), dtype_a)
            b = T.alloc_shared((N, 128), dtype_b)
            sa = T.alloc_shared((M,), "uint32")
            sb = T.alloc_shared((N,), "uint32")
            ta = T.alloc_tmem([128, 4], "uint32")
            tb = T.alloc_tmem([128, 8], "uint32")
            c = T.alloc_tmem([M, N], "float32")
            out = T.alloc_fragment((M, N), "float32")
            done = T.alloc_barrier([1])
            tx = T.get_thread_binding()
            for k in T.serial(K // 128):
                T.copy(A[0, k * 128], a)
                T.copy(B[0, k * 128], b)
                word = k * 128 // granularity // 4
                T.copy(SA[word * M : (word + 1) * M], sa)
                T.copy(SB[word * N : (word + 1) * N], sb)
                T.sync_threads()
                if tx < 32:
                    T.tcgen05_sf_warp_transpose(sa)
                    T.tcgen05_sf_warp_transpose(sb)
                    T.fence_proxy_async()
                    T.tcgen05_cp_warpx4(sa, ta)
                    T.tcgen05_cp_warpx4(sb, tb)
                    T.tcgen05_gemm_blockscaled(
                        a, b, c, ta, tb, transpose_B=True, mbar=done[0], clear_accum=k == 0, k_start=k * 128,
                        sf_a_granularity_k=granularity, sf_b_granularity_k=granularity,
                    )
                T.mbarrier_wait_parity(done[0], k & 1)
            T.copy(c, out)
            T.copy(out, C)

    return tensor_memory


def scaled_registers(M, N, K, layout):
    @T.prim_func
    def registers(
        A: T.Tensor((M, K), "float4_e2m1fn"),
        B: T.Tensor((N, K), "float4_e2m1fn"),
        SA: T.Tensor((M, K // 64), "uint32"),
        SB: T.Tensor((N, K // 64), "uint32"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, K), "float4_e2m1fn")
            b = T.alloc_shared((N, K), "float4_e2m1fn")
            sa = T.alloc_shared((M, K // 64), "uint32")
            sb = T.alloc_shared((N, K // 64), "uint32")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.copy(SA, sa)
            T.copy(SB, sb)
            T.mma_gemm_blockscaled(
                a, b, c, sa, sb, transpose_B=True, clear_accum=True, k_start=0, sf_a_granularity_k=16,
                sf_b_granularity_k=16, sf_layout=layout,
            )
            T.copy(c, C)

    return registers


def pair_of_ctas(M, N, K):
    @T.prim_func
    def pair(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.ClusterKernel(M // 64, threads=128, cluster_dims=2) as bx:
            a = T.alloc_shared((64, K), "float16")
            b = T.alloc_shared((K, N // 2), "float16")
            c = T.alloc_tmem([64, N], "float32")
            out = T.alloc_fragment((64, N), "float32")
            loaded = T.alloc_cluster_barrier([64])
            done = T.alloc_cluster_barrier([1])
            tx = T.get_thread_binding()
            rank = T.block_rank_in_cluster()
            if tx < 32:
                T.tma_copy(A[bx * 64, 0], a, barrier=loaded[0])
                T.tma_copy(B[0, rank * (N // 2)], b, barrier=loaded[0])
                T.mbarrier_arrive(loaded[0], 0)
            elif rank == 0 and tx < 64:
                T.mbarrier_wait_parity(loaded[0], 0)
                T.tcgen05_gemm(a, b, c, mbar=done[0], clear_accum=True, use_2cta=True)
            T.mbarrier_wait_parity(done[0], 0)
            T.copy(c, out)
            T.copy(out, C[bx * 64, 0])

    return pair


def sparse_product(M, N, K, dtype, meta, per, transpose_e):
    meta_shape = (K // per, M) if transpose_e else (M, K // per)

    @T.prim_func
    def sparse(
        A: T.Tensor((M, K // 2), dtype),
        E: T.Tensor(meta_shape, meta),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), "int32" if dtype == "int8" else "float32"),
    ):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((M, K // 2), dtype)
            e = T.alloc_shared(meta_shape, meta)
            b = T.alloc_shared((K, N), dtype)
            c = T.alloc_fragment((M, N), "int32" if dtype == "int8" else "float32")
            T.copy(A, a)
            T.copy(E, e)
            T.copy(B, b)
            T.gemm_sp(a, e, b, c, transpose_E=transpose_e, clear_accum=True)
            T.copy(c, C)

    return sparse


tensor_memory_32 = scaled_tensor_memory(128, 256, 256, 32, "float8_e4m3fn", "float8_e5m2")
tensor_memory_128 = scaled_tensor_memory(128, 128, 512, 128, "float8_e4m3fn", "float8_e4m3fn")
by_rows = scaled_registers(64, 96, 192, "rowmajor")
in_chunks = scaled_registers(64, 96, 192, "blockscaled_chunk_kmajor")
pair = pair_of_ctas(256, 64, 48)
halves = sparse_product(48, 40, 128, "float16", "int16", 16, False)
halves_turned = sparse_product(48, 40, 128, "float16", "int32", 32, True)
bytes_ = sparse_product(32, 24, 128, "int8", "int32", 32, False)
words = sparse_product(32, 24, 64, "float32", "int16", 8, False)
