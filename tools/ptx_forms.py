#!/usr/bin/python3
"""Asks ptxas and the simulator's decoder about forms of instructions and lists where they disagree.

  ptx_forms.py [MNEMONIC...] [--target sm_75,sm_80,sm_89,sm_90a] [--jobs N]

A row of FAMILIES names mnemonics, groups of modifiers, types, and operands. Every choice of at most one word a group, with every
list of types, is a form; each form is an entry of its own in a module (build/tools/decode judges entries one by one; for ptxas
the refused ones are taken out, by the lines it names, until the rest assembles). One line a disagreement:
  sm_80 add.rn.bf16: refused by ptxas (requires .target sm_90), decoded
Exit 1 if there is any. Needs ptxas; about 20000 forms a target take a minute."""
import itertools
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BATCH = 1500
INTS = "u16 s16 u32 s32 u64 s64".split()
BYTES = ["u8", "s8"] + INTS
BITS = "b16 b32 b64".split()
FLOATS = "f32 f64 f16 f16x2 bf16 bf16x2".split()
PAIRS = ["u16x2", "s16x2"]
SMALL = ["e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2"]  # of sm_100a and sm_120a
WIDE = ["f16x2", "bf16x2"]
ROUND = ["rn", "rz", "rm", "rp"]
RELATIONS = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan".split()
ALL = BYTES + ["b8"] + BITS + FLOATS + PAIRS
SEM = ["relaxed", "acquire", "release", "acq_rel", "volatile", "weak"]
SCOPE = ["cta", "cluster", "gpu", "sys"]
SPACE = ["global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"]

# mnemonics; groups of modifiers; lists of types; operands: letters for kinds
#   t registers of the 1st type, u of the 2nd, w twice as wide as the 1st, r .b32, p predicate, [ address, 5 an immediate
FAMILIES = [
    ("add sub", [ROUND, ["ftz"], ["sat"], ["cc"]], [[t] for t in ALL], "ttt"),
    ("addc subc", [["cc"], ["sat"]], [[t] for t in INTS], "ttt"),
    ("mul", [ROUND, ["ftz"], ["sat"]], [[t] for t in FLOATS], "ttt"),
    ("mul", [["lo", "hi"], ["sat"]], [[t] for t in BYTES + BITS], "ttt"),
    ("mul", [["wide"]], [[t] for t in INTS], "wtt"),
    ("mad", [ROUND, ["ftz"], ["sat"]], [[t] for t in FLOATS], "tttt"),
    ("mad", [["lo", "hi"], ["sat"], ["cc"]], [[t] for t in INTS], "tttt"),
    ("madc", [["lo", "hi"], ["cc"]], [[t] for t in INTS], "tttt"),
    ("mad", [["wide"]], [[t] for t in INTS], "wttw"),
    ("fma", [ROUND, ["ftz"], ["sat", "relu"], ["oob"]], [[t] for t in FLOATS], "tttt"),
    ("div", [ROUND + ["approx", "full"], ["ftz"]], [[t] for t in FLOATS + INTS], "ttt"),
    ("rem", [], [[t] for t in BYTES + BITS], "ttt"),
    ("abs neg", [["ftz"]], [[t] for t in FLOATS + INTS], "tt"),
    ("min max", [["ftz"], ["NaN"], ["xorsign"], ["abs"], ["relu"]], [[t] for t in FLOATS + INTS + PAIRS], "ttt"),
    ("mul24", [["lo", "hi"]], [[t] for t in INTS], "ttt"),
    ("mad24", [["lo", "hi"], ["sat"]], [[t] for t in INTS], "tttt"),
    ("sad", [], [[t] for t in INTS + BITS], "tttt"),
    ("popc clz", [], [[t] for t in BITS + INTS], "rt"),
    ("bfind", [["shiftamt"]], [[t] for t in BITS + INTS], "rt"),
    ("brev", [], [[t] for t in BITS + INTS], "tt"),
    ("bfe", [], [[t] for t in BITS + INTS], "ttrr"),
    ("bfi", [], [[t] for t in BITS + INTS], "tttrr"),
    ("szext", [["clamp", "wrap"]], [[t] for t in BITS + INTS], "ttr"),
    ("bmsk", [["clamp", "wrap"]], [[t] for t in BITS + INTS], "ttt"),
    ("fns", [], [[t] for t in BITS], "trr"),
    ("dp4a", [], [[t, u] for t in ("u32", "s32", "b32") for u in ("u32", "s32")], "rrrr"),
    ("dp2a", [["lo", "hi"]], [[t, u] for t in ("u32", "s32") for u in ("u32", "s32")], "rrrr"),
    ("and or xor", [], [[t] for t in BITS + INTS], "ttt"),
    ("and or xor", [], [["pred"]], "ppp"),
    ("not cnot", [], [[t] for t in BITS + INTS], "tt"),
    ("shl shr", [], [[t] for t in BITS + INTS], "ttr"),
    ("shf", [["l", "r"], ["clamp", "wrap"]], [[t] for t in BITS], "tttr"),
    ("lop3", [], [[t] for t in BITS], "tttt5"),
    ("prmt", [["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]], [[t] for t in BITS], "tttt"),
    ("rcp sqrt", [ROUND + ["approx"], ["ftz"]], [[t] for t in FLOATS], "tt"),
    ("rsqrt sin cos lg2 ex2 tanh", [["rn", "approx"], ["ftz"]], [[t] for t in FLOATS], "tt"),
    ("copysign", [["ftz"]], [[t] for t in FLOATS], "ttt"),
    ("testp", [["finite", "infinite", "number", "notanumber", "normal", "subnormal"]], [[t] for t in FLOATS], "pt"),
    ("setp", [RELATIONS, ["ftz"]], [[t] for t in BITS + INTS + ["f32", "f64", "f16", "bf16"]], "ptt"),
    ("setp", [RELATIONS, ["and", "or", "xor"]], [[t] for t in ("b32", "s32", "u64", "f32", "f16")], "pttp"),
    ("set", [RELATIONS, ["ftz"]], [[t, u] for t in ("u32", "s32", "f32", "f16", "u16", "f16x2", "bf16", "bf16x2", "u64") for u in ("b32", "s32", "u16", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2")], "tuu"),
    ("selp", [], [[t] for t in BITS + INTS + FLOATS], "tttp"),
    ("slct", [["ftz"]], [[t, u] for t in BITS + INTS + FLOATS for u in ("s32", "f32", "u32")], "tttu"),
    ("cvt", [ROUND + ["rni", "rzi", "rmi", "rpi", "rna"], ["ftz"], ["sat"]], [[t, u] for t in BYTES + ["f32", "f64", "f16", "bf16"] for u in BYTES + ["f32", "f64", "f16", "bf16"]], "tu"),
    ("cvt", [ROUND + ["rna"], ["relu"], ["satfinite"]], [[t, u] for t in ("f16", "bf16", "tf32") for u in ("f32", "f16", "f64")], "tu"),
    ("cvt", [["rn", "rz"], ["relu"], ["satfinite"]], [[t, u] for t in ("f16x2", "bf16x2", "e4m3x2", "e5m2x2") for u in ("f32",)], "tuu"),
    ("cvt", [["rn", "rz"], ["relu"], ["satfinite"]], [[t, u] for t in ("f16x2", "e4m3x2", "e5m2x2", "bf16x2") for u in ("f16x2", "e4m3x2", "e5m2x2")], "tu"),
    ("cvt", [["rn", "rz", "rp"], ["satfinite"], ["relu"]], [[t, "f32"] for t in SMALL], "tuu"),
    ("cvt", [["rn", "rz", "rp"], ["satfinite"], ["relu"]], [[t, u] for t in SMALL + WIDE for u in SMALL + WIDE], "tu"),
    ("vadd vabsdiff vmin", [["sat"], ["add", "min"]], [[t, u, v] for t in ("u32", "s32", "u16") for u in ("u32", "s32") for v in ("u32", "s32")], "rrrr"),
    ("vadd2 vavrg4 vmax4", [["sat"], ["add"]], [[t, u, v] for t in ("u32", "s32") for u in ("u32", "s32") for v in ("u32", "s32")], "rrrr"),
    ("vmad", [["sat"], ["shr7", "shr15"], ["po"]], [[t, u, v] for t in ("u32", "s32") for u in ("u32", "s32") for v in ("u32", "s32")], "rrrr"),
    ("vshl vshr", [["sat"], ["clamp", "wrap"]], [[t, u, v] for t in ("u32", "s32") for u in ("u32", "s32") for v in ("u32", "s32")], "rrr"),
    ("atom", [SEM[:4], SCOPE, SPACE[:3], ["add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"], ["noftz"]], [[t] for t in BITS + ["u32", "s32", "u64", "s64"] + FLOATS], "t[t"),
    ("red", [["relaxed"], ["gpu"], ["global"], ["add", "min", "max", "inc", "dec", "and", "or", "xor"], ["noftz"]], [[t] for t in BITS + ["u32", "s32", "u64", "s64"] + FLOATS], "[t"),
    ("atom", [["global", "shared"], ["cas"]], [[t] for t in BITS + ["u32", "s64"]], "t[tt"),
    ("ld", [SEM, SCOPE, SPACE], [[t] for t in ("b32", "u64", "s8", "b16", "f32")], "t["),
    ("ld", [["global", "shared"], ["ca", "cg", "cs", "lu", "cv"], ["nc"]], [[t] for t in ("b32", "f64")], "t["),
    ("st", [SEM, SCOPE, SPACE], [[t] for t in ("b32", "u64", "s8", "f32")], "[t"),
    ("st", [["global", "shared"], ["wb", "cg", "cs", "wt"]], [["b32"]], "[t"),
    ("shfl.sync", [["up", "down", "bfly", "idx"]], [[t] for t in BITS], "trrr5"),
    ("vote.sync", [["all", "any", "uni"]], [["pred"]], "pp5"),
    ("match.any.sync match.all.sync", [], [[t] for t in BITS], "rt5"),
    ("redux.sync", [["add", "min", "max", "and", "or", "xor"]], [[t] for t in ("u32", "s32", "b32", "u64", "f32")], "tt5"),
]

# What ptxas 13.0 accepts beyond the syntax boxes of the ISA; not decoded.
BEYOND = [r"(addc|subc|madc\.(lo|hi))\.[us]16$", r"(addc|subc)\.sat\.s32$", r"fma\.r[zmp]\.(relu\.)?(oob\.)?bf16(x2)?$", r"fma\.rn\.sat\.oob\.", r"rcp\.r[nzmp]\.ftz\.f64$",
          r"testp\.f(32|64)$", r"cvt\.(r[nzmp]\.)?(ftz\.)?f(16|32|64)\.bf16$", r"cvt\.(r[nzmp]\.)?(ftz\.)?bf16\.(f16|bf16|f32)$"]


def bits(t):
    if t in ("u16x2", "s16x2", "f16x2", "bf16x2"):
        return 32
    if t == "e2m1x2":
        return 8
    if t in ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2"):
        return 16
    return int(re.search(r"\d+$", t).group())


def register(kind, types, index):
    if kind in "tu" and types[kind == "u"] == "e2m1x2":
        return "%b" + str(index)
    if kind in "tuw":
        n = bits(types[0] if kind != "u" else types[1]) * (2 if kind == "w" else 1)
        return {8: "%h", 16: "%h", 32: "%r", 64: "%d"}.get(n, "%q") + str(index)
    return {"r": "%r" + str(index), "p": "%p" + str(index), "[": "[%d9]", "5": "5"}[kind]


def forms(only):
    seen = set()
    for mnemonics, groups, types, operands in FAMILIES:
        for mnemonic in mnemonics.split():
            if only and mnemonic not in only:
                continue
            for words in itertools.product(*[[""] + g for g in groups]):
                for ts in types:
                    opcode = ".".join([mnemonic] + [w for w in words if w] + ts)
                    text = opcode + " " + ", ".join(register(k, ts, i) for i, k in enumerate(operands)) + ";"
                    if text not in seen:
                        seen.add(text)
                        yield text


def module(target, batch):
    out = [f".version 8.6\n.target {target}\n.address_size 64\n"]
    for name, text in batch:
        out.append(f".visible .entry {name}() {{ .reg .pred %p<9>; .reg .b8 %b<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<10>; .reg .b128 %q<9>;\n{text}\nret; }}\n")
    return "".join(out)


def ask_ptxas(target, batch, path):
    """The refused forms with ptxas' words."""
    refused = {}
    while batch:
        with open(path, "w") as f:
            f.write(module(target, batch))
        done = subprocess.run(["ptxas", "-O0", "-arch=" + target, "-o", "/dev/null", path], capture_output=True, text=True)
        if done.returncode == 0:
            return refused
        lines = {}
        for line, message in re.findall(r"line (\d+); (?:error|fatal)\s*: (.*)", done.stdout + done.stderr):
            lines.setdefault(int(line), message)
        bad = set()
        for i, (name, _) in enumerate(batch):
            message = lines.get(5 + 3 * i)
            if message:
                refused[name] = message
                bad.add(name)
        if not bad and len(batch) > 1:  # it died: ask about the halves
            for half in (batch[:len(batch) // 2], batch[len(batch) // 2:]):
                refused.update(ask_ptxas(target, half, path))
            return refused
        if not bad:
            bad = {batch[0][0]}
            refused[batch[0][0]] = f"ptxas died with {done.returncode}"
        batch = [b for b in batch if b[0] not in bad]
    return refused


def ask_decoder(target, batch, path):
    with open(path, "w") as f:
        f.write(module(target, batch))
    done = subprocess.run([os.path.join(ROOT, "build/tools/decode"), path], capture_output=True, text=True)
    return {m.group(1): m.group(2) for m in re.finditer(r"^FAIL (\S+) \d+ (.*)$", done.stdout, re.M)}


def main():
    args = sys.argv[1:]
    targets = ["sm_75", "sm_80", "sm_89", "sm_90a"]
    if "--target" in args:
        i = args.index("--target")
        targets = args[i + 1].split(",")
        del args[i:i + 2]
    everything = [(f"e{i}", text) for i, text in enumerate(forms(set(args)))]
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "forms.ptx")
        for target in targets:
            for start in range(0, len(everything), BATCH):
                batch = everything[start:start + BATCH]
                refused, failed = ask_ptxas(target, list(batch), path), ask_decoder(target, batch, path)
                for name, text in batch:
                    form = text.split()[0]
                    if (name in refused) == (name in failed) or "ptxas died" in refused.get(name, "") or any(re.match(p, form) for p in BEYOND):
                        continue
                    differ += 1
                    print(f"{target} {form}: " + (f"refused by ptxas ({refused[name]}), decoded" if name in refused else f"accepted by ptxas, not decoded ({failed[name]})"), flush=True)
    print(f"{len(everything)} forms on {len(targets)} targets, {differ} disagreements")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
