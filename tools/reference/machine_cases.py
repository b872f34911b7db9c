"""References for testdata/language/machine.py and scaled.py: what a kernel asks of the machine beyond tiles."""
import math

import numpy as np

from arrays import (
    bf16_value, e2m1_value, e4m3_value, e5m2_value, f, half, pack_bytes, pack_nibbles, rng, single,
)


def finite_codes(shape, is_nan):
    codes = rng.integers(0, 256, shape, dtype=np.uint8)
    return np.where(is_nan(codes), 0x21, codes).astype(np.uint8)


def e4m3_codes(*shape):
    return finite_codes(shape, lambda c: c & 0x7F == 0x7F)


def e5m2_codes(*shape):
    return finite_codes(shape, lambda c: c & 0x7C == 0x7C)


# ---- block scales
def scaled(m, n, k, granularity, decode_b, codes_b):
    def case():
        a, b = e4m3_codes(m, k), codes_b(n, k)
        sa, sb = rng.integers(120, 134, (m, k // granularity)), rng.integers(120, 134, (n, k // granularity))
        x = e4m3_value(a) * np.repeat(2.0 ** (sa - 127.0), granularity, 1)
        y = decode_b(b) * np.repeat(2.0 ** (sb - 127.0), granularity, 1)
        # A word holds four scales of a row; words of one k lie side by side.
        words = [np.ascontiguousarray(pack_bytes(s).T).ravel() for s in (sa, sb)]
        return {"A": a, "B": b, "SA": words[0], "SB": words[1]}, {"C": (x @ y.T, 1e-6)}

    return case


def chunked(words):
    """Chunks of one k: [row % 32][row // 32]."""
    rows, columns = words.shape
    return np.ascontiguousarray(words.T.reshape(columns, rows // 32, 32).transpose(0, 2, 1)).reshape(rows, columns)


def scaled_nvfp4(m, n, k, arrange):
    def case():
        a, b = rng.integers(0, 16, (m, k)), rng.integers(0, 16, (n, k))
        sa, sb = e4m3_codes(m, k // 16) & 0x7F, e4m3_codes(n, k // 16) & 0x7F
        sa, sb = np.where(sa == 0x7F, 0x38, sa), np.where(sb == 0x7F, 0x38, sb)
        x = e2m1_value(a) * np.repeat(e4m3_value(sa), 16, 1)
        y = e2m1_value(b) * np.repeat(e4m3_value(sb), 16, 1)
        scales = {"SA": arrange(pack_bytes(sa)), "SB": arrange(pack_bytes(sb))}
        return {"A": pack_nibbles(a), "B": pack_nibbles(b), **scales}, {"C": (x @ y.T, 1e-6)}

    return case


def pair():
    a, b = half(256, 48), half(48, 64)
    return {"A": a, "B": b}, {"C": (f(a) @ f(b), 1e-6)}


# ---- 2:4 sparsity
def sparse(m, n, k, dtype, bits, turned):
    def case():
        whole = dtype == np.int8
        of_32 = dtype == np.float32
        group = 2 if of_32 else 4
        dense = rng.integers(-8, 8, (m, k)) if whole else rng.standard_normal((m, k))
        dense = dense.astype(dtype)
        kept = np.sort(np.argsort(rng.random((m, k // group, group)), 2)[:, :, :group // 2], 2)
        mask = np.zeros((m, k // group, group), bool)
        np.put_along_axis(mask, kept, True, 2)
        dense = dense * mask.reshape(m, k).astype(dtype)
        stored = np.take_along_axis(dense.reshape(m, k // group, group), kept, 2).reshape(m, k // 2)
        nibbles = np.where(kept[:, :, 0] == 0, 0b0100, 0b1110) if of_32 else kept[:, :, 0] | kept[:, :, 1] << 2
        per = bits // 4
        e = np.zeros((m, k // group // per), np.uint64)
        for i in range(per):
            e |= nibbles[:, i::per].astype(np.uint64) << np.uint64(4 * i)
        e = e.astype(np.uint32 if bits == 32 else np.uint16).view(np.int32 if bits == 32 else np.int16)
        b = rng.integers(-8, 8, (k, n)).astype(np.int8) if whole else rng.standard_normal((k, n)).astype(dtype)
        return {"A": stored, "E": e.T if turned else e, "B": b}, {"C": (f(dense) @ f(b), 0 if whole else 1e-6)}

    return case


# ---- pointers, views, vectors, exchanges
def pointers():
    a, b = [half(8, 16) for _ in range(3)], [half(16, 32) for _ in range(3)]
    rows = np.array([8, 3, 5], np.int32)
    want = np.zeros((3, 8, 32))
    for g in range(3):
        want[g, :rows[g]] = (f(a[g]) @ f(b[g]))[:rows[g]]
    memory = {f"memory.{n}": x for n, x in enumerate(a + b)}
    tables = np.array([[(g + 1) << 40, (g + 4) << 40] for g in range(3)], np.int64)
    given = {"tables": tables, "rows": rows, "C": np.zeros((3, 8, 32), np.float32)}
    return {**given, **memory}, {"C": (want, 1e-6)}


def own_bits():
    x = single(64)
    octets = x.view(np.uint8).reshape(64, 4).astype(np.float64)
    return {"X": x}, {"Y": (octets, 0), "Z": (2.0 + np.arange(64), 0)}  # 0x40000000 is 2


def slices():
    x = half(4, 3, 8)
    want = np.stack([x[1 + b, 2].view(np.float32) for b in range(2)])
    return {"X": x}, {"Y": (f(want), 0)}


def vectors():
    a, p = half(32, 8), single(64, 2)
    t = np.arange(32)
    want = f(p[2 * t]) * f(p[2 * t + 1]) + f((p[t] + np.float32(0.5)).astype(np.float32))
    return {"A": a, "P": p, "B": np.zeros((32, 8), np.float16), "Q": np.zeros((32, 2), np.float32)}, {
        "B": (f(a), 0), "Q": (want, 1e-7)}


def column_sums():
    x = single(8, 4)
    return {"X": x}, {"Y": (np.repeat(f(x).sum(1, keepdims=True), 4, 1), 1e-6)}


def neighbours():
    x = single(4, 32)
    return {"X": x}, {"Y": (np.roll(f(x), 1, 0), 0)}


def launch_control():
    """Every tile is done once; by whom depends on who asks first."""
    def owned(got):
        return ((got >= 0) & (got < 12)).astype(np.float64)

    zero = np.zeros(12, np.int32)
    return {"count": zero, "owner": zero - 1}, {"count": (np.ones(12), 0), "owner": (np.ones(12), 0, owned)}


# What cuRAND (CUDA 13, on the host) gives for curand_init(1234, thread, 3): uniform, normal, and normal of doubles.
CURAND = {
    0: ([0.796055257, 0.620832324, 0.112275332, 0.977164328],
        [2.24717617, 0.0116805658, -0.169133276, 0.0517143905, -1.08497286, -0.26750806],
        [0.61485376305129624, 1.1071949250890887, -2.4071388670160405, 0.61305908771122142]),
    1: ([0.0589176342, 0.0276278481, 0.395469338, 0.115283117],
        [0.997911513, 0.532948494, 0.910589576, -1.27467072, 0.840233922, 0.522189498],
        [0.1245081364525512, 0.64001085825165027, 0.12130412938989472, -0.074205655763507739]),
    31: ([0.555668116, 0.355574518, 0.353535205, 0.212121457],
         [1.37852526, -0.851224661, 0.522547066, -0.188038483, 1.18132055, -1.08146],
         [2.2096722286026473, 0.0024599612002145044, 0.98573410133933981, -0.019788557907641297]),
}


def random_numbers():
    rows = list(CURAND)

    def some(got):
        return f(got[rows])

    return {}, {name: (np.array([CURAND[r][i] for r in rows]), 1e-6, some) for i, name in enumerate("UVW")}


# ---- roundings, by exact fractions
def directed(exact, up):
    """The float32 next to an exact fraction, in a direction."""
    near = np.float32(float(exact))
    too_far = (lambda v: v < exact) if up else (lambda v: v > exact)
    from fractions import Fraction
    while too_far(Fraction(float(near))):
        near = np.nextafter(near, np.float32(math.inf if up else -math.inf))
    other = np.nextafter(near, np.float32(-math.inf if up else math.inf))
    return other if not too_far(Fraction(float(other))) else near


def roundings():
    from fractions import Fraction
    x, y = single(64) * 5, single(64)
    x[:4] = [2.5, -2.5, 0.5, 3.3]
    exact = [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(x, y)]
    up = np.array([directed(a * b, True) for a, b in exact])
    down = np.array([directed(a + b, False) for a, b in exact])
    cut = x.astype(np.float16)
    cut = np.where(np.abs(cut.astype(np.float64)) > np.abs(x), np.nextafter(cut, np.float16(0)), cut)
    whole = np.trunc(f(x) + np.copysign(0.5, x))
    bits = x.view(np.uint32).astype(np.uint64) + (np.arange(64, dtype=np.uint64) * 1000 & 0xFFFF)
    chance = bf16_value((bits >> 16).astype(np.uint16))
    return {"X": x, "Y": y}, {
        "up": (f(up), 0), "down": (f(down), 0), "cut": (f(cut), 0), "whole": (whole, 0),
        "chance": (f(chance), 0, lambda got: f(bf16_value(got))),
    }


CASES = [
    ("scales of 32, tensor memory", "scaled.py", "tensor_memory", 0, scaled(128, 256, 256, 32, e5m2_value, e5m2_codes)),
    ("scales of 128, tensor memory", "scaled.py", "tensor_memory", 1,
     scaled(128, 128, 512, 128, e4m3_value, e4m3_codes)),
    ("scales of 16, by rows", "scaled.py", "registers", 0, scaled_nvfp4(64, 96, 192, lambda w: w)),
    ("scales of 16, in chunks", "scaled.py", "registers", 1, scaled_nvfp4(64, 96, 192, chunked)),
    ("gemm of two CTAs", "scaled.py", "pair", 0, pair),
    ("2:4 sparse f16", "scaled.py", "sparse", 0, sparse(48, 40, 128, np.float16, 16, False)),
    ("2:4 sparse f16, metadata turned", "scaled.py", "sparse", 1, sparse(48, 40, 128, np.float16, 32, True)),
    ("2:4 sparse int8", "scaled.py", "sparse", 2, sparse(32, 24, 128, np.int8, 32, False)),
    ("1:2 sparse f32", "scaled.py", "sparse", 3, sparse(32, 24, 64, np.float32, 16, False)),
    ("tables of pointers", "machine.py", "through_pointers", 0, pointers),
    ("bits of a thread's own array", "machine.py", "bits_of_own_arrays", 0, own_bits),
    ("views that begin inside", "machine.py", "slices_as_views", 0, slices),
    ("vectors", "machine.py", "vectors", 0, vectors),
    ("sums over one thread index", "machine.py", "sums_over_columns", 0, column_sums),
    ("cluster arrive and wait", "machine.py", "neighbours", 0, neighbours),
    ("cluster launch control", "machine.py", "launch_control", 0, launch_control),
    ("random numbers", "machine.py", "random_numbers", 0, random_numbers),
    ("roundings", "machine.py", "roundings", 0, roundings),
]
