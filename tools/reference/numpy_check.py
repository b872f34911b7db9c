#!/usr/bin/env python3
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

from arrays import bf16_bits, bf16_value, e4m3_value, f, half, rng, single, softmax_ref  # noqa: E402
import machine_cases  # noqa: E402

# ---- references: each gives (inputs, {output: (expected, tolerance[, decode])})
def matmul(trans_a, trans_b):
    def case():
        a, b = half(80, 96), half(96, 64)
        given = {"A": a.T.copy() if trans_a else a, "B": b.T.copy() if trans_b else b}
        return given, {"C": (f(a) @ f(b), 1e-6)}

    return case


def split(name):
    def case():
        a, b, c = half(64, 128), half(128, 64), single(64, 64)
        return {"A": a, "B": b, "C": c}, {"C": (f(c) + f(a) @ f(b), 1e-5)}

    return case


def grouped():
    a, b = half(70, 64), half(3, 64, 48)
    offsets = np.array([0, 20, 53, 70], np.int32)
    want = np.concatenate([f(a[offsets[g]:offsets[g + 1]]) @ f(b[g]) for g in range(3)])
    return {"A": a, "B": b, "offsets": offsets}, {"C": (want, 1e-3)}


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


def layer_norm():
    x, gamma, beta = half(7, 96), single(96), single(96)
    mean, var = f(x).mean(1, keepdims=True), f(x).var(1, keepdims=True)
    return {"X": x, "gamma": gamma, "beta": beta}, {"Y": ((f(x) - mean) / np.sqrt(var + 1e-5) * gamma + beta, 1e-3)}


def prefix(backwards):
    def case():
        x = single(5, 96)
        parts = f(x).reshape(5, 3, 32)
        want = np.flip(np.cumsum(np.flip(parts, 2), 2), 2) if backwards else np.cumsum(parts, 2)
        return {"X": x}, {"Y": (want.reshape(5, 96), 1e-6)}

    return case


def top_k():
    x = single(8, 64)
    order = np.argsort(-x, axis=1)[:, :5]
    return {"X": x}, {"values": (np.take_along_axis(x, order, 1), 0), "indices": (order, 0)}


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


def varlen():
    starts = np.array([0, 50, 56, 120], np.int32)
    q, k, v = half(120, 2, 32), half(120, 2, 32), half(120, 2, 32)
    want = np.concatenate([attend(*(t[None, a:b] for t in (q, k, v)))[0][0] for a, b in zip(starts, starts[1:])])
    return {"Q": q, "K": k, "V": v, "starts": starts}, {"O": (want, 2e-3)}


def delta():
    o, d = half(2, 64, 4, 32), half(2, 64, 4, 32)
    return {"O": o, "dO": d}, {"D": (np.einsum("bihd,bihd->bhi", f(o), f(d)), 1e-6)}


def backward():
    q, k, v, do = (half(1, 64, 2, 32) for _ in range(4))
    o, lse, p = attend(q, k, v)
    d = np.einsum("bihd,bihd->bhi", o, f(do))
    dp = np.einsum("bihd,bjhd->bhij", f(do), f(v))
    ds = p * (dp - d[..., None]) / np.sqrt(32)
    want = {
        "dQ": (np.einsum("bhij,bjhd->bihd", ds, f(k)), 5e-3),
        "dK": (np.einsum("bhij,bihd->bjhd", ds, f(q)), 5e-3),
        "dV": (np.einsum("bhij,bihd->bjhd", p, f(do)), 5e-3),
    }
    given = {"Q": q, "K": k, "V": v, "dO": do, "lse": lse.astype(np.float32), "D": d.astype(np.float32)}
    return {**given, "dQ": np.zeros((1, 64, 2, 32), np.float32)}, want


def decode():
    q, k, v = half(2, 16, 32), half(2, 64, 2, 32), half(2, 64, 2, 32)
    return {"Q": q, "K": k, "V": v}, {"O": (attend(q[:, None], k, v)[0][:, 0], 2e-3)}


def latent():
    q, qr, kv, kr = half(2, 64, 64), half(2, 64, 16), half(2, 64, 1, 64), half(2, 64, 1, 16)
    s = (np.einsum("bhd,bjd->bhj", f(q), f(kv[:, :, 0])) + np.einsum("bhd,bjd->bhj", f(qr), f(kr[:, :, 0]))) / np.sqrt(80)
    want = np.einsum("bhj,bjd->bhd", softmax_ref(s), f(kv[:, :, 0]))
    return {"Q": q, "Q_rope": qr, "KV": kv, "K_rope": kr}, {"O": (want, 2e-3)}


def quantise():
    bits = bf16_bits(single(12, 128))
    x = bf16_value(bits).astype(np.float64)
    scale = np.maximum(np.abs(x).reshape(12, 4, 32).max(2), 1e-4).astype(np.float32) / np.float32(448)
    scaled = x / np.repeat(scale.astype(np.float64), 32, 1)
    codes = np.array([c for c in range(256) if c & 0x7F != 0x7F], np.uint8)
    values = e4m3_value(codes)
    nearest = np.array([np.abs(values - v).min() for v in scaled.ravel()]).reshape(scaled.shape)

    def distance(got):  # how much farther than the nearest code
        return np.abs(e4m3_value(got) - scaled) - nearest

    return {"X": bits}, {"scales": (scale, 1e-7), "Y": (np.zeros_like(scaled), 1e-3, distance)}


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


def linear_attention():
    q, k, v = half(2, 64, 2, 32), half(2, 64, 2, 32), half(2, 64, 2, 64)
    s = np.tril(np.einsum("bihd,bjhd->bhij", f(q), f(k)) / np.sqrt(32))
    return {"Q": q, "K": k, "V": v}, {
        "O": (np.einsum("bhij,bjhd->bihd", s, f(v)), 2e-3),
        "state": (np.einsum("bjhd,bjhe->bhde", f(k), f(v)), 1e-5),
    }


def chunk_scan():
    batch, length, heads, groups, hd, sd, chunk = 1, 64, 2, 1, 32, 16, 32
    chunks = length // chunk
    cb, x = half(batch, chunks, groups, chunk, chunk), half(batch, length, heads, hd)
    dt = np.abs(half(batch, heads, chunks, chunk))
    da = -np.cumsum(np.abs(half(batch, heads, chunks, chunk)) * np.float16(0.1), axis=3).astype(np.float16)
    c, states, d = half(batch, length, groups, sd), half(batch, chunks, heads, hd, sd), half(heads)
    want = np.zeros((batch, length, heads, hd))
    for n in range(chunks):
        at = slice(n * chunk, (n + 1) * chunk)
        for h in range(heads):
            decay = np.exp(f(da[0, h, n])[:, None] - f(da[0, h, n])[None, :])
            w = np.tril(f(cb[0, n, 0]) * decay * f(dt[0, h, n])[None, :])
            want[0, at, h] = w @ f(x[0, at, h]) + np.exp(f(da[0, h, n]))[:, None] * (f(c[0, at, 0]) @ f(states[0, n, h]).T)
            want[0, at, h] += f(x[0, at, h]) * float(d[h])
    return {"CB": cb, "X": x, "dt": dt, "dA": da, "C": c, "states": states, "D": d}, {"out": (want, 2e-3)}


CASES = [
    ("gemm", "gemm.py", "matmul", 0, matmul(False, False)),
    ("gemm, A transposed", "gemm.py", "matmul", 1, matmul(True, False)),
    ("gemm, B transposed", "gemm.py", "matmul", 2, matmul(False, True)),
    ("gemm, both transposed", "gemm.py", "matmul", 3, matmul(True, True)),
    ("split-K", "gemm.py", "split_k", 0, split("split_k")),
    ("stream-K", "gemm.py", "stream_k", 0, split("stream_k")),
    ("grouped gemm", "gemm.py", "grouped", 0, grouped),
    ("convolution", "convolution.py", "convolution", 0, convolution(2, 9, 8, 16, 32, 3, 1, 1, 1)),
    ("convolution, stride 2", "convolution.py", "convolution", 1, convolution(1, 11, 9, 8, 32, 3, 2, 1, 0)),
    ("softmax", "softmax.py", "softmax", 0, rows("softmax", 12, 96)),
    ("online softmax", "softmax.py", "online_softmax", 0, rows("softmax", 12, 96)),
    ("RMS norm", "softmax.py", "rms_norm", 0, rows("rms", 10, 128)),
    ("layer norm", "softmax.py", "layer_norm", 0, layer_norm),
    ("cumsum", "softmax.py", "prefix_sums", 0, prefix(False)),
    ("cumsum, reverse", "softmax.py", "prefix_sums", 1, prefix(True)),
    ("top-k", "softmax.py", "top_k", 0, top_k),
    ("attention", "attention.py", "forward", 0, forward(2, 4, 4, 64, 96, 32, False)),
    ("attention, causal, GQA", "attention.py", "forward", 1, forward(1, 4, 2, 96, 96, 32, True)),
    ("attention, varlen", "attention.py", "varlen", 0, varlen),
    ("attention, delta", "attention.py", "delta", 0, delta),
    ("attention, backward", "attention.py", "backward", 0, backward),
    ("flash decoding", "attention.py", "decode", 0, decode),
    ("MLA decode", "attention.py", "latent_decode", 0, latent),
    ("per-group fp8", "quantised.py", "quantise", 0, quantise),
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
    ("linear attention", "recurrent.py", "linear_attention", 0, linear_attention),
    ("Mamba chunk scan", "recurrent.py", "chunk_scan", 0, chunk_scan),
    *machine_cases.CASES,
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


def check(build, file, kernel, index, case):
    given, expected = case()
    with tempfile.TemporaryDirectory() as folder:
        for name, value in given.items():
            np.save(f"{folder}/{name}.npy", np.ascontiguousarray(value))
        run = subprocess.run(
            [f"{build}/tools/interp_run", f"{ROOT}/testdata/language/{file}", "--kernel", kernel, "--index", str(index),
             "--tensors", folder], capture_output=True, text=True, timeout=300)
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
    cases = [c for c in CASES if not args.names or any(n in c[0] for n in args.names)]
    for title, file, kernel, index, case in cases:
        problem = check(args.build, file, kernel, index, case)
        failed += problem is not None
        print(f"{'FAIL' if problem else 'ok':4}  {title}{': ' + problem if problem else ''}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
