#!/usr/bin/python3
"""Probes of the matrix and copy instructions on a GPU: kernels of many forms each, the same for the GPU and the simulator.

  probe_matrix.py write            writes the kernels into testdata/gpu/matrix (NAME.ptx, launch and arguments in the header)
  probe_matrix.py bundle DIR       a bundle of each kernel for `tilereplay DIR/* --record OUT`, expecting what the simulator
                                   gives (needs build/tools/tilesim, and ptxas for the cubin)

The recordings (OUT/NAME.txt) belong beside the kernels; sim/exec/recorded_test.cc compares the simulator with them: bits
where sums are exact, samples within a tolerance where the order of sums shows."""
import os
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "testdata/gpu/matrix")
TOOLS = os.path.join(ROOT, "build/tools")
PTX = ".version 9.0\n.target sm_90a\n.address_size 64\n"
TOLERANCE = 1e-3


class Kernel:
    """name, header lines, PTX text, outputs: name -> 'bits' or 'samples'."""

    def __init__(self, name, launch, tensors, args, body, outputs):
        self.name, self.outputs = name, outputs
        self.manifest = [f"launch: kernel=k {launch}"] + [f"tensor: {t}" for t in tensors] + [f"arg: {a}" for a in args]
        self.text = body


def vec(names):
    return "{" + ", ".join(names) + "}"


def regs(prefix, n):
    return [f"%{prefix}{i}" for i in range(n)]


# ---------------------------------------------------------------- mma.sync and mma.sp

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}


def mma_forms(acc):
    """(head, m, n, k, a, b, suffix, sparse selector or None, satfinite) of one accumulator type."""
    plain, out = "mma.sync.aligned", []
    if acc in ("f32", "f16"):
        for k in (8, 16):
            out.append((plain, 16, 8, k, "f16", "f16", "", None, ""))
        for a in ("e4m3", "e5m2"):
            for b in ("e4m3", "e5m2"):
                for k in (16, 32):
                    out.append((plain, 16, 8, k, a, b, "", None, ""))
        for k, n in ((16, 4), (32, 2)):
            for s in range(n):
                out.append(("mma.sp::ordered_metadata.sync.aligned", 16, 8, k, "f16", "f16", "", s, ""))
    if acc == "f32":
        for k in (8, 16):
            out.append((plain, 16, 8, k, "bf16", "bf16", "", None, ""))
        for k in (4, 8):
            out.append((plain, 16, 8, k, "tf32", "tf32", "", None, ""))
        for t, ks in (("bf16", ((16, 4), (32, 2))), ("tf32", ((8, 4), (16, 2))), ("e4m3", ((64, 1),)), ("e5m2", ((64, 1),))):
            for k, n in ks:
                for s in range(n):
                    out.append(("mma.sp::ordered_metadata.sync.aligned", 16, 8, k, t, t, "", s, ""))
    if acc == "s32":
        for t, small, ks, sparse in (("8", 16, (16, 32), ((32, 2), (64, 1))), ("4", 32, (32, 64), ((64, 2), (128, 1)))):
            for a in ("s" + t, "u" + t):
                for b in ("s" + t, "u" + t):
                    out.append((plain, 8, 8, small, a, b, "", None, ""))
                    for k in ks:
                        for sat in ("", ".satfinite"):
                            out.append((plain, 16, 8, k, a, b, "", None, sat))
                    for k, n in sparse:
                        for s in range(n):
                            out.append(("mma.sp::ordered_metadata.sync.aligned", 16, 8, k, a, b, "", s, ""))
        for op in ("xor", "and"):
            for m, k in ((8, 128), (16, 128), (16, 256)):
                out.append((plain, m, 8, k, "b1", "b1", f".{op}.popc", None, ""))
    return out


def tensor_of(t):
    return {"f16": "h", "bf16": "b", "tf32": "f", "e4m3": "e4", "e5m2": "e5"}.get(t, "i")


def mma_kernel(name, acc, fill):
    """Operands are words of the input tensors; metadata is a rotation of legal nibbles by lane."""
    forms = mma_forms(acc)
    body = [".visible .entry k(.param .u64 h, .param .u64 b, .param .u64 f, .param .u64 e4, .param .u64 e5, .param .u64 i, .param .u64 out)\n{",
            ".reg .b32 %a<8>, %b<8>, %c<8>, %d<8>, %m, %n, %t, %s; .reg .b64 %p<9>, %o;",
            "mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4;"]
    for k, p in enumerate(("h", "b", "f", "e4", "e5", "i", "out")):
        body.append(f"ld.param.u64 %p{k}, [{p}]; add.s64 %p{k}, %p{k}, %o;")
    index = {"h": 0, "b": 1, "f": 2, "e4": 3, "e5": 4, "i": 5}
    total = 0
    for number, (head, m, n, k, a, b, suffix, selector, sat) in enumerate(forms):
        kept = k // 2 if selector is not None else k
        na, nb = max(1, m * kept * BITS[a] // 1024), max(1, n * k * BITS[b] // 1024)
        nc = max(1, m * n * (16 if acc == "f16" else 32) // 1024)
        start = number * 7 % 16
        for r in range(na):
            body.append(f"ld.global.b32 %a{r}, [%p{index[tensor_of(a)]}+{128 * ((start + r) % 32)}];")
        for r in range(nb):
            body.append(f"ld.global.b32 %b{r}, [%p{index[tensor_of(b)]}+{128 * ((start + 11 + r) % 32)}];")
        for r in range(nc):
            source = {"f32": 2, "f16": 0, "s32": 5}[acc]
            body.append(f"ld.global.b32 %c{r}, [%p{source}+{128 * ((start + 19 + r) % 32)}];")
        tail = ""
        if selector is not None:
            body.append(f"mov.u32 %m, {0x4E8D9C4E if a != 'tf32' else 0x4EE4E44E}; shl.b32 %n, %t, 2; shf.l.wrap.b32 %m, %m, %m, %n;")
            if a == "tf32":
                pass
            tail = f", %m, {selector}"
        body.append(f"{head}.m{m}n{n}k{k}.row.col{sat}.{acc}.{a}.{b}.{acc}{suffix} {vec(regs('d', nc))}, {vec(regs('a', na))}, "
                    f"{vec(regs('b', nb))}, {vec(regs('c', nc))}{tail};")
        for r in range(nc):
            body.append(f"st.global.b32 [%p6+{128 * (total + r)}], %d{r};")
        total += nc
    body.append("ret;\n}")
    words = 32 * total
    kind, count = {"f32": ("f32", words), "f16": ("f16", 2 * words), "s32": ("i32", words)}[acc]
    tensors = [f"h f16 shape=2048 fill={fill} seed=1", f"b bf16 shape=2048 fill={fill} seed=2", f"f f32 shape=1024 fill={fill} seed=3",
               f"e4 e4m3 shape=4096 fill={fill} seed=4", f"e5 e5m2 shape=4096 fill={fill} seed=5",
               "i u32 shape=1024 fill=BITS seed=6", f"out {kind} shape={count} role=out"]
    args = [f"{t} buffer of={t}" for t in ("h", "b", "f", "e4", "e5", "i", "out")]
    return Kernel(name, "grid=1 block=32", tensors, args, PTX + "\n".join(body) + "\n",
                  {"out": "bits" if acc == "s32" or fill == "ints" else "samples"})


def mma_f64_kernel():
    body = [".visible .entry k(.param .u64 in, .param .u64 out)\n{", ".reg .b64 %a<9>, %b<5>, %c<5>, %d<5>, %p, %q, %o; .reg .b32 %t;",
            "ld.param.u64 %p, [in]; ld.param.u64 %q, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 8; add.s64 %p, %p, %o; add.s64 %q, %q, %o;"]
    total = 0
    for m, k in ((8, 4), (16, 4), (16, 8), (16, 16)):
        na, nb, nc = max(1, m * k // 32), max(1, k * 8 // 32), m * 8 // 32
        for name, n, at in (("a", na, 0), ("b", nb, 9), ("c", nc, 14)):
            for r in range(n):
                body.append(f"ld.global.b64 %{name}{r}, [%p+{256 * (at + r)}];")
        body.append(f"mma.sync.aligned.m{m}n8k{k}.row.col.f64.f64.f64.f64 {vec(regs('d', nc))}, {vec(regs('a', na))}, {vec(regs('b', nb))}, {vec(regs('c', nc))};")
        for r in range(nc):
            body.append(f"st.global.b64 [%q+{256 * (total + r)}], %d{r};")
        total += nc
    return Kernel("mma_f64", "grid=1 block=32", ["in f64 shape=640 fill=normal seed=1", f"out f64 shape={32 * total} role=out"],
                  ["in buffer of=in", "out buffer of=out"], PTX + "\n".join(body) + "\nret;\n}\n", {"out": "samples"})


def volta_kernel():
    """m8n8k4 of f16: four layouts, three pairs of accumulators; f16 results are widened."""
    body = [".visible .entry k(.param .u64 h, .param .u64 f, .param .u64 out)\n{", ".reg .b32 %a<3>, %b<3>, %c<9>, %d<9>, %t; .reg .b64 %p, %q, %r, %o;",
            "ld.param.u64 %p, [h]; ld.param.u64 %q, [f]; ld.param.u64 %r, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.s64 %p, %p, %o; add.s64 %q, %q, %o; add.s64 %r, %r, %o;"]
    total = 0
    for la in ("row", "col"):
        for lb in ("row", "col"):
            for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32")):
                for r in range(2):
                    body.append(f"ld.global.b32 %a{r}, [%p+{128 * r}]; ld.global.b32 %b{r}, [%p+{128 * (3 + r)}];")
                nc, nd = (4 if c == "f16" else 8), (4 if d == "f16" else 8)
                for r in range(nc):
                    body.append(f"ld.global.b32 %c{r}, [%{'p' if c == 'f16' else 'q'}+{128 * (6 + r)}];")
                body.append(f"mma.sync.aligned.m8n8k4.{la}.{lb}.{d}.f16.f16.{c} {vec(regs('d', nd))}, {vec(regs('a', 2))}, {vec(regs('b', 2))}, {vec(regs('c', nc))};")
                for r in range(nd):
                    body.append(f"st.global.b32 [%r+{128 * (total + r)}], %d{r};")
                total += nd
    return Kernel("mma_m8n8k4", "grid=1 block=32", ["h f16 shape=2048 fill=ints seed=1", "f f32 shape=1024 fill=ints seed=2", f"out u32 shape={32 * total} role=out"],
                  ["h buffer of=h", "f buffer of=f", "out buffer of=out"], PTX + "\n".join(body) + "\nret;\n}\n", {"out": "bits"})


def ldmatrix_kernel():
    body = [".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.shared .align 128 .b8 s[2048]; .shared .align 128 .b8 z[512];",
            ".reg .b32 %a<5>, %t, %s, %z, %x, %y; .reg .b64 %p, %q, %o; .reg .pred %e;",
            "ld.param.u64 %p, [in]; ld.param.u64 %q, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.s64 %p, %p, %o; add.s64 %q, %q, %o; mov.u32 %s, s; mov.u32 %z, z; shl.b32 %x, %t, 2;"]
    for r in range(16):
        body.append(f"ld.global.b32 %a0, [%p+{128 * r}]; add.u32 %y, %s, %x; st.shared.b32 [%y+{128 * r}], %a0;")
    body.append("bar.warp.sync -1; mul.lo.u32 %y, %t, 5; and.b32 %y, %y, 31; shl.b32 %y, %y, 4; add.u32 %s, %s, %y;")  # rows in an odd order
    total = 0
    for n in (1, 2, 4):
        for tr in ("", ".trans"):
            body.append(f"ldmatrix.sync.aligned.m8n8.x{n}{tr}.shared.b16 {vec(regs('a', n))}, [%s+{512 if tr else 0}];")
            for r in range(n):
                body.append(f"st.global.b32 [%q+{128 * (total + r)}], %a{r};")
            total += n
            body.append("add.u32 %y, %z, %x;")
            for r in range(4):
                body.append(f"st.shared.b32 [%y+{128 * r}], -1;")
            body.append(f"bar.warp.sync -1; shl.b32 %y, %t, 4; add.u32 %y, %y, %z; stmatrix.sync.aligned.m8n8.x{n}{tr}.shared.b16 [%y], {vec(regs('a', n))}; bar.warp.sync -1; add.u32 %y, %z, %x;")
            for r in range(4):
                body.append(f"ld.shared.b32 %a{r}, [%y+{128 * r}]; st.global.b32 [%q+{128 * (total + r)}], %a{r};")
            total += 4
            body.append("bar.warp.sync -1;")
    body.append(f"movmatrix.sync.aligned.m8n8.trans.b16 %a1, %a0; st.global.b32 [%q+{128 * total}], %a1;")
    return Kernel("ldmatrix", "grid=1 block=32", ["in u32 shape=512 fill=BITS seed=3", f"out u32 shape={32 * (total + 1)} role=out"], ["in buffer of=in", "out buffer of=out"],
                  PTX + "\n".join(body) + "\nret;\n}\n", {"out": "bits"})


# ---------------------------------------------------------------- wgmma

ROW = 32  # bytes of a row of dense operands


def k_major(start, chunks, base):
    """No swizzle: 8 rows of 16 bytes, chunks of a row 128 bytes apart, groups of eight rows behind each other."""
    return (start >> 4) | (128 >> 4) << 16 | ((128 * chunks) >> 4) << 32


def mn_major(extent):
    return (128 * (extent // 8) >> 4) << 16 | (128 >> 4) << 32


def wgmma_forms(group):
    out = []
    if group in ("f32", "f16"):
        acc = group
        for src in ("SS", "RS"):
            for ta in ((0, 1) if src == "SS" else (0,)):
                for tb in (0, 1):
                    out.append((acc, "f16", "f16", 64, 16, src, ta, tb, 1, 1, None))
                    if acc == "f32":
                        out.append((acc, "bf16", "bf16", 64, 16, src, ta, tb, 1, 1, None))
        for n in (8, 24, 200, 256):
            out.append((acc, "f16", "f16", n, 16, "SS", 0, 0, 1, 1, None))
        for sa, sb in ((-1, 1), (1, -1), (-1, -1)):
            out.append((acc, "f16", "f16", 16, 16, "SS", 0, 0, sa, sb, None))
        for a in ("e4m3", "e5m2"):
            for b in ("e4m3", "e5m2"):
                for src in ("SS", "RS"):
                    out.append((acc, a, b, 32, 32, src, 0, 0, 1, 1, None))
        for src in ("SS", "RS"):
            for sel in (0, 1):
                out.append((acc, "f16", "f16", 32, 32, src, 0, 0, 1, 1, sel))
            out.append((acc, "e4m3", "e5m2", 32, 64, src, 0, 0, 1, 1, 0))
        if acc == "f32":
            for src in ("SS", "RS"):
                out.append((acc, "tf32", "tf32", 32, 8, src, 0, 0, 1, 1, None))
                for sel in (0, 1):
                    out.append((acc, "tf32", "tf32", 32, 16, src, 0, 0, 1, 1, sel))
    else:
        for a in ("s8", "u8"):
            for b in ("s8", "u8"):
                for src in ("SS", "RS"):
                    out.append(("s32", a, b, 24, 32, src, 0, 0, 1, 1, None))
                    out.append(("s32", a, b, 32, 64, src, 0, 0, 1, 1, 0))
                out.append(("s32.sat", a, b, 16, 32, "SS", 0, 0, 1, 1, None))
        for src in ("SS", "RS"):
            out.append(("s32", "b1", "b1", 48, 256, src, 0, 0, 1, 1, None))
    return out


def wgmma_kernel(name, group, fill):
    """Shared memory: A at 0, B at 8192, from the tensor of A's or B's type. Accumulators start from C."""
    forms = wgmma_forms(group)
    body = [".visible .entry k(.param .u64 h, .param .u64 b, .param .u64 f, .param .u64 e4, .param .u64 e5, .param .u64 i, .param .u64 out)\n{",
            ".shared .align 1024 .b8 s[24576];", ".reg .b32 %a<5>, %d<129>, %m, %n, %t, %s, %x, %y; .reg .b64 %p<9>, %o, %da, %db, %base; .reg .pred %q, %e;",
            "mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; mov.u32 %s, s; setp.eq.u32 %q, %t, %t; cvt.u64.u32 %base, %s; shr.u64 %base, %base, 4; and.b64 %base, %base, 16383;"]
    for k, p in enumerate(("h", "b", "f", "e4", "e5", "i", "out")):
        body.append(f"ld.param.u64 %p{k}, [{p}]; add.s64 %p{k}, %p{k}, %o;")
    index = {"h": 0, "b": 1, "f": 2, "e4": 3, "e5": 4, "i": 5}
    total = 0
    for number, (acc, a, b, n, k, src, ta, tb, sa, sb, sel) in enumerate(forms):
        sat = ".satfinite" if acc == "s32.sat" else ""
        acc = acc.split(".")[0]
        half = acc == "f16"
        nd = n // (4 if half else 2)
        b_chunks = 4 if sel is not None else 2
        a_bytes, b_bytes = 64 * ROW, n * 16 * b_chunks
        body.append(f"bar.sync 0; mov.u32 %x, %t; F{number}: shl.b32 %y, %x, 2; cvt.u64.u32 %da, %y; shl.b32 %n, %t, 2; cvt.u64.u32 %db, %n; sub.s64 %da, %da, %db;")
        body.append(f"add.s64 %db, %p{index[tensor_of(a)]}, %da; ld.global.b32 %m, [%db]; add.u32 %n, %s, %y; setp.lt.u32 %e, %y, {a_bytes}; @%e st.shared.b32 [%n], %m;")
        body.append(f"add.s64 %db, %p{index[tensor_of(b)]}, %da; ld.global.b32 %m, [%db+{64 * (number % 5)}]; setp.lt.u32 %e, %y, {b_bytes}; @%e st.shared.b32 [%n+8192], %m;")
        body.append(f"add.u32 %x, %x, 128; setp.lt.u32 %e, %x, {max(a_bytes, b_bytes) // 4}; @%e bra F{number}; fence.proxy.async.shared::cta; bar.sync 0;")
        source = {"f32": 2, "f16": 0, "s32": 5}[acc]
        for r in range(nd):
            body.append(f"ld.global.b32 %d{r}, [%p{source}+{512 * (r % 8)}];")
        da = mn_major(64) if ta else k_major(0, 2, 0)
        db = (mn_major(n) if tb else k_major(0, b_chunks, 0)) + (8192 >> 4)
        operand_a = "%da"
        if src == "RS":
            for r in range(4):
                body.append(f"ld.global.b32 %a{r}, [%p{index[tensor_of(a)]}+{512 * r + 1024}];")
            operand_a = vec(regs("a", 4))
        body.append(f"add.s64 %da, %base, {da}; add.s64 %db, %base, {db};")
        meta = ""
        if sel is not None:
            body.append(f"mov.u32 %m, {0x4E8D9C4E if a != 'tf32' else 0x4EE4E44E}; shl.b32 %n, %t, 2; shf.l.wrap.b32 %m, %m, %m, %n;")
            meta = f", %m, {sel}"
        extra = "" if acc == "s32" else f", {sa}, {sb}" + ((f", {ta}" if src == "SS" else "") + f", {tb}" if a in ("f16", "bf16") else "")
        body.append("wgmma.fence.sync.aligned;")
        body.append(f"wgmma.mma_async{'.sp' if sel is not None else ''}.sync.aligned.m64n{n}k{k}{sat}.{acc}.{a}.{b}{'.and.popc' if a == 'b1' else ''} "
                    f"{vec(regs('d', nd))}, {operand_a}, %db{meta}, %q{extra};")
        body.append("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
        for r in range(nd):
            body.append(f"st.global.b32 [%p6+{512 * (total + r)}], %d{r};")
        total += nd
    words = 128 * total
    kind, count = {"f32": ("f32", words), "f16": ("f16", 2 * words), "s32": ("i32", words)}[group]
    tensors = [f"h f16 shape=32768 fill={fill} seed=1", f"b bf16 shape=32768 fill={fill} seed=2", f"f f32 shape=16384 fill={fill} seed=3",
               f"e4 e4m3 shape=65536 fill={fill} seed=4", f"e5 e5m2 shape=65536 fill={fill} seed=5", "i u32 shape=16384 fill=BITS seed=6",
               f"out {kind} shape={count} role=out"]
    return Kernel(name, "grid=1 block=128", tensors, [f"{t} buffer of={t}" for t in ("h", "b", "f", "e4", "e5", "i", "out")],
                  PTX + "\n".join(body) + "\nret;\n}\n", {"out": "bits" if group == "s32" or fill == "ints" else "samples"})


# ---------------------------------------------------------------- copies

TILES = [  # dims, box, element strides, coordinates, swizzle
    ([100], [64], [1], [8], 0), ([100], [256], [1], [-16], 0), ([40, 9], [16, 8], [1, 1], [32, 4], 32),
    ([64, 20], [64, 16], [1, 1], [0, 0], 128), ([64, 20], [64, 16], [1, 3], [-8, 7], 128), ([24, 7, 5], [16, 3, 4], [1, 2, 1], [8, 5, 2], 64),
    ([16, 5, 4, 3], [8, 4, 3, 2], [1, 1, 2, 1], [8, 3, 0, 1], 0), ([16, 4, 3, 3, 2], [16, 3, 2, 2, 2], [1, 1, 1, 2, 1], [0, 2, 1, 0, 1], 32),
    ([32, 6, 6], [32, 4, 4], [1, 1, 1], [0, -2, -1], 64),
]
IM2COL = [  # dims, lower, upper, element strides, channels, pixels, coordinates, offsets, swizzle
    ([16, 7, 6, 3], [-1, -1], [-1, -1], [1, 1, 1, 1], 16, 50, [0, -1, -1, 0], [0, 0], 32),
    ([16, 7, 6, 3], [-1, -1], [-1, -1], [1, 1, 1, 1], 16, 50, [0, 3, 4, 1], [2, 1], 32),
    ([16, 7, 6, 3], [-1, -1], [-1, -1], [1, 2, 2, 1], 16, 20, [0, -1, -1, 0], [1, 2], 32),
    ([8, 12, 2], [-1], [-1], [1, 1, 1], 8, 16, [0, -1, 0], [2], 0),
    ([8, 4, 3, 3, 2], [-1, -1, -1], [-1, -1, -1], [1, 1, 1, 1, 1], 8, 40, [0, -1, -1, -1, 0], [1, 2, 0], 0),
]


def strides(dims):
    out, s = [], (2 * dims[0] + 15) // 16 * 16 + 16
    for d in dims[1:]:
        out.append(s)
        s = s * d + 32
    return out


def join(v):
    return ",".join(str(x) for x in v)


def map_arg(name, dims, box, steps, swizzle, of, kind="f16", extra=""):
    st = strides(dims)
    return (f"{name} tensormap {kind} dims={join(dims)}" + (f" strides={join(st)}" if st else "") + (f" box={join(box)}" if box else "") +
            extra + f" estrides={join(steps)} swizzle={str(swizzle) + 'B' if swizzle else 'none'} of={of}")


def count(box, steps):
    n = box[0]
    for b, s in zip(box[1:], steps[1:]):
        n *= (b + s - 1) // s
    return n


COPY_REGS = (".shared .align 1024 .b8 s[8192]; .shared .align 8 .b64 bar;\n.reg .b32 %r<9>, %t, %s, %x, %y; .reg .b64 %m, %in, %q, %o, %z; "
             ".reg .pred %p, %e, %w;\nmov.u32 %s, s; mov.u32 %x, bar; mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0;\n")
FILL = ("mov.u32 %r0, %t; {l}F: shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %s; st.shared.b32 [%r1], {value}; add.u32 %r0, %r0, 128; setp.lt.u32 %e, %r0, 2048; @%e bra {l}F;\n")
OUT = ("mov.u32 %r0, %t; {l}O: shl.b32 %r1, %r0, 2; cvt.u64.u32 %o, %r1; add.u32 %r1, %r1, %s; ld.shared.b32 %r2, [%r1]; add.s64 %o, %o, %q; st.global.b32 [%o+{at}], %r2; "
       "add.u32 %r0, %r0, 128; setp.lt.u32 %e, %r0, 2048; @%e bra {l}O; bar.sync 0;\n")


def load_kernel(name, maps):
    """One load after the other into 8 KiB full of 0xEE, each written out. maps: (argument, rank, mode, coordinates, offsets, bytes)."""
    params = ", ".join(f".param .align 64 .b8 m{i}[128]" for i in range(len(maps)))
    body = f".visible .entry k({params}, .param .u64 out)\n{{\n" + COPY_REGS + "ld.param.u64 %q, [out];\n@!%p mbarrier.init.shared.b64 [%x], 1;\n"
    for i, (_, rank, mode, at, offs, size) in enumerate(maps):
        body += FILL.format(l=f"L{i}", value="0xEEEEEEEE") + f"fence.proxy.async; bar.sync 0; mov.b64 %m, m{i}; cvta.param.u64 %m, %m;\n"
        tail = (", " + vec([str(x) for x in offs])) if offs else ""
        body += (f"@!%p mbarrier.arrive.expect_tx.shared.b64 _, [%x], {size};\n@!%p cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes "
                 f"[%s], [%m, {vec([str(x) for x in at])}], [%x]{tail};\nW{i}: mbarrier.try_wait.parity.shared.b64 %w, [%x], {i % 2}; @!%w bra W{i};\n")
        body += OUT.format(l=f"L{i}", at=8192 * i)
    return Kernel(name, "grid=1 block=128", ["src f16 shape=16384 fill=ints seed=4", f"out u8 shape={8192 * len(maps)} role=out"],
                  [m[0] for m in maps] + ["out buffer of=out"], PTX + body + "ret;\n}\n", {"out": "bits"})


def tile_loads():
    maps = []
    for i, (dims, box, steps, at, swizzle) in enumerate(TILES):
        for nan in ("", " oob=nan"):
            maps.append((map_arg(f"m{len(maps)}", dims, box, steps, swizzle, "src", extra=nan), len(dims), "tile", at, [], 2 * count(box, steps)))
    return load_kernel("tma_tile", maps)


def nan_fills():
    """The NaN that fills outside of tensors of each float type."""
    maps = []
    for kind, size in (("f16", 2), ("bf16", 2), ("f32", 4), ("f64", 8)):
        box = [64 // size, 4]
        arg = f"m{len(maps)} tensormap {kind} dims={128 // size},8 strides=128 box={join(box)} oob=nan swizzle=none of=src"
        maps.append((arg, 2, "tile", [-32 // size, 6], [], 64 * 4))
    return load_kernel("tma_nan", maps)


def im2col_loads():
    maps = []
    for dims, lower, upper, steps, channels, pixels, at, offs, swizzle in IM2COL:
        extra = f" lower={join(lower)} upper={join(upper)} channels={channels} pixels={pixels}"
        maps.append((map_arg(f"m{len(maps)}", dims, [], steps, swizzle, "src", extra=extra), len(dims), "im2col", at, offs, 2 * channels * pixels))
    return load_kernel("tma_im2col", maps)


REDUCES = [("add", "u32"), ("min", "u32"), ("max", "i32"), ("inc", "u32"), ("dec", "u32"), ("and", "u32"), ("or", "u32"), ("xor", "u32"), ("add", "f32"), ("add", "f16"),
           ("min", "f16"), ("max", "bf16"), ("add", "bf16")]


def tensor_stores():
    """Stores of every tile with coordinates that are not negative, then reductions of each type, each into a tensor of its own."""
    maps, body = [], ""
    for dims, box, steps, at, swizzle in TILES:
        if min(at) >= 0:
            maps.append((map_arg(f"m{len(maps)}", dims, box, steps, swizzle, f"t{len(maps)}"), len(dims), "", at, ("f16", 4096)))
    for op, kind in REDUCES:
        size = 2 if kind in ("f16", "bf16") else 4
        maps.append((map_arg(f"m{len(maps)}", [96 // size, 6], [64 // size, 4], [1, 1], 64, f"t{len(maps)}", kind), 2, op, [16 // size, 3], (kind, 1024)))
    params = ", ".join(f".param .align 64 .b8 m{i}[128]" for i in range(len(maps)))
    body = f".visible .entry k({params}, .param .u64 in)\n{{\n" + COPY_REGS + "ld.param.u64 %in, [in];\nmov.u32 %r0, %t; C: shl.b32 %r1, %r0, 2; cvt.u64.u32 %o, %r1; add.s64 %o, %o, %in; ld.global.b32 %r2, [%o]; add.u32 %r1, %r1, %s; st.shared.b32 [%r1], %r2; add.u32 %r0, %r0, 128; setp.lt.u32 %e, %r0, 2048; @%e bra C;\nfence.proxy.async; bar.sync 0;\n"
    for i, (_, rank, op, at, _) in enumerate(maps):
        insn = f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{op}.tile" if op else f"cp.async.bulk.tensor.{rank}d.global.shared::cta.tile"
        body += f"mov.b64 %m, m{i}; cvta.param.u64 %m, %m;\n@!%p {insn}.bulk_group [%m, {vec([str(x) for x in at])}], [%s];\n"
    body += "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nret;\n}\n"
    tensors = ["in f16 shape=4096 fill=ints seed=8"] + [f"t{i} {m[4][0]} shape={m[4][1]} fill=ints seed={20 + i} role=inout" for i, m in enumerate(maps)]
    return Kernel("tma_store", "grid=1 block=128", tensors, [m[0] for m in maps] + ["in buffer of=in"], PTX + body, {f"t{i}": "bits" for i in range(len(maps))})


BULK = [("add", "u32"), ("add", "s32"), ("add", "u64"), ("min", "u32"), ("max", "s32"), ("min", "u64"), ("max", "s64"), ("inc", "u32"), ("dec", "u32"), ("and", "b32"), ("or", "b64"), ("xor", "b32"),
        ("add", "f32"), ("add", "f64"), ("add.noftz", "f16"), ("add.noftz", "bf16"), ("min", "f16"), ("max", "f16"), ("min", "bf16"), ("max", "bf16")]
TENSOR_TYPE = {"s32": "i32", "s64": "i64", "b32": "u32", "b64": "u64"}


def bulk_reduces():
    body = (".visible .entry k(.param .u64 in, " + ", ".join(f".param .u64 t{i}" for i in range(len(BULK))) + ")\n{\n" + COPY_REGS +
            "ld.param.u64 %in, [in];\nmov.u32 %r0, %t; C: shl.b32 %r1, %r0, 2; cvt.u64.u32 %o, %r1; add.s64 %o, %o, %in; ld.global.b32 %r2, [%o]; add.u32 %r1, %r1, %s; st.shared.b32 [%r1], %r2; add.u32 %r0, %r0, 128; setp.lt.u32 %e, %r0, 2048; @%e bra C;\nfence.proxy.async; bar.sync 0;\n")
    for i, (op, kind) in enumerate(BULK):
        body += f"ld.param.u64 %m, [t{i}];\n@!%p cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{kind} [%m], [%s+{16 * i}], 256;\n"
    body += "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nret;\n}\n"
    size = {"16": 2, "32": 4, "64": 8}
    tensors = ["in f16 shape=4096 fill=ints seed=8"] + [f"t{i} {TENSOR_TYPE.get(k, k)} shape={256 // size[k[-2:]]} fill=ints seed={40 + i} role=inout" for i, (_, k) in enumerate(BULK)]
    return Kernel("bulk_reduce", "grid=1 block=128", tensors, ["in buffer of=in"] + [f"t{i} buffer of=t{i}" for i in range(len(BULK))], PTX + body, {f"t{i}": "bits" for i in range(len(BULK))})


CP_ASYNC = ["cp.async.ca.shared.global [%y], [%o], 4;", "cp.async.ca.shared.global [%y], [%o], 8;", "cp.async.cg.shared.global.L2::128B [%y], [%o], 16;",
            "cp.async.ca.shared.global [%y], [%o], 16, 5;", "cp.async.cg.shared.global [%y], [%o], 16, %r5;", "cp.async.cg.shared.global [%y], [%o], 16, 0;",
            "cp.async.cg.shared.global [%y], [%o], 16, %e;", "cp.async.ca.shared.global [%y], [%o], 8, %w;"]


def cp_async():
    body = (".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" + COPY_REGS + "ld.param.u64 %in, [in]; ld.param.u64 %q, [out];\n" + FILL.format(l="", value="0xEEEEEEEE") +
            "bar.sync 0; mov.u32 %r5, 12; setp.eq.u32 %e, %r5, 12; setp.ne.u32 %w, %r5, 12;\nmul.wide.u32 %o, %t, 16; add.s64 %o, %o, %in; shl.b32 %y, %t, 4; add.u32 %y, %y, %s;\nsetp.gt.u32 %p, %t, 31; @%p bra D;\n")
    for insn in CP_ASYNC:
        body += insn + " cp.async.commit_group; add.u32 %y, %y, 512;\n"
    body += "cp.async.wait_group 3; cp.async.wait_all;\nD: bar.sync 0;\n" + OUT.format(l="", at=0)
    return Kernel("cp_async", "grid=1 block=128", ["in u8 shape=4096 fill=ints seed=9", "out u8 shape=8192 role=out"], ["in buffer of=in", "out buffer of=out"], PTX + body + "ret;\n}\n", {"out": "bits"})


def mbarrier():
    """States, parities, pending counts, dropped arrivals, transactions: one thread, a value a step."""
    steps = ["mbarrier.init.shared.b64 [%x], 3;", "mbarrier.arrive.shared.b64 %m, [%x]; mbarrier.pending_count.b64 %r0, %m;", "mbarrier.arrive.noComplete.shared.b64 %o, [%x], 1; mbarrier.pending_count.b64 %r0, %o;",
             "mbarrier.test_wait.shared.b64 %w, [%x], %m; selp.b32 %r0, 1, 0, %w;", "mbarrier.arrive.shared.b64 %o, [%x]; mbarrier.test_wait.shared.b64 %w, [%x], %m; selp.b32 %r0, 1, 0, %w;",
             "mbarrier.test_wait.parity.shared.b64 %w, [%x], 0; selp.b32 %r0, 1, 0, %w;", "mbarrier.test_wait.parity.shared.b64 %w, [%x], 1; selp.b32 %r0, 1, 0, %w;",
             "mbarrier.arrive_drop.shared.b64 %o, [%x]; mbarrier.pending_count.b64 %r0, %o;", "mbarrier.arrive.shared.b64 _, [%x], 2; mbarrier.try_wait.parity.shared.b64 %w, [%x], 1; selp.b32 %r0, 1, 0, %w;",
             "mbarrier.arrive.shared.b64 %o, [%x]; mbarrier.pending_count.b64 %r0, %o;", "mbarrier.arrive.expect_tx.shared.b64 %o, [%x], 64; mbarrier.pending_count.b64 %r0, %o;",
             "mbarrier.test_wait.parity.shared.b64 %w, [%x], 0; selp.b32 %r0, 1, 0, %w;", "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%x], 32; mbarrier.test_wait.parity.shared.b64 %w, [%x], 0; selp.b32 %r0, 1, 0, %w;",
             "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%x], 32; mbarrier.test_wait.parity.shared.b64 %w, [%x], 0; selp.b32 %r0, 1, 0, %w;",
             "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%x], 8; mbarrier.arrive.shared.b64 _, [%x], 2; mbarrier.test_wait.parity.shared.b64 %w, [%x], 1; selp.b32 %r0, 1, 0, %w;",
             "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%x], 8; mbarrier.test_wait.parity.relaxed.cta.shared.b64 %w, [%x], 1; selp.b32 %r0, 1, 0, %w;", "mbarrier.inval.shared.b64 [%x]; mbarrier.init.shared.b64 [%x], 1; mbarrier.test_wait.parity.shared.b64 %w, [%x], 1; selp.b32 %r0, 1, 0, %w;"]
    body = ".visible .entry k(.param .u64 out)\n{\n" + COPY_REGS + "ld.param.u64 %q, [out]; mov.u32 %r0, 0;\n"
    for i, s in enumerate(steps):
        body += s + f" st.global.b32 [%q+{4 * i}], %r0;\n"
    return Kernel("mbarrier", "grid=1 block=1", [f"out u32 shape={len(steps)} role=out"], ["out buffer of=out"], PTX + body + "ret;\n}\n", {"out": "bits"})


def cluster_copies():
    """Two CTAs: multicast, copies and reductions into the peer's shared memory, remote stores and arrivals; every step fills or adds to
    a window of the peer and completes on its barrier, both write their shared memory out."""
    steps = [("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%in], 512, [%x], 3;", 512, True),
             ("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+1024], [%s+4096], 256, [%r6];", 256, True)]
    for i, (op, kind) in enumerate([("add", "u32"), ("add", "s32"), ("add", "u64"), ("min", "u32"), ("max", "s32"), ("inc", "u32"), ("dec", "u32"), ("and", "b32"), ("or", "b32"), ("xor", "b32")]):
        steps.append((f"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{op}.{kind} [%r5+{1536 + 128 * i}], [%s+4096], 128, [%r6];", 128, True))
    for i, (insn, size) in enumerate([("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r7+{}], %t, [%r6];", 4), ("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r8+{}], {{%t, %r5, %t, %t}}, [%r6];", 16),
                                      ("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r8+{}], %z, [%r6];", 8), ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r7+{}], %t, [%r6];", 4),
                                      ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [%r7+{}], %t, [%r6];", 4)]):
        steps.append((insn.format(5120 + 512 * i), 32 * size, False))
    body = (".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" + COPY_REGS + "ld.param.u64 %in, [in]; ld.param.u64 %q, [out]; mov.u32 %y, %cluster_ctarank; mul.wide.u32 %o, %y, 8192; add.s64 %q, %q, %o;\n"
            "mov.u32 %r0, %t; C: shl.b32 %r1, %r0, 2; cvt.u64.u32 %o, %r1; add.s64 %o, %o, %in; ld.global.b32 %r2, [%o]; add.u32 %r2, %r2, %y; add.u32 %r1, %r1, %s; st.shared.b32 [%r1], %r2; add.u32 %r0, %r0, 128; setp.lt.u32 %e, %r0, 2048; @%e bra C;\n"
            "cvt.u64.u32 %z, %t; xor.b32 %r4, %y, 1; mapa.shared::cluster.u32 %r5, %s, %r4; mapa.shared::cluster.u32 %r6, %x, %r4; shl.b32 %r7, %t, 2; add.u32 %r7, %r7, %r5; shl.b32 %r8, %t, 4; add.u32 %r8, %r8, %r5;\n"
            "@!%p mbarrier.init.shared.b64 [%x], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;\n")
    for i, (insn, size, single) in enumerate(steps):
        both = "multicast" in insn
        if "red.async" in insn:
            insn = insn.replace("%t, [", "%r3, [")
        body += f"mov.u32 %r3, %t; @!%p mbarrier.arrive.expect_tx.shared.b64 _, [%x], {size};\nbarrier.cluster.arrive; barrier.cluster.wait;\n"
        if both:
            body += f"mov.u32 %r2, %y; or.b32 %r2, %r2, %t; setp.ne.u32 %e, %r2, 0; {{ .reg .b16 %h; mov.b16 %h, 3; @!%e {insn.replace('3;', '%h;')} }}\n"
        else:
            body += ("@!%p " if single else "setp.lt.u32 %e, %t, 32; @%e ") + insn + "\n"
        body += f"W{i}: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %w, [%x], {i % 2}; @!%w bra W{i};\n"
    body += "bar.sync 0;\n" + OUT.format(l="", at=0) + "barrier.cluster.arrive; barrier.cluster.wait;\nret;\n}\n"
    return Kernel("cluster_copies", "grid=2 cluster=2 block=128", ["in u8 shape=8192 fill=ints seed=9", "out u8 shape=16384 role=out"], ["in buffer of=in", "out buffer of=out"], PTX + body, {"out": "bits"})


def kernels():
    yield mma_kernel("mma_f32_ints", "f32", "ints")
    yield mma_kernel("mma_f32_normal", "f32", "normal")
    yield mma_kernel("mma_f16_ints", "f16", "ints")
    yield mma_kernel("mma_f16_normal", "f16", "normal")
    yield mma_kernel("mma_s32", "s32", "ints")
    yield mma_f64_kernel()
    yield volta_kernel()
    yield ldmatrix_kernel()
    for group in ("f32", "f16"):
        for fill in ("ints", "normal"):
            yield wgmma_kernel(f"wgmma_{group}_{fill}", group, fill)
    yield wgmma_kernel("wgmma_s32", "s32", "ints")
    yield tile_loads()
    yield nan_fills()
    yield im2col_loads()
    yield tensor_stores()
    yield bulk_reduces()
    yield cp_async()
    yield mbarrier()
    yield cluster_copies()


# ---------------------------------------------------------------- files

def source_of(name):
    """The kernel file of a recording: NAME_normal runs the kernel of NAME_ints on other inputs."""
    return f"{FOLDER}/{name.replace('_normal', '_ints')}.ptx"


def header_of(name):
    with open(source_of(name)) as f:
        lines = [x[3:] for x in f.read().split("\n") if x.startswith("// ")]
    if name.endswith("_normal"):
        floats = tuple(f"tensor: {t} " for t in ("h", "b", "f", "e4", "e5"))
        lines = [x.replace("fill=ints", "fill=normal") if x.startswith(floats) else x for x in lines]
    return lines


def write():
    os.makedirs(FOLDER, exist_ok=True)
    for k in kernels():
        if k.name.endswith("_normal"):
            continue
        with open(f"{FOLDER}/{k.name}.ptx", "w") as f:
            f.write("".join(f"// {line}\n" for line in k.manifest).replace("u32 shape=1024 fill=BITS", "u8 shape=4096 fill=ints").replace("u32 shape=16384 fill=BITS", "u8 shape=65536 fill=ints").replace("u32 shape=512 fill=BITS", "u8 shape=2048 fill=ints") + k.text)


def fnv1a(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & (1 << 64) - 1
    return f"{h:016x}"


def npy(path):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<H", data[8:10])[0]
    return data[10 + size:]


def bundle(folder):
    for k in kernels():
        out = f"{folder}/{k.name}"
        os.makedirs(out, exist_ok=True)
        with open(source_of(k.name)) as f:
            lines = f.read().split("\n")
        header = header_of(k.name)
        with open(f"{out}/manifest.txt", "w") as f:
            f.write("arch: sm_90a\n" + "\n".join(header) + "\n")
        with open(f"{out}/kernel.ptx", "w") as f:
            f.write("\n".join(x for x in lines if not x.startswith("// ")))
        source = f"{out}/with_header.ptx"
        with open(source, "w") as f:
            f.write("".join(f"// {x}\n" for x in header) + "\n".join(x for x in lines if not x.startswith("// ")))
        assembled = subprocess.run(["ptxas", "-arch=sm_90a", f"{out}/kernel.ptx", "-o", f"{out}/kernel.cubin"], capture_output=True, text=True)
        if assembled.returncode:
            print("ptxas:", k.name, assembled.stderr[:600])
            continue
        arguments = [a for name in k.outputs for a in ("--output", f"{name}={out}/{name}.npy")]
        done = subprocess.run([f"{TOOLS}/tilesim", "run", source, "--check", "none", *arguments], capture_output=True, text=True)
        print(k.name, done.returncode, (done.stdout + done.stderr).strip()[:300])
        with open(f"{out}/expected.txt", "w") as f:
            for name, how in k.outputs.items():
                path = f"{out}/{name}.npy"
                if not os.path.exists(path):
                    f.write(f"{name} digest=0\n")
                    continue
                data = npy(path)
                if how == "bits":
                    f.write(f"{name} digest={fnv1a(data)}\n")
                else:
                    kind, size = ("f", 4) if "f32" in k.name else ("e", 2) if "f16" in k.name else ("d", 8)
                    values = struct.unpack(f"<{len(data) // size}{kind}", data)
                    step = max(1, len(values) // 4096)
                    picks = list(range(0, len(values), step))[:4096]
                    f.write(f"{name} samples={len(picks)} tolerance={TOLERANCE}\n" + "".join(f"{i} {values[i]!r}\n" for i in picks))
                os.remove(path)


if __name__ == "__main__":
    os.chdir(ROOT)
    if sys.argv[1:] == ["write"]:
        write()
    elif len(sys.argv) == 3 and sys.argv[1] == "bundle":
        bundle(sys.argv[2])
    else:
        sys.exit(__doc__)
