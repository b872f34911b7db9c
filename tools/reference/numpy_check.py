#!/usr/bin/python3
"""Kernels of testdata/language by the tile interpreter against formulas in NumPy.

Usage: tools/reference/numpy_check.py [--build build] [NAME...]
Prints a line a case and, last, "N passed, N failed, N skipped" (skipped: no NumPy here).
Tolerances: the norm of the difference over the norm of the expected result; those of half-precision results follow
TileLang's own examples (rtol = atol = 1e-2), of f32 results from exact inputs they are tighter.
"""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
try:
    import numpy as np
except ImportError:
    print("skip  kernels against NumPy: python3-numpy is not installed\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)

from arrays import bf16_bits, bf16_value, e4m3_value, e5m2_value, f, half, rng, single, softmax_ref  # noqa: E402
import formulas  # noqa: E402
import machine_cases  # noqa: E402

# ---- references: each gives (inputs, {output: (expected, tolerance[, decode])})
def matmul(trans_a, trans_b, m=80, n=64, k=96):
    def case():
        a, b = half(m, k), half(k, n)
        given = {"A": a.T.copy() if trans_a else a, "B": b.T.copy() if trans_b else b}
        return given, {"C": (f(a) @ f(b), 1e-6)}

    return case


def split(m=64, n=64, k=128):
    def case():
        a, b, c = half(m, k), half(k, n), single(m, n)
        return {"A": a, "B": b, "C": c}, {"C": (f(c) + f(a) @ f(b), 1e-5)}

    return case


def grouped(ends=(20, 53, 70), k=64, n=48):
    def case():
        offsets = np.array([0, *ends], np.int32)
        a, b = half(ends[-1], k), half(len(ends), k, n)
        want = np.concatenate([f(a[offsets[g]:offsets[g + 1]]) @ f(b[g]) for g in range(len(ends))])
        return {"A": a, "B": b, "offsets": offsets}, {"C": (want, 1e-3)}

    return case


def convolution(n, h, w, c, filters, kernel, stride, dilation, pad):
    def case():
        image, weight = half(n, h, w, c), half(kernel, kernel, c, filters)
        padded = np.pad(f(image), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        out_h = (h + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
        out_w = (w + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
        want = np.zeros((n, out_h, out_w, filters))
        for y in range(out_h):
            for x in range(out_w):
                for r in range(kernel):
                    for s in range(kernel):
                        want[:, y, x] += padded[:, y * stride + r * dilation, x * stride + s * dilation] @ f(weight[r, s])
        return {"image": image, "weight": weight}, {"out": (want, 1e-6)}

    return case


def rows(name, m, n):
    def case():
        x = single(m, n)
        if name == "rms":
            return {"A": x}, {"B": (f(x) / np.sqrt((f(x) ** 2).mean(1, keepdims=True) + 1e-12), 1e-6)}
        return {"X": x}, {"Y": (softmax_ref(f(x)), 1e-5)}

    return case


def layer_norm(m=7, n=96):
    def case():
        x, gamma, beta = half(m, n), single(n), single(n)
        mean, var = f(x).mean(1, keepdims=True), f(x).var(1, keepdims=True)
        want = (f(x) - mean) / np.sqrt(var + 1e-5) * gamma + beta
        return {"X": x, "gamma": gamma, "beta": beta}, {"Y": (want, 1e-3)}

    return case


def prefix(backwards, m=5, n=96, width=32):
    def case():
        x = single(m, n)
        parts = f(x).reshape(m, n // width, width)
        want = np.flip(np.cumsum(np.flip(parts, 2), 2), 2) if backwards else np.cumsum(parts, 2)
        return {"X": x}, {"Y": (want.reshape(m, n), 1e-6)}

    return case


def top_k(m=8, n=64, k=5):
    def case():
        x = single(m, n)
        order = np.argsort(-x, axis=1)[:, :k]
        return {"X": x}, {"values": (np.take_along_axis(x, order, 1), 0), "indices": (order, 0)}

    return case


def attend(q, k, v, causal=False):
    """batch, rows, heads, dim; the output and the base-2 logarithm of the sums."""
    q, k, v = f(q), f(k), f(v)
    group = q.shape[2] // k.shape[2]
    k, v = np.repeat(k, group, 2), np.repeat(v, group, 2)
    s = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[3])
    if causal:
        s = np.where(np.tril(np.ones(s.shape[2:], bool)), s, -np.inf)
    lse = np.log2(np.exp(s - s.max(3, keepdims=True)).sum(3)) + s.max(3) * np.log2(np.e)
    return np.einsum("bhij,bjhd->bihd", softmax_ref(s), v), lse, softmax_ref(s)


def forward(batch, heads, kv_heads, rows, columns, dim, causal):
    def case():
        q, k, v = half(batch, rows, heads, dim), half(batch, columns, kv_heads, dim), half(batch, columns, kv_heads, dim)
        o, lse, _ = attend(q, k, v, causal)
        return {"Q": q, "K": k, "V": v}, {"O": (o, 2e-3), "lse": (lse, 1e-5)}

    return case


def varlen(ends=(50, 56, 120)):
    def case():
        starts, total = np.array([0, *ends], np.int32), ends[-1]
        q, k, v = half(total, 2, 32), half(total, 2, 32), half(total, 2, 32)
        want = np.concatenate([attend(*(t[None, a:b] for t in (q, k, v)))[0][0] for a, b in zip(starts, starts[1:])])
        return {"Q": q, "K": k, "V": v, "starts": starts}, {"O": (want, 2e-3)}

    return case


def delta(batch=2, heads=4, rows=64, dim=32):
    def case():
        o, d = half(batch, rows, heads, dim), half(batch, rows, heads, dim)
        return {"O": o, "dO": d}, {"D": (np.einsum("bihd,bihd->bhi", f(o), f(d)), 1e-6)}

    return case


def backward(batch=1, heads=2, rows=64, dim=32):
    def case():
        q, k, v, do = (half(batch, rows, heads, dim) for _ in range(4))
        o, lse, p = attend(q, k, v)
        d = np.einsum("bihd,bihd->bhi", o, f(do))
        dp = np.einsum("bihd,bjhd->bhij", f(do), f(v))
        ds = p * (dp - d[..., None]) / np.sqrt(dim)
        want = {
            "dQ": (np.einsum("bhij,bjhd->bihd", ds, f(k)), 5e-3),
            "dK": (np.einsum("bhij,bihd->bjhd", ds, f(q)), 5e-3),
            "dV": (np.einsum("bhij,bihd->bjhd", p, f(do)), 5e-3),
        }
        given = {"Q": q, "K": k, "V": v, "dO": do, "lse": lse.astype(np.float32), "D": d.astype(np.float32)}
        return {**given, "dQ": np.zeros((batch, rows, heads, dim), np.float32)}, want

    return case


def decode(batch=2, heads=16, kv_heads=2, columns=64, dim=32):
    def case():
        q, k, v = half(batch, heads, dim), half(batch, columns, kv_heads, dim), half(batch, columns, kv_heads, dim)
        return {"Q": q, "K": k, "V": v}, {"O": (attend(q[:, None], k, v)[0][:, 0], 2e-3)}

    return case


def latent(batch=2, heads=64, columns=64, dim=64, rope=16):
    def case():
        q, qr = half(batch, heads, dim), half(batch, heads, rope)
        kv, kr = half(batch, columns, 1, dim), half(batch, columns, 1, rope)
        s = np.einsum("bhd,bjd->bhj", f(q), f(kv[:, :, 0])) + np.einsum("bhd,bjd->bhj", f(qr), f(kr[:, :, 0]))
        want = np.einsum("bhj,bjd->bhd", softmax_ref(s / np.sqrt(dim + rope)), f(kv[:, :, 0]))
        return {"Q": q, "Q_rope": qr, "KV": kv, "K_rope": kr}, {"O": (want, 2e-3)}

    return case


def quantise(m=12, n=128, group=32):
    def case():
        bits = bf16_bits(single(m, n))
        x = bf16_value(bits).astype(np.float64)
        scale = np.maximum(np.abs(x).reshape(m, n // group, group).max(2), 1e-4).astype(np.float32) / np.float32(448)
        scaled = x / np.repeat(scale.astype(np.float64), group, 1)
        codes = np.array([c for c in range(256) if c & 0x7F != 0x7F], np.uint8)
        values = e4m3_value(codes)
        nearest = np.array([np.abs(values - v).min() for v in scaled.ravel()]).reshape(scaled.shape)

        def distance(got):  # how much farther than the nearest code
            return np.abs(e4m3_value(got) - scaled) - nearest

        return {"X": bits}, {"scales": (scale, 1e-7), "Y": (np.zeros_like(scaled), 1e-3, distance)}

    return case


def dequantised(m, n, k, table):
    def case():
        a = half(m, k)
        packed = rng.integers(0, 256, (n, k // 2), dtype=np.uint8)
        b = np.stack([table[packed & 15], table[packed >> 4]], 2).reshape(n, k)
        return {"A": a, "B": packed}, {"C": (f(a) @ b.T, 1e-6)}

    return case


def product(kind, m, n, k, trans_a=False, trans_b=True):
    """By instructions of a warp; tf32 reads the upper 19 bits of a float."""
    def case():
        if kind == "int8":
            a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (k, n)))
            x, y = f(a), f(b)
        elif kind == "e4m3":
            a, b = (rng.integers(0, 127, s).astype(np.uint8) | (rng.integers(0, 2, s) << 7).astype(np.uint8) for s in ((m, k), (k, n)))
            x, y = e4m3_value(a), e4m3_value(b)
        elif kind == "tf32":
            a, b = single(m, k), single(k, n)
            x, y = (f((t.view(np.uint32) & 0xFFFFE000).view(np.float32)) for t in (a, b))
        else:
            a, b = (half(*s).astype(np.float64 if kind == "f64" else np.float16) for s in ((m, k), (k, n)))
            x, y = f(a), f(b)
        given = {"A": a.T.copy() if trans_a else a, "B": b.T.copy() if trans_b else b}
        return given, {"C": (x @ y, 2e-3 if kind == "f16 sums" else 0 if kind in ("int8", "f64") else 1e-6)}

    return case


def prepared():
    """Element v of lane l of a tile's fragment (PTX ISA 9.7.14.5, B of m16n8k16, twice): n = l / 4 + 8 (v / 4) ..."""
    a, b = half(32, 32), half(32, 32)
    tiles = np.zeros((2, 2, 16, 16), np.float16)
    for n in range(16):
        for k in range(16):
            lane, v = 4 * (n % 8) + k % 8 // 2, 4 * (n // 8) + 2 * (k // 8) + k % 2
            place = 8 * lane + v
            tiles[:, :, place // 16, place % 16] = b[n::16, k::16]
    want = (f(a) @ f(b).T).reshape(2, 16, 2, 16).transpose(0, 2, 1, 3)
    return {"A": a, "B": tiles}, {"C": (want, 1e-6)}


def sparse(selector):
    """Metadata of m16n8k16 f16 (PTX ISA 9.7.14.6.1): thread 4 g + selector holds 16 bits of row g, 16 of row g + 8."""
    def case():
        kept, b = half(16, 8), half(8, 16)
        words, a = rng.integers(0, 2**32, 32, dtype=np.uint64).astype(np.uint32), np.zeros((16, 16))
        words[selector::4] = 0
        for r in range(16):
            for c in range(4):
                first, second = sorted(rng.choice(4, 2, replace=False))
                words[4 * (r % 8) + selector] |= np.uint32((first | second << 2) << (16 * (r // 8) + 4 * c))
                a[r, 4 * c + first], a[r, 4 * c + second] = kept[r, 2 * c], kept[r, 2 * c + 1]
        return {"A": kept, "E": words, "B": b}, {"C": (a @ f(b).T, 1e-6)}

    return case


INT4 = np.arange(16) - 8.0
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def linear_attention(batch=2, length=64, heads=2, dim_k=32, dim_v=64):
    def case():
        q, k = half(batch, length, heads, dim_k), half(batch, length, heads, dim_k)
        v = half(batch, length, heads, dim_v)
        s = np.tril(np.einsum("bihd,bjhd->bhij", f(q), f(k)) / np.sqrt(dim_k))
        return {"Q": q, "K": k, "V": v}, {
            "O": (np.einsum("bhij,bjhd->bihd", s, f(v)), 2e-3),
            "state": (np.einsum("bjhd,bjhe->bhde", f(k), f(v)), 1e-5),
        }

    return case


def chunk_scan(batch=1, length=64, heads=2, groups=1, head_dim=32, state_dim=16, chunk=32):
    def case():
        chunks = length // chunk
        cb, x = half(batch, chunks, groups, chunk, chunk), half(batch, length, heads, head_dim)
        dt = np.abs(half(batch, heads, chunks, chunk))
        da = -np.cumsum(np.abs(half(batch, heads, chunks, chunk)) * np.float16(0.1), axis=3).astype(np.float16)
        c, states = half(batch, length, groups, state_dim), half(batch, chunks, heads, head_dim, state_dim)
        d = half(heads)
        want = formulas.mamba_chunk_scan(*(f(t) for t in (cb, x, dt, da, c, states, d)))
        given = {"CB": cb, "X": x, "dt": dt, "dA": da, "C": c, "states": states, "D": d}
        return given, {"out": (want, 2e-3)}

    return case


def typed(encode, dtype):
    def case():
        (a, x), (b, y) = encode(45, 50), encode(70, 50)
        tolerance = {"int8": 0, "f64": 1e-12, "f16": 1e-3}.get(dtype, 1e-6)
        return {"A": a, "B": b}, {"C": (x @ y.T, tolerance)}

    return case


def of_dtype(dtype):
    def encode(*shape):
        x = rng.standard_normal(shape).astype(dtype)
        return x, f(x)

    return encode


def brain(*shape):
    bits = bf16_bits(rng.standard_normal(shape))
    return bits, f(bf16_value(bits))


def octets(*shape):
    x = rng.integers(-128, 128, shape).astype(np.int8)
    return x, f(x)


def eight_bits(decode_codes, codes):
    def encode(*shape):
        x = codes(*shape)
        return x, decode_codes(x)

    return encode



CASES = [
    ("gemm", "gemm.py", "matmul", 0, matmul(False, False)),
    ("gemm, A transposed", "gemm.py", "matmul", 1, matmul(True, False)),
    ("gemm, B transposed", "gemm.py", "matmul", 2, matmul(False, True)),
    ("gemm, both transposed", "gemm.py", "matmul", 3, matmul(True, True)),
    ("split-K", "gemm.py", "split_k", 0, split()),
    ("stream-K", "gemm.py", "stream_k", 0, split()),
    ("grouped gemm", "gemm.py", "grouped", 0, grouped()),
    ("convolution", "convolution.py", "convolution", 0, convolution(2, 9, 8, 16, 32, 3, 1, 1, 1)),
    ("convolution, stride 2", "convolution.py", "convolution", 1, convolution(1, 11, 9, 8, 32, 3, 2, 1, 0)),
    ("softmax", "softmax.py", "softmax", 0, rows("softmax", 12, 96)),
    ("online softmax", "softmax.py", "online_softmax", 0, rows("softmax", 12, 96)),
    ("RMS norm", "softmax.py", "rms_norm", 0, rows("rms", 10, 128)),
    ("layer norm", "softmax.py", "layer_norm", 0, layer_norm()),
    ("cumsum", "softmax.py", "prefix_sums", 0, prefix(False)),
    ("cumsum, reverse", "softmax.py", "prefix_sums", 1, prefix(True)),
    ("top-k", "softmax.py", "top_k", 0, top_k()),
    ("attention", "attention.py", "forward", 0, forward(2, 4, 4, 64, 96, 32, False)),
    ("attention, causal, GQA", "attention.py", "forward", 1, forward(1, 4, 2, 96, 96, 32, True)),
    ("attention, varlen", "attention.py", "varlen", 0, varlen()),
    ("attention, delta", "attention.py", "delta", 0, delta()),
    ("attention, backward", "attention.py", "backward", 0, backward()),
    ("flash decoding", "attention.py", "decode", 0, decode()),
    ("MLA decode", "attention.py", "latent_decode", 0, latent()),
    ("per-group fp8", "quantised.py", "quantise", 0, quantise()),
    ("int4 weights", "quantised.py", "dequantised", 0, dequantised(48, 64, 64, INT4)),
    ("fp4 weights", "quantised.py", "dequantised", 1, dequantised(32, 48, 96, FP4)),
    ("mma f16", "matrix_instructions.py", "product", 0, product("f16", 64, 32, 64)),
    ("mma f16, A transposed", "matrix_instructions.py", "product", 1, product("f16", 64, 32, 32, True)),
    ("mma f16, B as it is", "matrix_instructions.py", "product", 2, product("f16", 128, 64, 80, False, False)),
    ("mma f16, A transposed, B as it is", "matrix_instructions.py", "product", 3, product("f16", 64, 32, 32, True, False)),
    ("mma f16, 8 columns", "matrix_instructions.py", "product", 4, product("f16", 64, 16, 32)),
    ("mma int8", "matrix_instructions.py", "product", 5, product("int8", 64, 32, 64)),
    ("mma int8, transposed", "matrix_instructions.py", "product", 6, product("int8", 64, 32, 64, True, False)),
    ("mma tf32", "matrix_instructions.py", "product", 7, product("tf32", 64, 32, 32)),
    ("mma tf32, transposed", "matrix_instructions.py", "product", 8, product("tf32", 64, 32, 32, True, False)),
    ("mma f64", "matrix_instructions.py", "product", 9, product("f64", 64, 32, 32)),
    ("mma e4m3", "matrix_instructions.py", "product", 10, product("e4m3", 64, 32, 64)),
    ("mma f16, sums too", "matrix_instructions.py", "product", 11, product("f16 sums", 64, 32, 32)),
    ("mma, prepared operand", "matrix_instructions.py", "prepared", 0, prepared),
    ("mma, sparse", "matrix_instructions.py", "sparse", 0, sparse(0)),
    ("mma, sparse, selector 3", "matrix_instructions.py", "sparse", 1, sparse(3)),
    ("linear attention", "recurrent.py", "linear_attention", 0, linear_attention()),
    ("Mamba chunk scan", "recurrent.py", "chunk_scan", 0, chunk_scan()),
    *machine_cases.CASES,
    *((f"product of {name}", "types.py", "typed", i, typed(encode, name)) for i, (name, encode) in enumerate((
        ("f16", of_dtype(np.float16)), ("f16, sums f32", of_dtype(np.float16)), ("bf16", brain),
        ("f32", of_dtype(np.float32)), ("f64", of_dtype(np.float64)),
        ("e4m3", eight_bits(e4m3_value, machine_cases.e4m3_codes)),
        ("e5m2", eight_bits(e5m2_value, machine_cases.e5m2_codes)), ("int8", octets)))),
]
# The same kernels with other sizes, which their tiles do not divide where the kernel allows it.
OTHER_SIZES = [
    *((f"gemm 70 x 50 x 40, {a}{b}", "gemm.py", "matmul", i, matmul(a == "T", b == "T", 70, 50, 40), dict(M=70, N=50, K=40))
      for i, (a, b) in enumerate(("NN", "TN", "NT", "TT"))),
    ("gemm of one element", "gemm.py", "matmul", 0, matmul(False, False, 1, 1, 1), dict(M=1, N=1, K=1)),
    ("split-K, odd", "gemm.py", "split_k", 0, split(50, 70, 192), dict(M=50, N=70, K=192)),
    ("stream-K, uneven shares", "gemm.py", "stream_k", 0, split(64, 96, 112), dict(M=64, N=96, K=112)),
    ("grouped gemm, odd", "gemm.py", "grouped", 0, grouped((1, 41, 58), 40, 50), dict(total=58, groups=3, K=40, N=50)),
    ("convolution, 5 x 5 dilated", "convolution.py", "convolution", 0, convolution(1, 10, 7, 12, 20, 5, 1, 2, 3),
     dict(N=1, H=10, W=7, C=12, F=20, kernel=5, stride=1, dilation=2, pad=3)),
    ("softmax, odd rows", "softmax.py", "softmax", 0, rows("softmax", 13, 97), dict(M=13, N=97)),
    ("online softmax, wide", "softmax.py", "online_softmax", 0, rows("softmax", 5, 160), dict(M=5, N=160)),
    ("RMS norm, odd", "softmax.py", "rms_norm", 0, rows("rms", 7, 100), dict(M=7, N=100)),
    ("layer norm, odd", "softmax.py", "layer_norm", 0, layer_norm(5, 70), dict(M=5, N=70)),
    ("cumsum, narrow", "softmax.py", "prefix_sums", 0, prefix(False, 3, 80, 16), dict(M=3, N=80, width=16)),
    ("top-k, odd", "softmax.py", "top_k", 0, top_k(5, 50, 7), dict(M=5, N=50, k=7)),
    ("attention, odd", "attention.py", "forward", 0, forward(1, 2, 1, 70, 64, 32, False),
     dict(batch=1, heads=2, kv_heads=1, rows=70, columns=64, causal="False")),
    ("attention, causal, odd", "attention.py", "forward", 0, forward(1, 2, 2, 70, 70, 64, True),
     dict(batch=1, heads=2, kv_heads=2, rows=70, columns=70, dim=64, causal="True")),
    ("attention, varlen, one row", "attention.py", "varlen", 0, varlen((1, 70, 75)), dict(total=75, longest=70)),
    ("attention, delta, odd", "attention.py", "delta", 0, delta(1, 3, 50, 16), dict(batch=1, heads=3, rows=50, dim=16)),
    ("attention, backward, longer", "attention.py", "backward", 0, backward(1, 1, 96, 64),
     dict(batch=1, heads=1, rows=96, dim=64)),
    ("flash decoding, three parts", "attention.py", "decode", 0, decode(1, 32, 2, 48, 64),
     dict(batch=1, heads=32, kv_heads=2, columns=48, dim=64, parts=3)),
    ("MLA decode, longer", "attention.py", "latent_decode", 0, latent(1, 32, 96, 32, 32),
     dict(batch=1, heads=32, columns=96, dim=32, rope=32)),
    ("per-group fp8, narrow groups", "quantised.py", "quantise", 0, quantise(8, 96, 16), dict(M=8, N=96, group=16)),
    ("int4 weights, odd", "quantised.py", "dequantised", 0, dequantised(21, 40, 96, INT4), dict(M=21, N=40, K=96, kind="int4")),
    ("fp4 weights, odd", "quantised.py", "dequantised", 0, dequantised(21, 40, 64, FP4), dict(M=21, N=40, K=64, kind="fp4")),
    ("linear attention, short", "recurrent.py", "linear_attention", 0, linear_attention(1, 48, 1, 16, 32),
     dict(batch=1, length=48, heads=1, dim_k=16, dim_v=32)),
    ("Mamba chunk scan, groups", "recurrent.py", "chunk_scan", 0, chunk_scan(2, 96, 4, 2, 32, 32, 48),
     dict(batch=2, length=96, heads=4, groups=2, head_dim=32, state_dim=32, chunk=48)),
]


def distance(got, want):
    norm = np.linalg.norm(want) if np.linalg.norm(want) else np.sqrt(want.size)
    return np.linalg.norm(got - want) / norm


def accepts_wrong(got, want, tolerance):
    """The control of every comparison: the reference moved on by one element, and without its largest element."""
    if np.all(want == want.flat[0]):
        return False
    missing = want.astype(np.float64).copy()
    missing.flat[np.argmax(np.abs(missing))] = 0
    small = np.linalg.norm(want) and np.abs(want).max() / np.linalg.norm(want) <= tolerance
    return distance(got, np.roll(want, 1)) <= tolerance or (not small and distance(got, missing) <= tolerance)


def check(build, file, kernel, index, case, args=()):
    given, expected = case()
    with tempfile.TemporaryDirectory() as folder:
        for name, value in given.items():
            np.save(f"{folder}/{name}.npy", np.ascontiguousarray(value))
        run = subprocess.run(
            [f"{build}/tools/interp_run", f"{ROOT}/testdata/language/{file}", "--kernel", kernel, "--index", str(index),
             "--tensors", folder, *(w for n in args for w in ("--arg", f"{n}={args[n]}"))], capture_output=True, text=True, timeout=300)
        if run.returncode:
            return run.stderr.strip().splitlines()[0] if run.stderr.strip() else f"exit {run.returncode}"
        for name, (want, tolerance, *decode) in expected.items():
            got = np.load(f"{folder}/{name}.out.npy")
            got = decode[0](got) if decode else got.astype(np.float64)
            if got.shape != want.shape:
                return f"{name} has shape {got.shape}, expected {want.shape}"
            error = distance(got, want)
            if not error <= tolerance:
                return f"{name} differs by {error:.2e} of its norm, tolerance {tolerance}"
            if not decode and accepts_wrong(got, want, tolerance):
                return f"{name}: a wrong reference is accepted too"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=f"{ROOT}/build")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    failed = 0
    cases = [c for c in CASES + OTHER_SIZES if not args.names or any(n in c[0] for n in args.names)]
    for title, *case in cases:
        problem = check(args.build, *case)
        failed += problem is not None
        print(f"{'FAIL' if problem else 'ok':4}  {title}{': ' + problem if problem else ''}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
