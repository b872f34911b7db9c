#!/usr/bin/env python3
"""Runs kernels that this project did not write in the simulator: tools/foreign/run.py [NAME...] (see docs/foreign.md).

Each row below is a host program of ours (a .cu in this folder) around the kernel of a library whose sources lie in a folder
given by an environment variable. The program prints the launch manifest (capture.h), nvcc makes the PTX, tilesim runs it
with all sanitizers, and the result is compared with numpy. Nothing of the libraries is kept.
  TARGET_KERNELS, CUTLASS, DEEPGEMM, FLASH_ATTENTION, TILELANG_EXAMPLES: source folders; rows without theirs are skipped
  TRITON_PYTHON: a Python that has Triton
Needs nvcc and numpy. Exit 0: every row that ran is equal and without a finding.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    sys.exit("foreign: numpy is needed, which this python3 does not have")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GENCODE = {"sm_90a": "arch=compute_90a,code=sm_90a", "sm_80": "arch=compute_80,code=sm_80"}


def gemm(t, out="C", a="A", b="B", transposed_b=True, alpha=1.0):
    x, y = t[a].astype(np.float64), t[b].astype(np.float64)
    return {out: alpha * (x @ (y.T if transposed_b else y))}


def attention(t, causal=False, scale=None):
    q, k, v = (t[n].astype(np.float64) for n in "qkv")
    s = np.einsum("hid,hjd->hij", q, k) * (scale or q.shape[-1] ** -0.5)
    if causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return {"o": np.einsum("hij,hjd->hid", p / p.sum(-1, keepdims=True), v)}


def target_gemm(variant, m, n, k, dtype="f16", out="f16", clusters=66):
    defines = {"VARIANT": f"Config<{variant}>", "GEMM_M": m, "GEMM_N": n, "GEMM_K": k, "IN": dtype, "OUT": out, "CLUSTERS": clusters}
    return dict(source="target_gemm.cu", defines=defines, folder="TARGET_KERNELS", includes=["."], reference=None)


def target_attention(heads, seq, flags, causal):
    defines = {"HEADS": heads, "SEQ": seq, "FLAGS": flags, "CAUSAL": causal}
    entry = f"attn_fwd.*6__halfLb{causal}ELi{flags}E"
    return dict(source="target_attention.cu", defines=defines, folder="TARGET_KERNELS", includes=["."], entry=entry,
                reference=lambda t: attention(t, bool(causal)), tolerance=2e-3)


def nbody(x):
    d = x[None, :, :3] - x[:, None, :3]
    r = 1 / np.sqrt((d ** 2).sum(-1) + 0.01)
    a = (d * (x[None, :, 3] * r ** 3)[..., None]).sum(1)
    return np.concatenate([a, np.zeros((len(x), 1))], 1)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def small_ints(rng, name, dtype, shape):
    return rng.integers(0, 256, shape) if dtype == "u8" else rng.integers(-4, 5, shape)


def classic(name, reference, **more):
    return dict(source=f"classic/{name}.cu", capture=False, outputs=["out"], tolerance=1e-6,
                reference=lambda t: {"out": reference(t["in"].astype(np.float64))}, **more)


def tf32(x):
    """Rounded to the nearest tf32, ties away, as cvt.rna does."""
    return ((x.astype(np.float32).view(np.uint32) + 0x1000) & 0xFFFFE000).view(np.float32)


def cutlass_sm80(which, m, n, k, dtype):
    defines = {"CUTLASS_" + which: 1, "GEMM_M": m, "GEMM_N": n, "GEMM_K": k}
    row = dict(source="cutlass_sm80.cu", defines=defines, folder="CUTLASS", includes=["include", "tools/util/include"],
               arch="sm_80", flags=["-DCAPTURE_LAUNCHES"], entry="Kernel", outputs=["D"])
    # A is row-major [M,K], B column-major, so [N,K] in memory.
    row["reference"] = lambda t: gemm({x: tf32(v) if dtype == "f32" else v for x, v in t.items()}, out="D")
    if which == "SPARSE":
        row["make"], row["reference"] = sparse_inputs, sparse_gemm
    return row


def sparse_inputs(rng, name, dtype, shape):
    """The metadata keep elements 0 and 1 of each four (0x4), whichever way CUTLASS reorders it."""
    return np.full(shape, 0x4444) if name == "E" else rng.standard_normal(shape)


def sparse_gemm(t):
    kept = t["A"].astype(np.float64)
    full = np.zeros((kept.shape[0], 2 * kept.shape[1]))
    full[:, 0::4], full[:, 1::4] = kept[:, 0::2], kept[:, 1::2]
    return {"D": full @ t["B"].astype(np.float64).T}


def cutlass_sm90(which, m, n, k):
    defines = {"CUTLASS_" + which: 1, "GEMM_M": m, "GEMM_N": n, "GEMM_K": k}
    return dict(source="cutlass_sm90.cu", defines=defines, folder="CUTLASS", includes=["include", "tools/util/include"],
                flags=["-DCAPTURE_LAUNCHES", "--expt-relaxed-constexpr", "-w", "-DCUTLASS_ENABLE_DIRECT_CUDA_DRIVER_CALL"], entry="device_kernel", outputs=["D"],
                reference=lambda t: gemm(t, out="D"))


def tilelang(file, expression, outputs, reference, **more):
    return dict(tilelang=(file, expression), folder="TILELANG_EXAMPLES", capture=False, std="c++20", outputs=outputs,
                reference=reference, **more)


def triton_gemm(t, transposed_b=True):
    return gemm(t, out="c", a="a", b="b", transposed_b=transposed_b)


def triton(name, reference, **more):
    return dict(triton=name, folder="TRITON_PYTHON", outputs=[], reference=reference, **more)


def layernorm(x, w, b, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(-1, keepdims=True) + eps) * w + b


def bshd_attention(t, causal=False):
    """[batch, seq, heads, dim] as the files have it."""
    q, k, v = (t[n].astype(np.float64).transpose(0, 2, 1, 3) for n in ("Q", "K", "V"))
    b, h, n, d = q.shape
    o = attention({"q": q.reshape(b * h, n, d), "k": k.reshape(b * h, n, d), "v": v.reshape(b * h, n, d)}, causal)["o"]
    return {"Output": o.reshape(b, h, n, d).transpose(0, 2, 1, 3)}


def nn_gemm(t):
    return gemm(t, transposed_b=False)


ROWS = {
    "tilelang elementwise add": tilelang(
        "elementwise/example_elementwise_add.py",
        "elementwise_add.compile(M=256, N=256, block_M=32, block_N=32, threads=128, in_dtype=T.float32, out_dtype=T.float32)",
        ["C"], lambda t: {"C": t["A"] + t["B"]}),
    "tilelang gemm (auto roles)": tilelang(
        "gemm/example_gemm.py", "matmul.compile(M=512, N=256, K=256, block_M=128, block_N=128, block_K=32)", ["C"], nn_gemm),
    "tilelang gemm persistent": tilelang(
        "gemm/example_gemm_persistent.py",
        "matmul_persistent.compile(M=1024, N=1024, K=256, block_M=128, block_N=256, block_K=64, threads=256, num_stages=3)",
        ["C"], nn_gemm),
    "tilelang gemm split-K": tilelang(
        "gemm_splitk/example_tilelang_gemm_splitk.py",
        "matmul.compile(M=256, N=256, K=1024, block_M=128, block_N=128, block_K=32, split_k=4)", [], nn_gemm, zeros=["C"],
        checked=["C"]),
    "tilelang gemm T.ws": tilelang(
        "warp_specialize/example_warp_specialize_gemm_copy_gemm_0_1.py",
        "matmul_warp_specialize_copy_gemm_0_1.compile(M=512, N=512, K=256, block_M=128, block_N=128, block_K=64)", ["C"], nn_gemm),
    "tilelang gemm T.ws barriers": tilelang(
        "warp_specialize/example_warp_specialize_gemm_barrierpipe_stage2.py",
        "matmul.compile(M=512, N=512, K=256, block_M=128, block_N=128, block_K=64)", ["C"], nn_gemm),
    "tilelang layer norm": tilelang(
        "norm/layernorm.py", "_layernorm_fwd(64, 512, eps=1e-5, in_dtype=T.float16, out_dtype=T.float16)", ["Y", "Mean", "Rstd"],
        lambda t: {"Y": layernorm(*(t[n].astype(np.float64) for n in ("X", "gamma", "beta")))}, checked=["Y"]),
    "tilelang attention": tilelang(
        "flash_attention/example_mha_fwd_bshd.py",
        "flashattn(1, 2, 512, 64, False, block_M=128, block_N=128, num_stages=1, threads=128)", ["Output"], bshd_attention,
        tolerance=2e-3),
    "tilelang attention causal": tilelang(
        "flash_attention/example_mha_fwd_bshd.py",
        "flashattn(1, 2, 512, 64, True, block_M=128, block_N=128, num_stages=1, threads=128)", ["Output"],
        lambda t: bshd_attention(t, True), tolerance=2e-3),
    "tilelang cumsum": tilelang(
        "gdn/example_cumsum.py", "tilelang_chunk_local_cumsum_scalar(1, 256, 4, chunk_size=64, block_S=64, head_first=True)",
        ["G_new"], lambda t: {"G_new": t["G"].astype(np.float64).reshape(1, 4, 4, 64).cumsum(-1).reshape(1, 4, 256)}),
    "tilelang top-k": tilelang(
        "topk/example_topk.py", "tl_topk.compile(M=64, N=128, topk=4, blk_m=64)", ["topk_gates", "topk_indices"],
        lambda t: {"topk_gates": -np.sort(-t["logits"], axis=1)[:, :4],
                   "topk_indices": np.argsort(-t["logits"], axis=1, kind="stable")[:, :4]}),
    "classic reduction": classic("reduction", lambda x: np.array([x.sum()])),
    "classic scan": classic("scan", np.cumsum, make=small_ints),
    "classic histogram": classic("histogram", lambda x: np.bincount(x.astype(int), minlength=256), make=small_ints),
    "classic transpose": classic("transpose", np.transpose),
    "classic n-body": classic("nbody", nbody),
    "classic softmax": classic("softmax", softmax),
    "cutlass sm_80 tf32": cutlass_sm80("TF32", 256, 192, 128, "f32"),
    "cutlass sm_80 stream-K": cutlass_sm80("STREAMK", 384, 256, 512, "f16"),
    "cutlass sm_80 sparse": cutlass_sm80("SPARSE", 256, 128, 256, "f16"),
    "cutlass sm_90 cooperative": cutlass_sm90("COOPERATIVE", 512, 256, 256),
    "cutlass sm_90 ping-pong": cutlass_sm90("PINGPONG", 512, 256, 256),
    "cutlass sm_90 stream-K": cutlass_sm90("STREAMK", 512, 384, 1024),
    "DeepGEMM bf16": dict(source="deepgemm.cu", defines={"GEMM_M": 512, "GEMM_N": 512, "GEMM_K": 320}, folder="DEEPGEMM", std="c++20",
                          includes=["deep_gemm/include"], needs="CUTLASS", entry="sm90_bf16_gemm_impl",
                          flags=["--expt-relaxed-constexpr", "-w"], reference=None),
    "FlashAttention-3 forward": dict(source="flash_attention3.cu", defines={"HEADS": 2, "SEQ": 384}, folder="FLASH_ATTENTION",
                                     includes=["hopper"], needs="CUTLASS", entry="StaticPersistentTileScheduler", outputs=["o"],
                                     flags=["-DCAPTURE_LAUNCHES", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-w",
                                            "-DCUTLASS_ENABLE_DIRECT_CUDA_DRIVER_CALL"],
                                     reference=attention, tolerance=2e-3),
    "triton matmul 1 stage": triton("matmul 1 stage", lambda t: triton_gemm(t, False), checked=["c"]),
    "triton matmul 2 stages": triton("matmul 2 stages", lambda t: triton_gemm(t, False), checked=["c"]),
    "triton matmul 4 stages": triton("matmul 4 stages", lambda t: triton_gemm(t, False), checked=["c"]),
    "triton softmax": triton("softmax", lambda t: {"y": softmax(t["x"].astype(np.float64))}, checked=["y"]),
    "triton attention": triton("attention", attention, checked=["o"], tolerance=2e-3),
    "triton matmul, maps": triton("matmul maps", triton_gemm, checked=["c"]),
    "triton matmul, own maps": triton("matmul own maps", triton_gemm, checked=["c"]),
    "triton matmul, own maps, roles": triton("matmul own maps, roles", triton_gemm, checked=["c"]),
    "target gemm cluster 2": target_gemm("h,h,0,128,256,4,2,1,2,kCooperative,kTmaOverlapped,2", 512, 512, 256),
    "target gemm NN": target_gemm("h,h,1,128,256,4,2,1,2,kCooperative,kTmaOverlapped,2", 512, 512, 256),
    "target gemm persistent": target_gemm("h,h,0,128,128,6,2,1,2,kCooperative,kTmaOverlapped,2", 768, 512, 192, clusters=3),
    "target gemm ping-pong": target_gemm("h,h,0,64,256,5,2,1,2,kPingpong,kTmaOverlapped,1", 512, 512, 320, clusters=3),
    "target gemm deferred store": target_gemm("b,b,0,128,256,4,2,1,2,kCooperative,kTmaDeferred,2", 512, 512, 256, "bf16", "bf16"),
    "target gemm cut along K": target_gemm("h,h,0,128,256,4,2,1,2,kCooperative,kTmaDeferred,2,1,kRelaxedPerWarp,1,1",
                                           768, 512, 512, clusters=4),
    "target gemm fp8": target_gemm("q,b,0,128,256,4,2,1,2,kCooperative,kTmaOverlapped,2", 512, 512, 256, "e4m3", "bf16"),
    "target gemm direct": target_gemm("h,h,0,128,128,3,1,1,2,kCooperative,kDirect,1", 384, 256, 192),
    "target attention": target_attention(2, 512, 3, 0),
    "target attention dynamic": target_attention(2, 512, 7, 0),
    "target attention causal": target_attention(2, 512, 7, 1),
}


class Failure(Exception):
    pass


def call(command, seconds=900, **more):
    cuda = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("nvcc"))))
    more.setdefault("env", dict(os.environ, LD_LIBRARY_PATH=f"{cuda}/lib64:" + os.environ.get("LD_LIBRARY_PATH", "")))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, text=True,
                          errors="replace", **more)
    if done.returncode:
        raise Failure(f"{os.path.basename(command[0])}: " + "\n".join(done.stdout.splitlines()[:12]))
    return done.stdout


def generate_tilelang(row, folder, source, flags):
    """Asks the release for the CUDA of a kernel file; its package has the headers."""
    python = os.environ["TILELANG_PYTHON"]
    file, expression = row["tilelang"]
    extra = [x for o in row["outputs"] for x in ("--out", o)] + [x for o in row.get("zeros", []) for x in ("--zero", o)]
    text = call([python, os.path.join(HERE, "tilelang_cuda.py"), os.path.join(folder, file), expression, *extra],
                cwd=os.path.dirname(source))  # the release leaves a log where it runs
    with open(source, "w") as f:
        f.write(text[text.index("// launch:"):])
    package = call([python, "-c", "import importlib.util as u; print(u.find_spec('tilelang').submodule_search_locations[0])"])
    package = package.strip().splitlines()[-1]
    flags += ["-I", package + "/src", "-I", package + "/3rdparty/cutlass/include", "-w"]


def prepare(row, folder, where):
    """The .ptx of a row with its manifest in front."""
    if "triton" in row:
        text = call([folder, "-W", "ignore", os.path.join(HERE, "triton_ptx.py"), row["triton"]], cwd=where)
        text = text[text.index("// launch:"):]
        path = os.path.join(where, "kernel.ptx")
        with open(path, "w") as f:
            f.write(text)
        return path, text[:text.index(".version")]
    arch = row.get("arch", "sm_90a")
    source = os.path.join(where, "row.cu")
    with open(source, "w") as f:
        for name, value in row.get("defines", {}).items():
            f.write(f"#define {name} {value}\n")
        f.write(f'#include "{row["source"]}"\n' if "source" in row else "")
    flags = ["-std=" + row.get("std", "c++17"), "-O3", "-lineinfo", "-gencode", GENCODE[arch], "-I", HERE]
    flags += [f for i in row.get("includes", []) for f in ("-I", os.path.join(folder or HERE, i))]
    flags += row.get("flags", [])
    if "needs" in row:
        flags += ["-I", os.path.join(os.environ[row["needs"]], "include")]
    if row.get("tilelang"):
        generate_tilelang(row, folder, source, flags)
    call(["nvcc", *flags, "-ptx", "-o", os.path.join(where, "row.ptx"), source])
    text = open(os.path.join(where, "row.ptx")).read()
    entries = [e for e in re.findall(r"\.entry\s+(\S+?)\(", text) if re.search(row.get("entry", "."), e)]
    if len(entries) != 1:
        raise Failure(f"{len(entries)} kernels match {row.get('entry')}: {entries[:4]}")
    if row.get("capture", True):
        # The program's own definitions of a few runtime functions come before those of the shared library.
        flags = [f.replace("code=sm_", "code=compute_") for f in flags]  # its device code is not run: no machine code
        call(["nvcc", *flags, "-cudart", "shared", "-o", os.path.join(where, "row"), source, *row.get("libraries", [])])
        header = call([os.path.join(where, "row"), entries[0], *param_sizes(text, entries[0])])
    else:
        header = "".join(line for line in open(source if row.get("tilelang") else os.path.join(HERE, row["source"])) if re.match(r"// (launch|tensor|arg|check):", line))
    path = os.path.join(where, "kernel.ptx")
    with open(path, "w") as f:
        f.write(header + text)
    return path, header


def param_sizes(ptx, entry):
    """Bytes of each parameter of an entry, as the PTX declares them."""
    body = re.search(r"\.entry\s+" + re.escape(entry) + r"\((.*?)\)", ptx, re.S)[1]
    sizes = []
    for line in body.split(","):
        m = re.search(r"\.param\s+(?:\.align\s+\d+\s+)?\.[a-z]+(\d+)\s+(?:\.ptr\s+.*)?[\w$]+(?:\[(\d+)\])?", line)
        if m:
            sizes.append(str(int(m[1]) // 8 * int(m[2] or 1)))
    return sizes


NUMPY = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "i32": "<i4", "u32": "<u4", "u16": "<u2", "i16": "<i2", "u8": "u1", "i8": "i1", "i64": "<i8"}


def tensors_of(header):
    return {m[1]: (m[2], [int(d) for d in m[3].split(",")], m[4]) for m in
            re.finditer(r"// tensor: (\S+) (\S+) shape=(\S+) (.*)", header)}


def run(name, row, options):
    folder = os.environ.get(row["folder"]) if row.get("folder") else None
    if row.get("folder") and not folder:
        return "skipped", "no " + row["folder"], 0
    if "needs" in row and row["needs"] not in os.environ:
        return "skipped", "no " + row["needs"], 0
    with tempfile.TemporaryDirectory() as where:
        try:
            path, header = prepare(row, folder, where)
            tilesim = os.path.join(options.build, "tools", "tilesim")
            reference = row.get("reference")
            extra, inputs = [], {}
            if reference:
                rng = np.random.default_rng(7)
                for t, (dtype, shape, more) in tensors_of(header).items():
                    if "role=in " in more + " " and dtype in NUMPY:
                        x = row["make"](rng, t, dtype, shape) if "make" in row else rng.standard_normal(shape)
                        inputs[t] = np.asarray(x).astype(NUMPY[dtype])
                        np.save(os.path.join(where, t + ".npy"), inputs[t])
                        extra += ["--input", f"{t}={where}/{t}.npy"]
                    elif "role=in " not in more + " " and t in row.get("checked", row.get("outputs", ["C", "o", "D"])):
                        extra += ["--output", f"{t}={where}/{t}.npy"]
            started = time.time()
            said = subprocess.run([tilesim, "run", path, "--check", options.check, "--schedule", options.schedule, *extra],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=options.timeout)
            seconds = time.time() - started
            lines = said.stdout.strip().splitlines()
            if said.returncode:
                if options.verbose:
                    print(said.stdout)
                return "FAILED", lines[0][:300] if lines else "", seconds
            detail = lines[-1].split(";", 1)[1].strip() if ";" in lines[-1] else ""
            if reference:
                for t, want in reference(inputs).items():
                    got = np.load(os.path.join(where, t + ".npy")).astype(np.float64).reshape(want.shape)
                    error = np.linalg.norm(got - want) / np.linalg.norm(want)
                    detail = f"{t}: relative error {error:.2g}"
                    if not error <= row.get("tolerance", 1e-3):
                        return "FAILED", detail, seconds
            return "equal", detail, seconds
        except (Failure, subprocess.TimeoutExpired) as e:
            return "FAILED", str(e)[:1200], 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("names", nargs="*", help="rows whose names contain one of these")
    p.add_argument("--build", default=os.path.join(ROOT, "build"))
    p.add_argument("--check", default="all")
    p.add_argument("--schedule", default="rr")
    p.add_argument("--timeout", type=float, default=600)
    p.add_argument("--verbose", action="store_true", help="print what tilesim said of a row that failed")
    options = p.parse_args()
    counts = {"equal": 0, "FAILED": 0, "skipped": 0}
    for name, row in ROWS.items():
        if options.names and not any(n in name for n in options.names):
            continue
        status, detail, seconds = run(name, row, options)
        counts[status] += 1
        print(f"{name:34s} {status:8s} {seconds:7.2f} s  {detail}", flush=True)
    print(f"{counts['equal']} equal, {counts['FAILED']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["FAILED"] else 0)


if __name__ == "__main__":
    main()
