"""Formulas that kernels compute, in double precision: what the tables of references name. Axes: b batch, s row, h head,
d element. Grouped heads: fewer heads of K and V are shared by neighbouring heads of Q."""
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def bshd(x):
    return np.swapaxes(x, 1, 2)


def scores(q, k, causal=False, scale=None, window=None):
    """Of Q and K as b h s d; masked places are -inf."""
    k = np.repeat(k, q.shape[1] // k.shape[1], 1)
    s = np.einsum("bhid,bhjd->bhij", q, k) * (q.shape[3] ** -0.5 if scale is None else scale)
    i, j = np.arange(s.shape[2])[:, None] + s.shape[3] - s.shape[2], np.arange(s.shape[3])[None, :]
    keep = np.ones(s.shape[2:], bool)
    if causal:
        keep &= j <= i
    if window:
        keep &= i - j < window
    return np.where(keep, s, -np.inf)


def attention(q, k, v, causal=False, scale=None, window=None, sinks=None):
    """Of b h s d. A sink is one more score of a head, without a value."""
    s = scores(q, k, causal, scale, window)
    if sinks is not None:
        s = np.concatenate([s, np.broadcast_to(sinks[None, :, None, None], (*s.shape[:3], 1))], 3)
    p = softmax(s)[..., :k.shape[2]]
    return np.einsum("bhij,bhjd->bhid", p, np.repeat(v, q.shape[1] // v.shape[1], 1))


def attention_bshd(q, k, v, **how):
    return bshd(attention(bshd(q), bshd(k), bshd(v), **how))


def log2_sums(q, k, causal=False, scale=None, window=None, sinks=None):
    s = scores(q, k, causal, scale, window)
    if sinks is not None:
        s = np.concatenate([s, np.broadcast_to(sinks[None, :, None, None], (*s.shape[:3], 1))], 3)
    top = s.max(3)
    return (np.log(np.exp(s - top[..., None]).sum(3)) + top) * np.log2(np.e)


def attention_grads(q, k, v, do, lse, delta, causal=False, scale=None, window=None):
    """dQ, dK, dV of b h s d, from the base-2 logarithms of the sums and the rows' products of O and dO."""
    scale = q.shape[3] ** -0.5 if scale is None else scale
    group = q.shape[1] // k.shape[1]
    p = np.exp2(scores(q, k, causal, scale, window) * np.log2(np.e) - lse[..., None])
    dp = np.einsum("bhid,bhjd->bhij", do, np.repeat(v, group, 1))
    ds = p * (dp - delta[..., None]) * scale

    def shared(x):
        b, h, s, d = x.shape
        return x.reshape(b, h // group, group, s, d).sum(2)

    return (np.einsum("bhij,bhjd->bhid", ds, np.repeat(k, group, 1)), shared(np.einsum("bhij,bhid->bhjd", ds, q)),
            shared(np.einsum("bhij,bhid->bhjd", p, do)))


def latent_decode(q, q_rope, kv, k_rope, scale=None):
    """Q [b, h, d] on one latent head: KV [b, s, 1, d] is keys and values, with a rotary part."""
    scale = (q.shape[2] + q_rope.shape[2]) ** -0.5 if scale is None else scale
    s = (np.einsum("bhd,bjd->bhj", q, kv[:, :, 0]) + np.einsum("bhd,bjd->bhj", q_rope, k_rope[:, :, 0])) * scale
    return np.einsum("bhj,bjd->bhd", softmax(s), kv[:, :, 0])


def by_sequences(q, k, v, starts_q, starts_k, causal=False):
    """Attention of sequences that lie one after the other: [rows, heads, d]."""
    out = np.zeros((q.shape[0], q.shape[1], v.shape[2]))
    for a, b, c, d in zip(starts_q, starts_q[1:], starts_k, starts_k[1:]):
        if b > a and d > c:
            out[a:b] = attention_bshd(q[None, a:b], k[None, c:d], v[None, c:d], causal=causal)[0]
    return out


def convolution(image, weight, stride=1, dilation=1, pad=0):
    """NHWC with weights KKCF."""
    kernel = weight.shape[0]
    padded = np.pad(image, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    rows = (padded.shape[1] - dilation * (kernel - 1) - 1) // stride + 1
    columns = (padded.shape[2] - dilation * (kernel - 1) - 1) // stride + 1
    out = np.zeros((image.shape[0], rows, columns, weight.shape[3]))
    for r in range(kernel):
        for s in range(kernel):
            y, x = r * dilation, s * dilation
            out += padded[:, y:y + rows * stride:stride, x:x + columns * stride:stride] @ weight[r, s]
    return out


def layer_norm(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma + beta


def layer_norm_grads(dy, x, gamma, mean, rstd):
    """Of X and gamma."""
    unit, scaled = (x - mean[:, None]) * rstd[:, None], dy * gamma
    dx = scaled - scaled.mean(1, keepdims=True) - unit * (scaled * unit).mean(1, keepdims=True)
    return dx * rstd[:, None], (dy * unit).sum(0)


def group_amax(x, width=128, least=1e-4):
    return np.maximum(np.abs(x).reshape(*x.shape[:-1], x.shape[-1] // width, width).max(-1), least)


def spread(scales, width, axis=-1):
    return np.repeat(scales, width, axis)


def nibbles(packed):
    """Two 4-bit codes a byte, the low one first, along the last axis."""
    packed = packed.astype(np.int64) & 255
    return np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], packed.shape[-1] * 2)


def signed4(codes):
    return codes - 16 * (codes > 7)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def chunk_sums(x, width, axis, reverse=False):
    """Running sums inside chunks of an axis."""
    x = np.moveaxis(x, axis, -1)
    parts = x.reshape(*x.shape[:-1], x.shape[-1] // width, width)
    sums = np.flip(np.cumsum(np.flip(parts, -1), -1), -1) if reverse else np.cumsum(parts, -1)
    return np.moveaxis(sums.reshape(x.shape), -1, axis)


def starts(total, count):
    """Where `count` sequences of different lengths begin and end, within `total` rows."""
    cut = np.sort(np.random.default_rng(5).choice(np.arange(1, total), count - 1, replace=False))
    return np.concatenate([[0], cut, [total]])


def grouped_memory(groups, rows, inner, columns):
    """A, B and C of each group, as bytes of float16; C zero."""
    rng = np.random.default_rng(11)
    a = [(rng.standard_normal((rows, inner)) * 0.5).astype(np.float16) for _ in range(groups)]
    b = [(rng.standard_normal((inner, columns)) * 0.5).astype(np.float16) for _ in range(groups)]
    return a + b + [np.zeros((rows, columns), np.float16) for _ in range(groups)]


def grouped_product(groups, rows, inner, columns, group, used):
    """C of a group, of which the first `used` rows are computed."""
    memory = grouped_memory(groups, rows, inner, columns)
    product = memory[group].astype(np.float64) @ memory[groups + group].astype(np.float64)
    product[used:] = 0
    return product


def expert(x, gate, up, down):
    """A gated layer: SiLU of one product times another, and back."""
    g = x @ gate.T
    return (g / (1 + np.exp(-g)) * (x @ up.T)) @ down.T


# ---- linear attention: b s h d, in chunks along s
def linear_attention_grads(q, k, v, do):
    """Of O = tril(scale Q K^T) V."""
    scale = q.shape[3] ** -0.5
    keep = np.tril(np.ones((q.shape[1], q.shape[1])))
    s = np.einsum("bihd,bjhd->bhij", q, k) * scale * keep
    ds = np.einsum("bihd,bjhd->bhij", do, v) * scale * keep
    return (np.einsum("bhij,bjhd->bihd", ds, k), np.einsum("bhij,bihd->bjhd", ds, q),
            np.einsum("bhij,bihd->bjhd", s, do))


def scaled_dot_kkt(k, beta, g, chunk):
    """beta_i K_i . K_j exp(g_i - g_j) for j < i in the chunk."""
    b, s, h, d = k.shape
    k, beta, g = k.reshape(b, -1, chunk, h, d), beta.reshape(b, -1, chunk, h), g.reshape(b, -1, chunk, h)
    a = np.einsum("bcihd,bcjhd->bcihj", k, k) * beta[..., None]
    a = a * np.exp(g[:, :, :, :, None] - np.moveaxis(g, 2, 3)[:, :, None])
    keep = np.tril(np.ones((chunk, chunk)), -1)
    return (a * keep[None, None, :, None, :]).reshape(b, s, h, chunk)


def gated_chunk_output(q, k, v, states, g, chunk, scale):
    b, s, h, d = q.shape
    q, k, v = (x.reshape(b, -1, chunk, h, x.shape[3]) for x in (q, k, v))
    g = g.reshape(b, -1, chunk, h)
    a = np.einsum("bcihd,bcjhd->bcihj", q, k) * np.exp(g[:, :, :, :, None] - np.moveaxis(g, 2, 3)[:, :, None])
    a = a * np.tril(np.ones((chunk, chunk)))[None, None, :, None, :]
    o = np.einsum("bcihd,bchde->bcihe", q, states) * np.exp(g)[..., None] + np.einsum("bcihj,bcjhe->bcihe", a, v)
    return (o * scale).reshape(b, s, h, -1)


def gated_delta_states(k, w, u, g, first, chunk):
    """States before each chunk, the last one, and U - W state."""
    b, s, h, d = k.shape
    states, fresh, state = [], [], first
    for at in range(0, s, chunk):
        part = slice(at, at + chunk)
        states.append(state)
        new = u[:, part] - np.einsum("bihd,bhde->bihe", w[:, part], state)
        fresh.append(new)
        last = g[:, at + chunk - 1]
        scaled = new * np.exp(last[:, None] - g[:, part])[..., None]
        state = state * np.exp(last)[..., None, None] + np.einsum("bihd,bihe->bhde", k[:, part], scaled)
    return np.stack(states, 1), state, np.concatenate(fresh, 1)


def mamba_chunk_scan(cb, x, dt, da, c, states, d):
    batch, chunks, groups, chunk, _ = cb.shape
    heads = x.shape[2]
    out = np.zeros(x.shape)
    for b in range(batch):
        for n in range(chunks):
            at = slice(n * chunk, (n + 1) * chunk)
            for h in range(heads):
                group = h // (heads // groups)
                a = da[b, h, n]
                mix = np.tril(cb[b, n, group] * np.exp(a[:, None] - a[None, :]) * dt[b, h, n][None, :])
                carried = np.exp(a)[:, None] * (c[b, at, group] @ states[b, n, h].T)
                out[b, at, h] = mix @ x[b, at, h] + carried + x[b, at, h] * d[h]
    return out
