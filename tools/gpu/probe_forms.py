#!/usr/bin/python3
"""Probes of single PTX instructions on a GPU: one kernel a form, the same operands for the GPU and for the simulator.

  probe_forms.py build DIR [FAMILY...]  kernels, operands and plan of testdata/gpu/probe/forms.txt into DIR; forms that
                                        ptxas refuses are left out and named (needs ptxas)
  probe_forms.py run DIR RESULTS        runs DIR on GPU 0 through the driver (standard library only) into one file
  probe_forms.py record DIR RESULTS     writes testdata/gpu/probe/recorded.tsv and sweeps.bin from the results

A row of forms.txt (a line that begins with # is a comment):
  family: body | results | inputs [| options]
body     PTX statements separated by "; ". (x|y|) stands for alternatives, all combinations are forms; %1 %2 ... repeat the
         alternative of the 1st, 2nd ... group. $d $e $f $h are the results, $a $b $c $g $k $m the inputs, in the order of
         the columns; $n is the generic address of $s; $s is the address of 16 bytes of the thread's own, $w of 16 bytes of the warp's own; $S their space
         (global, or with option `spaces` both global and shared, two forms). Statements may declare registers of their own.
results  b16 b32 b64: a register of that size; p: a predicate. Any type name ending in a size does (bu32 is b32).
inputs   kinds of operands, KINDS below: an integer or float type (its specials crossed with each other, then random ones);
         ix is the kind of type x; p a predicate. Registers: 16, 32 or 64 bits, as the kind says.
options  spaces; points=65536 (of 1024); sweep=LO,HI: 65536 floats evenly from LO to HI as the one input; bits=LO,HI: 65536 bit patterns;
         fn=NAME: the function that a sweep approximates (FUNCTIONS below), for its error.
Other families of instructions (copies, barriers, matrices) take whole warps and shared memory: give them rows of one
statement list each, in the same way; `pre=NAME` names a prologue in PROLOGUES that declares what the body needs, and
`block=T` the threads of a block (a divisor of 1024; 256 otherwise).

Every kernel: .entry fN(in, out), thread i of 1024 (65536 in sweeps) takes operand k from in + offset + 8 i, and stores its
results as 8-byte values at out + 8 (results * i + r). Example: "add.s32 $d, $a, $b | b32 | s32 s32" with a = 5, b = -7
stores 0x00000000FFFFFFFE.
Operands depend on SEED, kind and position alone. recorded.tsv: form, results' SHA-256 over its stored values in order
(NaN bits count), with device, driver, command and date on top. Sweeps keep the difference to the rounded true value, one
signed byte in units of the last place a point (sweeps.bin, zlib)."""
import array
import ctypes
import datetime
import hashlib
import json
import math
import os
import re
import struct
import subprocess
import sys
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "testdata/gpu/probe")
SEED = 20261130
POINTS, SWEEP_POINTS, THREADS = 1024, 65536, 256
INPUTS, RESULTS = "abcgkm", "defh"
HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
PROLOGUES = {
    # lanes outside the member mask of the form leave at once; their results stay the 0xFF that memory is set to
    "half_mask": "{ .reg .pred out; and.b32 %r17, %r20, 4; setp.ne.u32 out, %r17, 0; @out exit; }",
}


# ---------------------------------------------------------------- operands

ALL64 = (1 << 64) - 1


def mix(x):
    """splitmix64."""
    x = (x + 0x9E3779B97F4A7C15) & ALL64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & ALL64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & ALL64
    return x ^ (x >> 31)


def random_bits(name, position, n):
    key = int.from_bytes(hashlib.sha256(f"{SEED} {name} {position}".encode()).digest()[:8], "little")
    return [mix((i * 0x632BE59BD9B4E019 + key) & ALL64) for i in range(n)]


def f32_bits(v):
    return struct.unpack("<I", struct.pack("<f", v))[0]


def f64_bits(v):
    return struct.unpack("<Q", struct.pack("<d", v))[0]


F32 = [f32_bits(v) for v in (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.0, -2.5, 3.5, 255.5, -128.5, 65504.0, 65520.0, 2147483648.0, 4294967296.0, 9.3e18, -9.3e18, 3.4e38, -3.4e38, 1.2e-38, 448.0, 57344.0)] + [
    1, 0x80000001, 0x007FFFFF, 0x00800000, 0x807FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFFFFFFF, 0x3F800001, 0x3F7FFFFF, 0x3F7FFFFE, 0x00800001]
F64 = [f64_bits(v) for v in (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 65504.0, 65520.0, 2147483647.5, 4294967296.0, 9.3e18, -9.3e18, 1.8e19, 3.5e38, 1e-40, 1e-310, 1.7e308, 448.0)] + [
    1, 0x8000000000000001, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF, 0x7FF800000000ABCD, 0x3FF0000000000001]
F16 = [0, 0x8000, 0x3C00, 0xBC00, 0x3800, 0x3E00, 0xC100, 0x7BFF, 0xFBFF, 1, 0x8001, 0x03FF, 0x0400, 0x83FF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFFFF, 0x3C01, 0x3BFF, 0x5C00, 0x3BFE, 0x0401]
BF16 = [0, 0x8000, 0x3F80, 0xBF80, 0x3F00, 0x3FC0, 0xC020, 0x7F7F, 0xFF7F, 1, 0x8001, 0x007F, 0x0080, 0x807F, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0xFFFF, 0x3F81, 0x3F7F, 0x4300]


def integers(bits):
    top = 1 << (bits - 1)
    all_ones = (1 << bits) - 1
    return [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 255, 256, all_ones, all_ones - 1, top, top - 1, top + 1, all_ones ^ 255, 0x55 * (all_ones // 255), all_ones // 3 * 2, 0x7F7F7F7F7F7F7F7F & all_ones]


def wide_or_small(name, position, n, bits):
    """Random integers of all magnitudes, both signs."""
    out = []
    for raw, other in zip(random_bits(name, position, n), random_bits(name + "/size", position, n)):
        value = raw if other >> 40 & 1 else (raw & ((1 << bits) - 1)) >> other % bits
        out.append(value if other >> 41 & 1 else -value)
    return out


def floats(name, position, n, bits, exponent_bits, spread):
    """Half of them any bits, half with exponents within +-spread of 1."""
    mantissa, out = bits - 1 - exponent_bits, []
    for raw, other in zip(random_bits(name, position, n), random_bits(name + "/near", position, n)):
        near = (1 << (exponent_bits - 1)) - 1 - spread + other % (2 * spread)
        out.append(raw if other >> 50 & 1 else raw & ((1 << mantissa) - 1) | near << mantissa | (raw >> 63) << (bits - 1))
    return out


def uniform(name, position, n, low, high):
    return [f32_bits(low + (high - low) * (r >> 40) / (1 << 24)) for r in random_bits(name, position, n)]


def halves(specials, exponent_bits, spread):
    both = specials + specials[::-1]

    def random(name, p, n):
        low, high = floats(name, p, n, 16, exponent_bits, spread), floats(name + "/hi", p, n, 16, exponent_bits, spread)
        return [a & 0xFFFF | (b & 0xFFFF) << 16 for a, b in zip(low, high)]

    return [a | b << 16 for a, b in zip(both, both[3:] + both[:3])], random


def each(change):
    """Random values of a kind: `change` of 64 random bits."""
    return lambda kind, position, n: [change(r) for r in random_bits(kind, position, n)]


def rarely_false(kind, position, n):
    """Predicates of whole warps that agree, but for a lane here and there."""
    warps = random_bits(kind + "/warp", position, (n + 31) // 32)
    return [warps[i // 32] & (1 if r % 40 else 0) | (r % 77 == 0) for i, r in enumerate(random_bits(kind, position, n))]


def few(bits):
    def random(kind, position, n):
        shift = bits - 32
        return [7 << shift if i % 96 < 32 else (r & 3) << shift for i, r in enumerate(random_bits(kind, position, n))]
    return random


def integer_kind(bits):
    return integers(bits), lambda name, p, n: wide_or_small(name, p, n, bits)


# kind -> (bits of the register, special values, random values of (name, position, n))
KINDS = {
    "f32": (32, F32, lambda k, p, n: floats(k, p, n, 32, 8, 20)),
    "f64": (64, F64, lambda k, p, n: floats(k, p, n, 64, 11, 40)),
    "f16": (16, F16, lambda k, p, n: floats(k, p, n, 16, 5, 8)),
    "bf16": (16, BF16, lambda k, p, n: floats(k, p, n, 16, 8, 8)),
    "f16x2": (32, *halves(F16, 5, 8)),
    "bf16x2": (32, *halves(BF16, 8, 8)),
    "f32small": (32, F32, lambda k, p, n: uniform(k, p, n, -20, 20)),
    "f32angle": (32, F32[:10], lambda k, p, n: uniform(k, p, n, -40, 40)),
    "f32mid": (32, F32, lambda k, p, n: uniform(k, p, n, -1000, 1000)),
    "p": (1, [0, 1], each(lambda r: r >> 60)),
    "prare": (1, [], rarely_false),
    "shift": (32, [0, 1, 5, 8, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 255, 256, 257, 0xFFFFFFFF, 0x80000000], each(lambda r: r % 70)),
    "lane": (32, list(range(32)), each(lambda r: r & 31)),
    "lane32": (32, list(range(33)), each(lambda r: r % 40)),
    "seg": (32, [0x1F, 0, 0x181F, 0x1C1F, 0x101F, 0x1E1F, 0x1F1F, 0x0F0F], each(lambda r: r & 0x1F1F)),
    "nth": (32, [1, 2, 3, 0xFFFFFFFF, 0xFFFFFFFE, 0, 5, 32], each(lambda r: r % 41 - 20)),
    "nib": (32, [0, 0xFF, 0x0F], each(lambda r: r & 0xF0)),
    "f32edge": (32, [], each(lambda r: f32_bits((1 + (r % 64 - 32) / (1 << (10 + (r >> 8) % 14))) * (2.0 ** -63 if r >> 40 & 1 else 1 if r >> 41 & 1 else 2.0 ** -126)))),
    "allb16": (16, [], lambda k, p, n: list(range(n))),
    "onef16": (16, [], lambda k, p, n: [0x3C00] * n),
    "onebf16": (16, [], lambda k, p, n: [0x3F80] * n),
    "fewb32": (32, [], few(32)),
    "fewb64": (64, [], few(64)),
}
for _bits in (8, 16, 32, 64):
    for _letter in "sub":
        KINDS[f"{_letter}{_bits}"] = (max(_bits, 16), *integer_kind(_bits))


def kind_of(name):
    if name.startswith("same"):  # half of the time what position 0 has: for compare-and-swap
        return "b" + name[4:]
    if name in KINDS:
        return name
    return name[1:]  # ix


def operands(name, position, n):
    kind = kind_of(name)
    bits, specials, random = KINDS[kind]
    out, count = random(kind, position, n), len(specials)
    for i in range(min(n * 5 // 8, count * count)):  # pairs of specials, spread over all of them
        pair = i * 389 % (count * count) if count * count % 389 else i
        out[i] = specials[pair % count if position == 0 else pair // count if position == 1 else (i * 7 + i // count * (3 + position)) % count]
    if name.startswith("same"):
        first = operands(kind, 0, n)
        out = [first[i] if i % 2 == 0 else v for i, v in enumerate(out)]
    return [v & ((1 << bits) - 1) for v in out]


def sweep_operands(form):
    low, high = form["range"].split(",")
    if form["sweep"] == "bits":
        low, high = int(low, 0), int(high, 0)
        return [low + (high - low) * i // (SWEEP_POINTS - 1) for i in range(SWEEP_POINTS)]
    low, high = float(low), float(high)
    return [f32_bits(low + (high - low) * i / (SWEEP_POINTS - 1)) for i in range(SWEEP_POINTS)]


# ---------------------------------------------------------------- forms

def expand(text):
    """All combinations of the alternatives of a row."""
    groups = list(re.finditer(r"\(([^()]*\|[^()]*)\)", text.split(" | ")[0]))
    combos = [[]]
    for g in groups:
        combos = [c + [choice] for c in combos for choice in g.group(1).split("|")]
    for combo in combos:
        it = iter(combo)
        out = re.sub(r"\(([^()]*\|[^()]*)\)", lambda _: next(it), text, count=len(groups))
        yield re.sub(r"%([1-9])", lambda m: combo[int(m.group(1)) - 1].lstrip("."), out)


def read_forms(families=()):
    forms, seen = [], set()
    for line in open(os.path.join(FOLDER, "forms.txt")):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        family, row = line.split(": ", 1)
        if families and family not in families:
            continue
        for text in expand(row):
            body, results, inputs, *options = [c.strip() for c in re.split(r" \|(?= |$)", text)]
            options = dict(o.split("=", 1) if "=" in o else (o, "") for o in (options[0].split() if options else []))
            for space in ("global", "shared") if "spaces" in options else ("global",):
                form = {"family": family, "body": body.replace("$S", space), "results": results.split(), "inputs": inputs.split(), "space": space,
                        "pre": options.get("pre", ""), "block": int(options.get("block", THREADS)), "fn": options.get("fn", ""),
                        "points": int(options.get("points", POINTS))}
                for how in ("sweep", "bits"):
                    if how in options:
                        form["sweep"], form["range"] = how, options[how]
                count = f" at {form['points']} points" if form["points"] != POINTS else ""
                form["name"] = form["body"] + count + (f" over {form['sweep']} {form['range']}" if "sweep" in form else "")
                if form["name"] not in seen:
                    seen.add(form["name"])
                    forms.append(form)
    return forms


def width(result):
    return 1 if result == "p" else int(re.search(r"\d+$", result).group())


def register(bits, name):
    return {1: "%p", 16: "%h", 32: "%r", 64: "%d"}[bits] + name


def kernel(form, entry, offsets):
    body = form["body"]
    pre, post = [".reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<24>; .reg .b64 %d<24>;",
                 "ld.param.b64 %d20, [in]; ld.param.b64 %d21, [out];",
                 "mov.u32 %r20, %tid.x; mov.u32 %r21, %ctaid.x; mad.lo.u32 %r21, %r21, " + str(form["block"]) + ", %r20;",
                 "mad.wide.u32 %d20, %r21, 8, %d20;", f"mad.wide.u32 %d21, %r21, {8 * len(form['results'])}, %d21;"], []
    slot = 16 * form["block"]
    if form["space"] == "shared":
        pre.append(f".shared .align 16 .b8 place[{slot}]; mov.u32 %r22, place; mad.lo.u32 %r22, %r20, 16, %r22; cvt.u64.u32 %d22, %r22;")
        pre.append("and.b32 %r23, %r20, -32; mov.u32 %r22, place; mad.lo.u32 %r22, %r23, 16, %r22; cvt.u64.u32 %d23, %r22;")
    else:  # behind the results
        total = points(form)
        pre.append(f"ld.param.b64 %d22, [out]; mad.wide.u32 %d22, %r21, 16, %d22; add.u64 %d22, %d22, {8 * len(form['results']) * total};")
        pre.append("ld.param.b64 %d23, [out]; and.b32 %r23, %r21, -32; mad.wide.u32 %d23, %r23, 16, %d23; " f"add.u64 %d23, %d23, {8 * len(form['results']) * total};")
    for k, kind in enumerate(form["inputs"]):
        bits = KINDS[kind_of(kind)][0]
        letter, reg = INPUTS[k], register(bits, str(k))
        load = f"ld.global.b64 %d10, [%d20+{offsets[k]}];"
        if bits == 1:
            load += f" cvt.u32.u64 %r10, %d10; and.b32 %r10, %r10, 1; setp.ne.u32 {reg}, %r10, 0;"
        elif bits == 64:
            load += f" mov.b64 {reg}, %d10;"
        else:
            load += f" cvt.u{bits}.u64 {reg}, %d10;"
        pre.append(load)
        body = body.replace("$" + letter, reg)
    for k, result in enumerate(form["results"]):
        bits = width(result)
        reg = register(bits, str(k + 6))
        body = body.replace("$" + RESULTS[k], reg)
        if bits == 1:
            post.append(f"selp.b64 %d10, 1, 0, {reg};")
        elif bits == 64:
            post.append(f"mov.b64 %d10, {reg};")
        else:
            post.append(f"cvt.u64.u{bits} %d10, {reg};")
        post.append(f"st.global.b64 [%d21+{8 * k}], %d10;")
    body = body.replace("$s", "%d22").replace("$w", "%d23").replace("$n", "%d19")
    pre.append("cvta.shared.u64 %d19, %d22;" if form["space"] == "shared" else "mov.b64 %d19, %d22;")
    if form["space"] == "shared":
        body = body.replace("%d22", "%r18").replace("%d23", "%r19")
        pre.append("cvt.u32.u64 %r18, %d22; cvt.u32.u64 %r19, %d23;")
    zero = "".join(f"mov.b{width(r)} {register(width(r), str(k + 6))}, 0; " if width(r) > 1 else f"setp.ne.u32 %p{k + 6}, 0, 0; " for k, r in enumerate(form["results"]))
    lines = pre + ([PROLOGUES[form["pre"]]] if form["pre"] else []) + [zero, body + ";"] + post
    return f".visible .entry {entry}(.param .b64 in, .param .b64 out)\n.maxntid {form['block']}\n{{\n" + "\n".join(lines) + "\nret;\n}\n"


def points(form):
    return SWEEP_POINTS if "sweep" in form else form["points"]


def scratch_bytes(form):
    return 16 * points(form)


def write_plan(folder, forms):
    """Modules of up to 200 kernels with their operands, and the plan as JSON."""
    os.makedirs(folder, exist_ok=True)
    modules = {}  # name -> kernels, places of the tables of operands, operands
    for i, form in enumerate(forms):
        form["entry"], form["module"] = f"f{i}", f"{form['family']}{i // 200}" + ("" if points(form) == POINTS else "_long")
        kernels, tables, data = modules.setdefault(form["module"], ([], {}, array.array("Q")))

        def table(key, make):
            if key not in tables:
                tables[key] = len(data) * 8
                data.extend(make())
            return tables[key]

        if "sweep" in form:
            offsets = [table(("sweep", form["sweep"], form["range"]), lambda: sweep_operands(form))]
        else:
            offsets = [table((kind, k, points(form)), lambda: operands(kind, k, points(form))) for k, kind in enumerate(form["inputs"])]
        form["output_bytes"] = 8 * len(form["results"]) * points(form)
        form["grid"] = points(form) // form["block"]
        kernels.append(kernel(form, form["entry"], offsets))
    for name, (kernels, _, data) in modules.items():
        with open(os.path.join(folder, name + ".ptx"), "w") as f:
            f.write(HEAD + "\n".join(kernels))
        with open(os.path.join(folder, name + ".bin"), "wb") as f:
            (data or array.array("Q", [0])).tofile(f)
    with open(os.path.join(folder, "plan.json"), "w") as f:
        json.dump(forms, f, indent=0)
    with open(os.path.join(folder, "plan.txt"), "w") as f:  # for tools/probe_run: module entry grid block output scratch
        for form in forms:
            f.write(f"{form['module']} {form['entry']} {form['grid']} {form['block']} {form['output_bytes']} {scratch_bytes(form)}\n")
    return modules


def build(folder, families):
    forms = read_forms(families)
    refused = []
    while True:
        modules = write_plan(folder, forms)
        bad = set()
        for name in modules:
            path = os.path.join(folder, name)
            done = subprocess.run(["ptxas", "-arch=sm_90a", "-o", path + ".cubin", path + ".ptx"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            if done.returncode == 0:
                continue
            text = open(path + ".ptx").read().split("\n")
            entries, entry = {}, ""
            for k, line in enumerate(text, 1):
                m = re.match(r"\.visible \.entry (\w+)", line)
                entry = m.group(1) if m else entry
                entries[k] = entry
            hit = {entries[int(k)]: message for k, message in re.findall(r"line (\d+); (?:error|fatal)\s*: (.*)", done.stderr + done.stdout)}
            if not hit:
                sys.exit(f"{name}: {done.stderr}{done.stdout}")
            for form in forms:
                if form["module"] == name and form["entry"] in hit:
                    refused.append(f"{form['name']}: {hit[form['entry']]}")
                    bad.add(form["name"])
        if not bad:
            break
        forms = [f for f in forms if f["name"] not in bad]
    print("\n".join(refused))
    print(f"{len(forms)} forms in {len(modules)} modules, {len(refused)} refused by ptxas")


# ---------------------------------------------------------------- the GPU

class Driver:
    """The few calls of the CUDA driver that a probe needs."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.name, self.version = name.value.decode(), version.value
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, function, *arguments):
        rc = getattr(self.lib, function)(*arguments)
        if rc:
            sys.exit(f"{function} failed with {rc}")

    def load(self, path):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), open(path, "rb").read())
        return module

    def memory(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def launch(self, module, entry, grid, block, arguments):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in arguments])
        self.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")


def run(folder, results):
    forms = json.load(open(os.path.join(folder, "plan.json")))
    gpu = Driver()
    most = max(f["output_bytes"] + scratch_bytes(f) for f in forms)
    target = gpu.memory(most)
    modules, sources, raw = {}, {}, []
    for form in forms:
        name = form["module"]
        if name not in modules:
            modules[name] = gpu.load(os.path.join(folder, name + ".cubin"))
            data = open(os.path.join(folder, name + ".bin"), "rb").read()
            sources[name] = gpu.memory(len(data))
            gpu.call("cuMemcpyHtoD_v2", sources[name], data, ctypes.c_size_t(len(data)))
        gpu.call("cuMemsetD8_v2", target, ctypes.c_ubyte(0xFF), ctypes.c_size_t(form["output_bytes"] + scratch_bytes(form)))
        gpu.launch(modules[name], form["entry"], form["grid"], form["block"], [sources[name], target])
        host = ctypes.create_string_buffer(form["output_bytes"])
        gpu.call("cuMemcpyDtoH_v2", host, target, ctypes.c_size_t(form["output_bytes"]))
        raw.append(host.raw)
    about = json.dumps({"device": gpu.name, "driver": gpu.version, "date": datetime.date.today().isoformat()})
    with open(results, "wb") as f:
        f.write(about.encode() + b"\n" + zlib.compress(b"".join(raw), 6))
    print(f"{len(forms)} forms run on {gpu.name}, driver {gpu.version}")


# ---------------------------------------------------------------- recordings

def in_turns(x):
    """What sin.approx and cos.approx take the function of: x / (2 pi) as f32, rounded toward zero."""
    exact = x * 0.15915493667125702
    near = struct.unpack("<f", struct.pack("<f", exact))[0]
    if abs(near) > abs(exact):
        near = as_float(f32_bits(near) - 1, "f32")
    return 2 * math.pi * near


FUNCTIONS = {"exp2": lambda x: 2.0 ** x, "rcp": lambda x: 1 / x, "rsqrt": lambda x: 1 / math.sqrt(x), "sqrt": math.sqrt, "log2": math.log2, "sin": lambda x: math.sin(in_turns(x)), "cos": lambda x: math.cos(in_turns(x)),
             "tanh": math.tanh, "pidiv": lambda x: 3.1415927410125732 / x}


FLOATS = {"f16": (16, 10, 0x7C00), "bf16": (16, 7, 0x7F80), "f32": (32, 23, 0x7F800000)}  # bits, mantissa bits, infinity


def as_float(bits, kind):
    if kind == "f16":
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    return struct.unpack("<f", struct.pack("<I", bits << 16 if kind == "bf16" else bits))[0]


def rounded(value, kind):
    """The bits of the float nearest to a value, ties to even, overflow to infinity."""
    bits, mantissa, infinity = FLOATS[kind]
    sign = (1 << (bits - 1)) if math.copysign(1, value) < 0 else 0
    if value != value:
        return infinity | 1 << (mantissa - 1)
    if value == 0 or math.isinf(value):
        return sign | (infinity if value else 0)
    least = {"f16": -14, "bf16": -126, "f32": -126}[kind]
    exponent = max(math.frexp(value)[1] - 1, least)
    units = round(abs(value) / 2.0 ** exponent * 2 ** mantissa) if exponent > -1000 else 0
    return sign | min(((exponent - least) << mantissa) + units, infinity)


def ordered(bits, width_):
    """Bit patterns of floats as integers that count units in the last place."""
    top = 1 << (width_ - 1)
    return top - bits if bits >= top else bits


def true_value(fn, x):
    try:
        return FUNCTIONS[fn](x) if x == x else math.nan
    except (ValueError, ZeroDivisionError):
        return math.nan
    except OverflowError:
        return math.inf


def sweep_error(form, values):
    """Differences in units of the last place to the rounded true value, within +-127; 127 where only one is NaN."""
    kind = form["inputs"][0]
    bits, mantissa, infinity = FLOATS[kind]
    below, out, flushes = (1 << (bits - 1)) - 1, [], ".ftz" in form["body"]
    for x, got in zip(sweep_operands(form), values):
        true = rounded(true_value(form["fn"], as_float(x, kind)), kind)
        if flushes and (true & below) >> mantissa == 0:
            true &= ~below
        nans = ((true & below) > infinity) + ((got & below) > infinity)
        out.append(0 if nans == 2 else 127 if nans else max(-127, min(127, ordered(got, bits) - ordered(true, bits))))
    return array.array("b", out).tobytes()


def digest(raw):
    return hashlib.sha256(raw).hexdigest()[:32]


def read_results(path, forms):
    """What `run` wrote: facts about the device, and the stored bytes of each form."""
    about, packed = open(path, "rb").read().split(b"\n", 1)
    raw, out, at = zlib.decompress(packed), [], 0
    for form in forms:
        out.append(raw[at:at + form["output_bytes"]])
        at += form["output_bytes"]
    return json.loads(about), out


def words(raw):
    out = array.array("Q")
    out.frombytes(raw)
    return out


def record(folder, results):
    forms = json.load(open(os.path.join(folder, "plan.json")))
    about, outputs = read_results(results, forms)
    known = {f["name"] for f in read_forms()}
    forms, outputs = zip(*[(f, raw) for f, raw in zip(forms, outputs) if f["name"] in known])
    sweeps = []
    with open(os.path.join(FOLDER, "recorded.tsv"), "w") as f:
        f.write(f"# seed {SEED}; {about['device']}, driver {about['driver']}, {about['date']}\n")
        f.write("# tools/gpu/probe_forms.py build DIR; run DIR RESULTS; record DIR RESULTS\n")
        for form, raw in zip(forms, outputs):
            f.write(f"{form['name']}\t{digest(raw)}\n")
            if "sweep" in form:
                sweeps.append(sweep_error(form, words(raw)))
    with open(os.path.join(FOLDER, "sweeps.bin"), "wb") as f:
        f.write(zlib.compress(b"".join(sweeps), 9))
    print(f"{len(forms)} forms recorded, {len(sweeps)} sweeps")


def main():
    command = sys.argv[1] if len(sys.argv) > 2 else ""
    if command == "build":
        build(sys.argv[2], sys.argv[3:])
    elif command == "run":
        run(sys.argv[2], sys.argv[3])
    elif command == "record":
        record(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
