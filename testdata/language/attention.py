# Attention: forward (full, causal, fewer heads of keys, sequences of several lengths), backward, decoding in parts, and
# decoding with a compressed cache.
import tilelang
import tilelang.language as T
import torch


@tilelang.jit(out_idx=[3, 4])
def forward(batch, heads, kv_heads, rows, columns, dim, causal=False, block_m=32, block_n=32):
    scale = (1.0 / dim) ** 0.5 * 1.44269504
    group = heads // kv_heads

    @T.macro
    def scores(q, k, s, bx, step):
        if causal:
            for i, j in T.Parallel(block_m, block_n):
                s[i, j] = T.if_then_else(bx * block_m + i >= step * block_n + j, 0, -T.infinity(s.dtype))
        else:
            T.clear(s)
        T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)

    @T.prim_func
    def main(
        Q: T.Tensor((batch, rows, heads, dim), T.float16),
        K: T.Tensor((batch, columns, kv_heads, dim), T.float16),
        V: T.Tensor((batch, columns, kv_heads, dim), T.float16),
        O: T.Tensor((batch, rows, heads, dim), T.float16),
        lse: T.Tensor((batch, heads, rows), T.float32),
    ):
        with T.Kernel(T.ceildiv(rows, block_m), heads, batch, threads=128) as (bx, by, bz):
            q = T.alloc_shared([block_m, dim], T.float16)
            k = T.alloc_shared([block_n, dim], T.float16)
            v = T.alloc_shared([block_n, dim], T.float16)
            s = T.alloc_fragment([block_m, block_n], T.float32)
            p = T.alloc_fragment([block_m, block_n], T.float16)
            o = T.alloc_fragment([block_m, dim], T.float32)
            top = T.alloc_fragment([block_m], T.float32)
            before = T.alloc_fragment([block_m], T.float32)
            factor = T.alloc_fragment([block_m], T.float32)
            part = T.alloc_fragment([block_m], T.float32)
            total = T.alloc_fragment([block_m], T.float32)
            T.copy(Q[bz, bx * block_m : (bx + 1) * block_m, by, :], q)
            T.fill(o, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity(T.float32))
            steps = T.min(T.ceildiv(columns, block_n), T.ceildiv((bx + 1) * block_m, block_n)) if causal else T.ceildiv(columns, block_n)
            for step in T.Pipelined(steps, num_stages=2):
                T.copy(K[bz, step * block_n : (step + 1) * block_n, by // group, :], k)
                scores(q, k, s, bx, step)
                T.copy(top, before)
                T.fill(top, -T.infinity(T.float32))
                T.reduce_max(s, top, dim=1, clear=False)
                for i in T.Parallel(block_m):
                    top[i] = T.max(top[i], before[i])
                    factor[i] = T.exp2(before[i] * scale - top[i] * scale)
                for i, j in T.Parallel(block_m, block_n):
                    s[i, j] = T.exp2(s[i, j] * scale - top[i] * scale)
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(block_m):
                    total[i] = total[i] * factor[i] + part[i]
                T.copy(s, p)
                for i, j in T.Parallel(block_m, dim):
                    o[i, j] *= factor[i]
                T.copy(V[bz, step * block_n : (step + 1) * block_n, by // group, :], v)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_m, dim):
                o[i, j] /= total[i]
            T.copy(o, O[bz, bx * block_m : (bx + 1) * block_m, by, :])
            for i in T.Parallel(block_m):
                total[i] = T.log2(total[i]) + top[i] * scale
            T.copy(total, lse[bz, by, bx * block_m : (bx + 1) * block_m])

    return main


@tilelang.jit(out_idx=[4])
def varlen(total, sequences, longest, heads, dim, block_m=32, block_n=32):
    scale = (1.0 / dim) ** 0.5 * 1.44269504

    @T.prim_func
    def main(
        Q: T.Tensor([total, heads, dim], T.float16),
        K: T.Tensor([total, heads, dim], T.float16),
        V: T.Tensor([total, heads, dim], T.float16),
        starts: T.Tensor([sequences + 1], T.int32),
        O: T.Tensor([total, heads, dim], T.float16),
    ):
        with T.Kernel(T.ceildiv(longest, block_m), heads, sequences, threads=128) as (bx, by, bz):
            q = T.alloc_shared([block_m, dim], T.float16)
            k = T.alloc_shared([block_n, dim], T.float16)
            v = T.alloc_shared([block_n, dim], T.float16)
            s = T.alloc_fragment([block_m, block_n], T.float32)
            p = T.alloc_fragment([block_m, block_n], T.float16)
            o = T.alloc_fragment([block_m, dim], T.float32)
            top = T.alloc_fragment([block_m], T.float32)
            before = T.alloc_fragment([block_m], T.float32)
            part = T.alloc_fragment([block_m], T.float32)
            sums = T.alloc_fragment([block_m], T.float32)
            first = starts[bz]
            length = starts[bz + 1] - first
            T.copy(Q[first + bx * block_m : first + (bx + 1) * block_m, by, :], q)
            T.fill(o, 0)
            T.fill(sums, 0)
            T.fill(top, -T.infinity(T.float32))
            for step in T.Pipelined(T.ceildiv(length, block_n), num_stages=1):
                T.copy(K[first + step * block_n : first + (step + 1) * block_n, by, :], k)
                T.copy(V[first + step * block_n : first + (step + 1) * block_n, by, :], v)
                for i, j in T.Parallel(block_m, block_n):
                    s[i, j] = T.if_then_else(step * block_n + j < length, 0, -1e9)
                T.gemm(q, k, s, transpose_B=True)
                T.copy(top, before)
                T.reduce_max(s, top, dim=1, clear=False)
                for i, j in T.Parallel(block_m, block_n):
                    s[i, j] = T.exp2((s[i, j] - top[i]) * scale)
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(block_m):
                    before[i] = T.exp2((before[i] - top[i]) * scale)
                    sums[i] = sums[i] * before[i] + part[i]
                T.copy(s, p)
                for i, j in T.Parallel(block_m, dim):
                    o[i, j] = o[i, j] * before[i]
                T.gemm(p, v, o)
            for i, j in T.Parallel(block_m, dim):
                if bx * block_m + i < length:
                    O[first + bx * block_m + i, by, j] = o[i, j] / sums[i]

    return main


@tilelang.jit(out_idx=[2])
def delta(batch, heads, rows, dim, block=32):
    @T.prim_func
    def main(
        O: T.Tensor((batch, rows, heads, dim), T.float16),
        dO: T.Tensor((batch, rows, heads, dim), T.float16),
        D: T.Tensor((batch, heads, rows), T.float32),
    ):
        with T.Kernel(heads, T.ceildiv(rows, block), batch) as (bx, by, bz):
            o = T.alloc_fragment([block, dim], T.float32)
            d = T.alloc_fragment([block, dim], T.float32)
            out = T.alloc_fragment([block], T.float32)
            T.copy(O[bz, by * block : (by + 1) * block, bx, :], o)
            T.copy(dO[bz, by * block : (by + 1) * block, bx, :], d)
            for i, j in T.Parallel(block, dim):
                o[i, j] = o[i, j] * d[i, j]
            T.reduce_sum(o, out, dim=1)
            T.copy(out, D[bz, bx, by * block : (by + 1) * block])

    return main


@tilelang.jit
def backward(batch, heads, rows, dim, block=32):
    scale = (1.0 / dim) ** 0.5

    @T.prim_func
    def main(
        Q: T.Tensor((batch, rows, heads, dim), T.float16),
        K: T.Tensor((batch, rows, heads, dim), T.float16),
        V: T.Tensor((batch, rows, heads, dim), T.float16),
        dO: T.Tensor((batch, rows, heads, dim), T.float16),
        lse: T.Tensor((batch, heads, rows), T.float32),
        D: T.Tensor((batch, heads, rows), T.float32),
        dQ: T.Tensor((batch, rows, heads, dim), T.float32),
        dK: T.Tensor((batch, rows, heads, dim), T.float16),
        dV: T.Tensor((batch, rows, heads, dim), T.float16),
    ):
        with T.Kernel(heads, T.ceildiv(rows, block), batch, threads=128) as (bx, by, bz):
            k = T.alloc_shared([block, dim], T.float16)
            v = T.alloc_shared([block, dim], T.float16)
            q = T.alloc_shared([block, dim], T.float16)
            do = T.alloc_shared([block, dim], T.float16)
            s = T.alloc_fragment([block, block], T.float32)
            ds = T.alloc_fragment([block, block], T.float32)
            p = T.alloc_fragment([block, block], T.float16)
            p_shared = T.alloc_shared([block, block], T.float16)
            norm = T.alloc_shared([block], T.float32)
            d = T.alloc_shared([block], T.float32)
            dv = T.alloc_fragment([block, dim], T.float32)
            dk = T.alloc_fragment([block, dim], T.float32)
            dq = T.alloc_fragment([block, dim], T.float32)
            T.copy(K[bz, by * block : (by + 1) * block, bx, :], k)
            T.copy(V[bz, by * block : (by + 1) * block, bx, :], v)
            T.clear(dv)
            T.clear(dk)
            for step in T.Pipelined(T.ceildiv(rows, block), num_stages=1):
                T.copy(Q[bz, step * block : (step + 1) * block, bx, :], q)
                T.clear(s)
                T.gemm(k, q, s, transpose_B=True)
                T.copy(lse[bz, bx, step * block : (step + 1) * block], norm)
                for i, j in T.Parallel(block, block):
                    s[i, j] = T.exp2(s[i, j] * scale * 1.44269504 - norm[j])
                T.copy(dO[bz, step * block : (step + 1) * block, bx, :], do)
                T.clear(ds)
                T.gemm(v, do, ds, transpose_B=True)
                T.copy(s, p)
                T.gemm(p, do, dv)
                T.copy(D[bz, bx, step * block : (step + 1) * block], d)
                for i, j in T.Parallel(block, block):
                    p[i, j] = s[i, j] * (ds[i, j] - d[j]) * scale
                T.gemm(p, q, dk)
                T.copy(p, p_shared)
                T.gemm(p_shared, k, dq, transpose_A=True, clear_accum=True)
                for i, j in T.Parallel(block, dim):
                    T.atomic_add(dQ[bz, step * block + i, bx, j], dq[i, j])
            T.copy(dv, dV[bz, by * block : (by + 1) * block, bx, :])
            T.copy(dk, dK[bz, by * block : (by + 1) * block, bx, :])

    return main


@tilelang.jit(out_idx=[3])
def decode(batch, heads, kv_heads, columns, dim, parts, block_h=16, block_n=16):
    scale = (1.0 / dim) ** 0.5 * 1.44269504
    group = heads // kv_heads
    share = columns // parts

    @T.prim_func
    def main(
        Q: T.Tensor([batch, heads, dim], T.float16),
        K: T.Tensor([batch, columns, kv_heads, dim], T.float16),
        V: T.Tensor([batch, columns, kv_heads, dim], T.float16),
        O: T.Tensor([batch, heads, dim], T.float16),
    ):
        norms = T.alloc_global([batch, heads, parts], T.float32)
        partial = T.alloc_global([batch, heads, parts, dim], T.float32)
        with T.Kernel(batch, kv_heads, parts, threads=128) as (bx, by, bz):
            q = T.alloc_shared([block_h, dim], T.float16)
            k = T.alloc_shared([block_n, dim], T.float16)
            v = T.alloc_shared([block_n, dim], T.float16)
            s = T.alloc_fragment([block_h, block_n], T.float32)
            p = T.alloc_fragment([block_h, block_n], T.float16)
            o = T.alloc_fragment([block_h, dim], T.float32)
            top = T.alloc_fragment([block_h], T.float32)
            before = T.alloc_fragment([block_h], T.float32)
            part = T.alloc_fragment([block_h], T.float32)
            total = T.alloc_fragment([block_h], T.float32)
            T.copy(Q[bx, by * group : by * group + block_h, :], q)
            T.clear(o)
            T.clear(total)
            T.fill(top, -T.infinity(T.float32))
            for step in T.Pipelined(share // block_n, num_stages=2):
                T.copy(K[bx, bz * share + step * block_n : bz * share + (step + 1) * block_n, by, :], k)
                T.copy(V[bx, bz * share + step * block_n : bz * share + (step + 1) * block_n, by, :], v)
                T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                T.copy(top, before)
                T.reduce_max(s, top, dim=1, clear=False)
                for i, j in T.Parallel(block_h, block_n):
                    s[i, j] = T.exp2((s[i, j] - top[i]) * scale)
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(block_h):
                    before[i] = T.exp2((before[i] - top[i]) * scale)
                    total[i] = total[i] * before[i] + part[i]
                T.copy(s, p)
                for i, j in T.Parallel(block_h, dim):
                    o[i, j] *= before[i]
                T.gemm(p, v, o)
            for i, j in T.Parallel(block_h, dim):
                if i < group:
                    partial[bx, by * group + i, bz, j] = o[i, j] / total[i]
            for i in T.Parallel(block_h):
                if i < group:
                    norms[bx, by * group + i, bz] = T.log2(total[i]) + top[i] * scale
        with T.Kernel(heads, batch, threads=64) as (bx, by):
            o = T.alloc_fragment([dim], T.float32)
            top = T.alloc_var(T.float32, init=-T.infinity(T.float32))
            total = T.alloc_var(T.float32, init=0.0)
            T.clear(o)
            for n in T.serial(parts):
                top = T.max(top, norms[by, bx, n])
            for n in T.serial(parts):
                total += T.exp2(norms[by, bx, n] - top)
            for n in T.serial(parts):
                weight = T.exp2(norms[by, bx, n] - top) / total
                for j in T.Parallel(dim):
                    o[j] += partial[by, bx, n, j] * weight
            T.copy(o, O[by, bx, :])

    return main


@tilelang.jit(out_idx=[4])
def latent_decode(batch, heads, columns, dim, rope, block_h=32, block_n=32):
    scale = float((1.0 / (dim + rope)) ** 0.5 * 1.44269504)

    @T.prim_func
    def main(
        Q: T.Tensor([batch, heads, dim], T.float16),
        Q_rope: T.Tensor([batch, heads, rope], T.float16),
        KV: T.Tensor([batch, columns, 1, dim], T.float16),
        K_rope: T.Tensor([batch, columns, 1, rope], T.float16),
        O: T.Tensor([batch, heads, dim], T.float16),
    ):
        with T.Kernel(heads // block_h, batch, threads=128) as (hid, bid):
            q = T.alloc_shared([block_h, dim], T.float16)
            qr = T.alloc_shared([block_h, rope], T.float16)
            kv = T.alloc_shared([block_n, dim], T.float16)
            kr = T.alloc_shared([block_n, rope], T.float16)
            s_shared = T.alloc_shared([block_h, block_n], T.float16)
            s = T.alloc_fragment([block_h, block_n], T.float32)
            o = T.alloc_fragment([block_h, dim], T.float32)
            top = T.alloc_fragment([block_h], T.float32)
            before = T.alloc_fragment([block_h], T.float32)
            part = T.alloc_fragment([block_h], T.float32)
            total = T.alloc_fragment([block_h], T.float32)
            T.use_swizzle(10)
            T.copy(Q[bid, hid * block_h : (hid + 1) * block_h, :], q)
            T.copy(Q_rope[bid, hid * block_h : (hid + 1) * block_h, :], qr)
            T.fill(o, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity(T.float32))
            for step in T.Pipelined(T.ceildiv(columns, block_n), num_stages=2):
                T.copy(KV[bid, step * block_n : (step + 1) * block_n, 0, :], kv)
                T.copy(K_rope[bid, step * block_n : (step + 1) * block_n, 0, :], kr)
                T.gemm(q, kv, s, transpose_B=True, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
                T.gemm(qr, kr, s, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
                T.copy(top, before)
                T.fill(top, -T.infinity(T.float32))
                T.reduce_max(s, top, dim=1, clear=False)
                for i in T.Parallel(block_h):
                    top[i] = T.max(top[i], before[i])
                    before[i] = T.exp2(before[i] * scale - top[i] * scale)
                for i, j in T.Parallel(block_h, block_n):
                    s[i, j] = T.exp2(s[i, j] * scale - top[i] * scale)
                T.reduce_sum(s, part, dim=1)
                T.copy(s, s_shared)
                for i in T.Parallel(block_h):
                    total[i] = total[i] * before[i] + part[i]
                for i, j in T.Parallel(block_h, dim):
                    o[i, j] *= before[i]
                T.gemm(s_shared, kv, o, policy=T.GemmWarpPolicy.FullCol)
            for i, j in T.Parallel(block_h, dim):
                o[i, j] /= total[i]
            T.copy(o, O[bid, hid * block_h : (hid + 1) * block_h, :])

    return main


def main():
    q = torch.randn(2, 64, 4, 32, dtype=torch.float16)
    forward(2, 4, 4, 64, 96, 32)
    forward(1, 4, 2, 96, 96, 32, causal=True)
    varlen(120, 3, 64, 2, 32)
    delta(2, 4, 64, 32)
    backward(1, 2, 64, 32)
    decode(2, 16, 2, 64, 32, 2)
    latent_decode(2, 64, 64, 64, 16)


main()
