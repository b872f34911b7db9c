#!/usr/bin/env python3
"""What a TileLang release makes of a kernel file, as CUDA with a launch manifest in front. Runs where that release is
installed (an environment of its own; no GPU is needed):
  tilelang_cuda.py FILE.py 'matmul.compile(M=512, N=256, K=256, block_M=128, block_N=128, block_K=32)' --out C > kernel.cu
The expression is evaluated in the file's module; the first kernel that it would build is taken. --out names the outputs.
"""
import argparse
import importlib
import importlib.util
import os
import re
import sys

import tilelang
from tilelang import tvm

ARCH = "sm_90a"
TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8", "uint8": "u8", "int16": "i16",
         "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64", "float8_e4m3": "e4m3",
         "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "bool": "u8"}
MAP_TYPES = ["u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16"]
SWIZZLES = ["none", "32B", "64B", "128B"]


class Captured(BaseException):
    """Carries the function that a compilation was asked for."""


def capture(path, expression):
    def cached(func=None, *args, **options):
        raise Captured(func, options.get("pass_configs"))

    importlib.import_module("tilelang.jit").cached = cached
    # What files ask of the device: an H200 has 132 SMs.
    for name in ("tilelang.carver.arch.driver", "tilelang.carver.arch.driver.cuda_driver"):
        importlib.import_module(name).get_num_sms = lambda *_: 132
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.argv = [path]
    try:
        with tvm.target.Target({"kind": "cuda", "arch": ARCH}):
            spec.loader.exec_module(module)
            eval(expression, module.__dict__)
    except Captured as c:
        return c.args
    sys.exit("the expression compiles nothing")


def tensor_map(words, named):
    """dtype, rank, tensor, dims, strides in bytes (that of dimension 0 too), box, element strides, modes."""
    kind, rank, tensor = int(words[0]), int(words[1]), words[2]
    numbers = [int(w) for w in words[3:]]
    dims, strides, box, steps = (numbers[k * rank:(k + 1) * rank] for k in range(4))
    interleave, swizzle, l2, oob = numbers[4 * rank:4 * rank + 4]
    assert interleave == 0, "interleaved maps"
    text = ",".join
    line = f"tensormap {MAP_TYPES[kind]} dims={text(map(str, dims))}"
    if rank > 1:
        line += f" strides={text(map(str, strides[1:]))}"
    line += f" box={text(map(str, box))} estrides={text(map(str, steps))} swizzle={SWIZZLES[swizzle]}"
    return line + (" oob=nan" if oob else "") + f" of={named(tensor)}"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("file")
    p.add_argument("expression")
    p.add_argument("--out", action="append", default=[])
    p.add_argument("--zero", action="append", default=[], help="outputs that start as zeros")
    o = p.parse_args()
    func, configs = capture(o.file, o.expression)
    target = tvm.target.Target({"kind": "cuda", "arch": ARCH})
    configs = {str(getattr(k, "value", k)): v for k, v in (configs or {}).items()}
    with tvm.transform.PassContext(config=configs), target:
        artifact = tilelang.lower(func, target=target)
    host = str(artifact.host_mod)
    device = [f for f in artifact.device_mod.functions.values()]
    assert len(device) == 1, "one kernel at a time"
    name = str(device[0].attrs["global_symbol"])
    tags = [str(t) for t in device[0].attrs["tirx.kernel_launch_params"]]
    call = re.search(r'call_packed\("' + re.escape(name) + r'", (.*)\)', host)[1].split(", ")
    launch = dict(zip(tags, map(int, call[-len(tags):])))
    given = call[:-len(tags)]
    # A variable of the host code is called after its tensor, with a number where the name was taken.
    tensors = {func.buffer_map[p].name for p in func.params if p in func.buffer_map}
    named = lambda word: word if word in tensors else re.sub(r"_\d+$", "", word)
    maps = {m[1]: tensor_map(m[2].split(", "), named) for m in
            re.finditer(r'call_packed\("__tvm_tensormap_create_tiled", (\w+), ([^)]*)\)', host)}
    dims = lambda kind: ",".join(str(launch.get(f"{kind}.{axis}", 1)) for axis in "xyz")
    smem = launch.get("tirx.use_dyn_shared_memory", 0)
    print(f"// launch: kernel={name} grid={dims('blockIdx')} block={dims('threadIdx')} cluster=1 smem={smem}")
    for param in func.params:
        buffer = func.buffer_map.get(param)
        if buffer is None:
            continue
        role = "role=out" if buffer.name in o.out else "role=in"
        if buffer.name in o.zero:
            role = "role=inout fill=zero"
        shape = ",".join(str(int(s)) for s in buffer.shape)
        print(f"// tensor: {buffer.name} {TYPES[str(buffer.dtype)]} shape={shape} {role}")
    for word in given:
        if word in maps:
            print(f"// arg: {word} {maps[word]}")
        elif re.fullmatch(r"-?\d+", word):
            print(f"// arg: n{given.index(word)} i32 {word}")
        else:
            print(f"// arg: {word} buffer of={named(word)}")
    print(artifact.kernel_source)


if __name__ == "__main__":
    main()
