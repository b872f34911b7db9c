# Recurrences in chunks: linear attention with a running state, and the output of a selective state space model's chunk.
import tilelang
import tilelang.language as T


@tilelang.jit
def linear_attention(batch, length, heads, dim_k, dim_v, chunk=16, block_v=32):
    scale = 1.0 / dim_k**0.5

    @T.prim_func
    def main(
        Q: T.Tensor((batch, length, heads, dim_k), T.float16),
        K: T.Tensor((batch, length, heads, dim_k), T.float16),
        V: T.Tensor((batch, length, heads, dim_v), T.float16),
        O: T.Tensor((batch, length, heads, dim_v), T.float32),
        state: T.Tensor((batch, heads, dim_k, dim_v), T.float32),
    ):
        with T.Kernel(dim_v // block_v, batch * heads, threads=64) as (bv, bh):
            b = bh // heads
            h = bh % heads
            q = T.alloc_shared((chunk, dim_k), T.float16)
            k = T.alloc_shared((chunk, dim_k), T.float16)
            v = T.alloc_shared((chunk, block_v), T.float16)
            s = T.alloc_fragment((chunk, chunk), T.float32)
            s_shared = T.alloc_shared((chunk, chunk), T.float16)
            running = T.alloc_fragment((dim_k, block_v), T.float32)
            running_shared = T.alloc_shared((dim_k, block_v), T.float16)
            o = T.alloc_fragment((chunk, block_v), T.float32)
            T.clear(running)
            for n in T.Pipelined(0, T.ceildiv(length, chunk)):
                for i, j in T.Parallel(chunk, dim_k):
                    q[i, j] = Q[b, n * chunk + i, h, j] * scale
                T.copy(K[b, n * chunk : (n + 1) * chunk, h, :], k)
                T.copy(V[b, n * chunk : (n + 1) * chunk, h, bv * block_v : (bv + 1) * block_v], v)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(chunk, chunk):
                    s_shared[i, j] = T.if_then_else(i >= j, s[i, j], 0)
                T.gemm(s_shared, v, o, clear_accum=True)
                T.copy(running, running_shared)
                T.gemm(q, running_shared, o)
                T.gemm(k, v, running, transpose_A=True)
                T.copy(o, O[b, n * chunk : (n + 1) * chunk, h, bv * block_v : (bv + 1) * block_v])
            T.copy(running, state[b, h, :, bv * block_v : (bv + 1) * block_v])

    return main


@tilelang.jit
def chunk_scan(batch, length, heads, groups, head_dim, state_dim, chunk, block_m=16, block_n=16, block_k=16):
    chunks = T.ceildiv(length, chunk)
    log2e = 1.44269504

    @T.prim_func
    def main(
        CB: T.Tensor((batch, chunks, groups, chunk, chunk), T.float16),
        X: T.Tensor((batch, length, heads, head_dim), T.float16),
        dt: T.Tensor((batch, heads, chunks, chunk), T.float16),
        dA: T.Tensor((batch, heads, chunks, chunk), T.float16),
        C: T.Tensor((batch, length, groups, state_dim), T.float16),
        states: T.Tensor((batch, chunks, heads, head_dim, state_dim), T.float16),
        D: T.Tensor((heads,), T.float16),
        out: T.Tensor((batch, length, heads, head_dim), T.float32),
    ):
        with T.Kernel(heads, T.ceildiv(chunk, block_m) * T.ceildiv(head_dim, block_n), batch * chunks, threads=128) as (bz, bx, by):
            acc = T.alloc_fragment((block_m, block_n), T.float32)
            c = T.alloc_shared((block_m, state_dim), T.float16)
            prev = T.alloc_shared((block_n, state_dim), T.float16)
            cb = T.alloc_fragment((block_m, block_k), T.float32)
            cb_half = T.alloc_shared((block_m, block_k), T.float16)
            x = T.alloc_shared((block_k, block_n), T.float16)
            da_m = T.alloc_fragment((block_m,), T.float32)
            da_k = T.alloc_fragment((block_k,), T.float32)
            dt_k = T.alloc_fragment((block_k,), T.float32)
            n_blocks = T.ceildiv(head_dim, block_n)
            b = by % batch
            n = by // batch
            m0 = bx // n_blocks * block_m
            n0 = bx % n_blocks * block_n
            group = bz // (heads // groups)
            T.copy(dA[b, bz, n, m0 : m0 + block_m], da_m)
            T.copy(C[b, n * chunk + m0 : n * chunk + m0 + block_m, group, :], c)
            T.copy(states[b, n, bz, n0 : n0 + block_n, :], prev)
            T.gemm(c, prev, acc, transpose_B=True, clear_accum=True)
            for i, j in T.Parallel(block_m, block_n):
                acc[i, j] *= T.exp2(da_m[i] * log2e)
            for k in T.Pipelined(T.ceildiv(m0 + block_m, block_k), num_stages=1):
                T.copy(CB[b, n, group, m0 : m0 + block_m, k * block_k : (k + 1) * block_k], cb)
                T.copy(dA[b, bz, n, k * block_k : (k + 1) * block_k], da_k)
                T.copy(dt[b, bz, n, k * block_k : (k + 1) * block_k], dt_k)
                for i, j in T.Parallel(block_m, block_k):
                    cb[i, j] = cb[i, j] * T.exp2((da_m[i] - da_k[j]) * log2e) * dt_k[j]
                for i, j in T.Parallel(block_m, block_k):
                    cb[i, j] = T.if_then_else(m0 + i >= k * block_k + j, cb[i, j], 0)
                T.copy(cb, cb_half)
                T.copy(X[b, n * chunk + k * block_k : n * chunk + (k + 1) * block_k, bz, n0 : n0 + block_n], x)
                T.gemm(cb_half, x, acc)
            for i, j in T.Parallel(block_m, block_n):
                out[b, n * chunk + m0 + i, bz, n0 + j] = acc[i, j] + X[b, n * chunk + m0 + i, bz, n0 + j] * D[bz]

    return main


linear_attention(2, 64, 2, 32, 64)
chunk_scan(1, 64, 2, 1, 32, 16, 32)
