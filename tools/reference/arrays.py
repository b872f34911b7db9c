"""Arrays for references: random inputs, and the element types that NumPy lacks, as bits and as values."""
import numpy as np

rng = np.random.default_rng(7)


def half(*shape):
    return rng.standard_normal(shape).astype(np.float16)


def single(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def f(x):
    return x.astype(np.float64)


def softmax_ref(s):
    s = s - s.max(axis=-1, keepdims=True)
    e = np.exp(s)
    return e / e.sum(axis=-1, keepdims=True)


def bf16_bits(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def bf16_value(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def e4m3_value(codes):
    sign = np.where(codes & 0x80, -1.0, 1.0)
    exponent, mantissa = (codes >> 3) & 15, codes & 7
    small = mantissa / 8 * 2.0**-6
    return sign * np.where(exponent == 0, small, (1 + mantissa / 8) * 2.0 ** (exponent.astype(float) - 7))


def e5m2_value(codes):
    return (codes.astype(np.uint16) << 8).view(np.float16).astype(np.float64)


def e2m1_value(codes):
    return np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])[codes]


def pack_nibbles(codes):
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def pack_bytes(codes):
    """Four bytes a 32-bit word, the first lowest."""
    return np.ascontiguousarray(codes.astype(np.uint8)).view(np.uint32)
