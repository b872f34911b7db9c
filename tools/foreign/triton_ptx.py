"""Prints the PTX that Triton makes of one of the kernels below for sm_90a, its launch manifest in front; needs no GPU.

  triton_ptx.py NAME       (a Python that has triton; tools/foreign/run.py calls it)
The kernels are written here, after Triton's documentation: what is foreign is the code that its compiler makes of them. Parameters of the
PTX are those of the kernel that are no constexpr, then two addresses of scratch memory; a tensor descriptor is a tensor map, its
shape and its strides.
"""
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

M, N, K, HEADS, SEQ, DIM, ROWS, COLUMNS = 256, 256, 208, 2, 256, 64, 8, 1008


@triton.jit
def matmul(a, b, c, m, n, k, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * sa + rk[None, :]
    pb = b + rk[:, None] * sb + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, BK)):
        x = tl.load(pa, mask=rk[None, :] < k - i * BK, other=0.0)
        y = tl.load(pb, mask=rk[:, None] < k - i * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * sb
    tl.store(c + rm[:, None] * sc + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < m) & (rn[None, :] < n))


@triton.jit
def softmax(x, y, n, stride, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + at, e / tl.sum(e, axis=0), mask=at < n)


@triton.jit
def attention(q, k, v, o, seq, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    base = tl.program_id(1) * seq * D
    x = tl.load(q + base + rm[:, None] * D + rd[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for at in range(0, seq, BN):
        rn = at + tl.arange(0, BN)
        y = tl.load(k + base + rn[None, :] * D + rd[:, None])
        s = tl.dot(x, y) * scale
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - now[:, None])
        shrink = tl.exp2(most - now)
        total = total * shrink + tl.sum(p, 1)
        z = tl.load(v + base + rn[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(tl.float16), z, acc * shrink[:, None])
        most = now
    tl.store(o + base + rm[:, None] * D + rd[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def matmul_maps(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, BK)):
        acc = tl.dot(a.load([m, i * BK]), b.load([n, i * BK]).T, acc)
    c.store([m, n], acc.to(tl.float16))


@triton.jit
def matmul_own_maps(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ROLES: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    at_m, at_n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in tl.range(0, tl.cdiv(k, BK), warp_specialize=ROLES):
        acc = tl.dot(da.load([at_m, i * BK]), db.load([at_n, i * BK]).T, acc)
    dc.store([at_m, at_n], acc.to(tl.float16))


def buffers(names, dtype, shape, out):
    return [f"tensor: {n} {dtype} shape={shape} role={'out' if n == out else 'in'}" for n in names]


def pointers(names):
    return [f"arg: {n} buffer of={n}" for n in names]


def integers(**values):
    return [f"arg: {n} i32 {v}" for n, v in values.items()]


def tensor_map(name, rows, columns):
    return [f"arg: {name}map tensormap f16 dims={columns},{rows} strides={2 * columns} box=64,128 swizzle=128B of={name}",
            f"arg: {name}rows i32 {rows}", f"arg: {name}columns i32 {columns}", f"arg: {name}stride u64 {columns}", f"arg: {name}one u64 1"]


MATMUL = [f"tensor: a f16 shape={M},{K} role=in", f"tensor: b f16 shape={N},{K} role=in", f"tensor: c f16 shape={M},{N} role=out"]
MATMUL_NN = [MATMUL[0], f"tensor: b f16 shape={K},{N} role=in", MATMUL[2]]
TILE = dict(BM=128, BN=128, BK=64)
DESCRIPTORS = dict(a="tensordesc<fp16[128, 64]>", b="tensordesc<fp16[128, 64]>", c="tensordesc<fp16[128, 128]>")
HALVES = dict(a="*fp16", b="*fp16", c="*fp16")


def row(kernel, types, constants, grid, head, stages=3, warps=4):
    return kernel, types, constants, grid, head, dict(num_stages=stages, num_warps=warps)


def staged(stages, warps):
    return row(matmul, {**HALVES, **dict.fromkeys(["m", "n", "k", "sa", "sb", "sc"], "i32")}, TILE, "2,2",
               MATMUL_NN + pointers("abc") + integers(m=M, n=N, k=K, sa=K, sb=N, sc=N), stages, warps)


def own_maps(roles):
    return row(matmul_own_maps, {**HALVES, **dict.fromkeys("mnk", "i32")}, {**TILE, "ROLES": roles}, "2,2",
               MATMUL + pointers("abc") + integers(m=M, n=N, k=K))


ROWS = {
    "matmul 1 stage": staged(1, 8),
    "matmul 2 stages": staged(2, 4),
    "matmul 4 stages": staged(4, 4),
    "softmax": row(softmax, dict(x="*fp32", y="*fp32", n="i32", stride="i32"), dict(B=1024), ROWS,
                   buffers("xy", "f32", f"{ROWS},{COLUMNS}", "y") + pointers("xy") + integers(n=COLUMNS, stride=COLUMNS)),
    "attention": row(attention, dict(q="*fp16", k="*fp16", v="*fp16", o="*fp16", seq="i32", scale="fp32"), dict(BM=128, BN=64, D=DIM),
                     f"{SEQ // 128},{HEADS}", buffers("qkvo", "f16", f"{HEADS},{SEQ},{DIM}", "o") + pointers("qkvo") +
                     integers(seq=SEQ) + ["arg: scale f32 0.18033688"]),
    "matmul maps": row(matmul_maps, {**DESCRIPTORS, "k": "i32"}, TILE, "2,2",
                       MATMUL + tensor_map("a", M, K) + tensor_map("b", N, K) + tensor_map("c", M, N) + integers(k=K), warps=8),
    "matmul own maps": own_maps(False),
    "matmul own maps, roles": own_maps(True),
}


def main():
    kernel, types, constants, grid, head, options = ROWS[sys.argv[1]]
    signature = {**types, **dict.fromkeys(constants, "constexpr")}
    order = list(signature)
    # All sizes and strides are multiples of 16, which Triton's launcher would say, too.
    aligned = {(order.index(n),): [["tt.divisibility", 16]] for n, t in types.items() if t[0] == "*" or t == "i32"}
    source = ASTSource(kernel, signature, constexprs={(order.index(n),): v for n, v in constants.items()}, attrs=aligned)
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    about = made.metadata
    ctas = 1
    for extent in str(grid).split(","):
        ctas *= int(extent)
    scratch = about.global_scratch_size * ctas
    print(f"// launch: kernel={about.name} grid={grid} block={32 * about.num_warps} smem={about.shared}")
    for line in head:
        print("// " + line)
    if scratch:
        print(f"// tensor: scratch u8 shape={scratch} role=inout fill=zero")
    print("// arg: scratch " + ("buffer of=scratch" if scratch else "u64 0") + "\n// arg: profile u64 0")
    print(made.asm["ptx"])


if __name__ == "__main__":
    main()
