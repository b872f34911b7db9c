#!/usr/bin/env python3
"""What a TileLang release traces of a kernel file, in the words of tools/reference/frontend. Runs where that release is
installed (an environment of its own; no GPU is needed):
  release_functions.py FILE.py < requests.json > answers.json
requests: [{"name": factory, "args": {…}}, …]; answers: one {"lines": {category: [line, …]}} or {"error": text} each.
"""
import importlib
import importlib.util
import io
import json
import os
import re
import sys
import types
import zlib

import tilelang
import torch
from tilelang import tvm

ARCH = "sm_90a"


class Anything(types.ModuleType):
    """Stands for what is not installed: every use of it gives another; as a decorator it changes nothing."""

    def __init__(self, name="missing"):
        super().__init__(name)
        self.__path__, self.__all__ = [], []
        self.__file__, self.__version__ = "missing", "99.0"

    def __getattr__(self, name):
        return Anything(name)

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else Anything()

    def __getitem__(self, item):
        return Anything()

    def __iter__(self):
        return iter(())

    def __mro_entries__(self, bases):
        return (object,)

    def __lt__(self, other):
        return False

    __gt__ = __le__ = __ge__ = __lt__


class Missing:
    """Finds modules that are not installed here, as objects that take everything."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("tilelang", "tvm", "torch"):
            return None
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


def load(path):
    for name in ("tilelang.carver.arch.driver", "tilelang.carver.arch.driver.cuda_driver"):
        importlib.import_module(name).get_num_sms = lambda *_: 132
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(multi_processor_count=132, name="H200")
    torch.cuda.is_available = lambda: True
    torch.cuda.current_device = lambda: 0
    sys.path.insert(0, os.path.dirname(path))
    sys.meta_path.append(Missing())
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernels"] = module
    sys.argv = [path]
    try:
        spec.loader.exec_module(module)
    except Exception as e:  # module-level code that needs a device; what was defined before it counts
        print(f"{path}: {type(e).__name__}: {e}", file=sys.stderr)
    return module


def base(name):
    return re.sub(r"(_\d+)+$", "", str(name))


def dtype(d):
    return re.sub(r"custom\[(\w+)\]", r"\1", str(d))


def key(text, span):
    return zlib.crc32(text.encode()) % span + 1


class Walker:
    def __init__(self):
        self.env = {}
        self.loops = 0
        self.symbols = {}  # by order: the release renames them when they are bound to another name
        self.lines = {k: [] for k in ("params", "launch", "buffers", "ops", "loops")}

    # ---- numbers: every variable has a fixed value, so equal expressions are equal numbers
    def value(self, e):
        kind = type(e).__name__
        if isinstance(e, (int, bool)):
            return int(e)
        if kind in ("IntImm",):
            return int(e.value)
        if kind in ("FloatImm", "StringImm"):
            return 0
        if kind in ("Var", "SizeVar"):
            known = self.env.get(e)
            if known is None:
                known = self.symbols.setdefault(e, 9 + len(self.symbols))
            return known if isinstance(known, int) else self.value(known)  # a binding is evaluated where it is used
        if kind == "Cast":
            return self.value(e.value)
        if kind == "BufferLoad":
            return key(base(e.buffer.name) + str([self.value(i) for i in e.indices]), 11)
        if kind in ("Select",):
            return self.value(e.true_value if self.value(e.condition) else e.false_value)
        if kind == "Not":
            return int(not self.value(e.a))
        if hasattr(e, "a") and hasattr(e, "b"):
            a, b = self.value(e.a), self.value(e.b)
            return {"Add": lambda: a + b, "Sub": lambda: a - b, "Mul": lambda: a * b, "FloorDiv": lambda: a // (b or 1),
                    "FloorMod": lambda: a % (b or 1), "Div": lambda: int(a / (b or 1)), "Mod": lambda: a % (b or 1),
                    "Min": lambda: min(a, b), "Max": lambda: max(a, b), "EQ": lambda: int(a == b), "NE": lambda: int(a != b),
                    "LT": lambda: int(a < b), "LE": lambda: int(a <= b), "GT": lambda: int(a > b), "GE": lambda: int(a >= b),
                    "And": lambda: int(a and b), "Or": lambda: int(a or b)}[kind]()
        if kind == "Call":
            name = e.op.name
            x = [self.value(i) for i in e.args] if name.split(".")[-1] in OPS else []
            if name.split(".")[-1] in OPS:
                return OPS[name.split(".")[-1]](*x)
            return key(name, 5)
        return 0

    def region(self, call):
        load, extents = call.args[0], call.args[2:]
        offsets = [self.value(i) for i in load.indices]
        sizes = [self.value(i) for i in extents]
        sizes = [1] * (len(offsets) - len(sizes)) + sizes
        return f"{base(load.buffer.name)}{offsets}x{sizes}"

    def evaluate(self, call):
        if type(call).__name__ != "Call" or not hasattr(call.op, "name"):
            return
        name = call.op.name
        if not name.startswith("tl.tileop."):
            return
        regions = [self.region(a) for a in call.args
                   if type(a).__name__ == "Call" and getattr(a.op, "name", "") in ("tl.region", "tl.tileop.region")]
        if regions:
            self.lines["ops"].append(f"{name[10:]} {' '.join(regions)}")

    def buffer(self, b):
        self.lines["buffers"].append(f"{base(b.name)} {dtype(b.dtype)} {[self.value(i) for i in b.shape]} {b.scope()}")

    def walk(self, s):
        kind = type(s).__name__
        if kind == "SeqStmt":
            for c in s.seq:
                self.walk(c)
        elif kind == "SBlockRealize" or kind == "BlockRealize":
            self.walk(s.block)
        elif kind in ("SBlock", "Block"):
            for b in s.alloc_buffers:
                self.buffer(b)
            notes = {str(k): v for k, v in s.annotations.items()}
            if "tl.launch_threads" in notes:
                self.lines["launch"].append("threads " + str([self.value(i) for i in notes["tl.launch_threads"]]))
            if "cluster_dims" in notes or "tl.cluster_dims" in notes:
                dims = notes.get("cluster_dims", notes.get("tl.cluster_dims"))
                self.lines["launch"].append("cluster " + str([self.value(i) for i in dims]))
            self.walk(s.body)
        elif kind == "For":
            self.loop(s)
        elif kind == "Bind":
            self.env[s.var] = self.bound(s)
        elif kind == "LetStmt":
            self.env[s.var] = s.value
            self.walk(s.body)
        elif kind == "Evaluate":
            self.evaluate(s.value)
        elif kind == "IfThenElse":
            self.walk(s.then_case)
            if s.else_case is not None:
                self.walk(s.else_case)
        elif kind == "While":
            self.lines["loops"].append("while")
            self.walk(s.body)
        elif hasattr(s, "body"):
            self.walk(s.body)

    def bound(self, s):
        call = s.value
        if type(call).__name__ == "Call" and "launch_thread_idx" in getattr(call.op, "name", ""):
            return 5 if int(call.args[0]) == 0 else 0
        return call

    def loop(self, s):
        if s.thread_binding is not None:
            tag = str(s.thread_binding.thread_tag)
            if tag.startswith("blockIdx"):
                self.env[s.loop_var] = {"x": 3, "y": 2, "z": 1}[tag[-1]]
                self.lines["launch"].append(f"grid {tag[-1]} {self.value(s.extent)}")
            else:
                self.env[s.loop_var] = 5
            return self.walk(s.body)
        self.loops += 1
        first = self.value(s.min)
        self.env[s.loop_var] = first + self.loops * 7 % 11
        kind = {0: "serial", 1: "parallel", 2: "vectorized", 3: "unrolled", 4: "thread"}[int(s.kind)]
        stages = s.annotations.get("num_stages", 0) if s.annotations else 0
        if int(stages):
            kind = f"pipelined({int(stages)})"
        self.lines["loops"].append(f"{kind} {self.value(s.extent)}")
        self.walk(s.body)


OPS = {
    "bitwise_and": lambda a, b: a & b, "bitwise_or": lambda a, b: a | b, "bitwise_xor": lambda a, b: a ^ b,
    "shift_left": lambda a, b: a << min(max(b, 0), 60), "shift_right": lambda a, b: a >> min(max(b, 0), 60),
    "if_then_else": lambda c, a, b: a if c else b, "likely": lambda a: a, "bitwise_not": lambda a: ~a,
}


def describe(f):
    w = Walker()
    for p in f.params:
        b = f.buffer_map[p] if p in f.buffer_map else None
        if b is None:
            w.value(p)
            w.lines["params"].append(f"{base(p.name)} {dtype(p.dtype)}")
        else:
            w.lines["params"].append(f"{base(b.name)} {dtype(b.dtype)} {[w.value(i) for i in b.shape]}")
    w.walk(f.body)
    if not any(line.startswith("threads") for line in w.lines["launch"]):
        w.lines["launch"].append("threads [128, 1, 1]")
    return w.lines


def find(module, request):
    f = getattr(module, request["name"], None)
    if f is not None and not isinstance(f, types.ModuleType):
        return getattr(f, "jit_impl", f)
    for g in vars(module).values():  # a factory whose prim_func has that name
        code = getattr(getattr(g, "jit_impl", g), "__code__", None) or getattr(getattr(g, "orig_func", None), "__code__", None)
        if code and set(request["args"]) <= set(code.co_varnames[:code.co_argcount]) and request["args"]:
            return getattr(g, "jit_impl", g)
    raise LookupError(f"the module has no {request['name']}")


def answer(module, request):
    try:
        f = find(module, request)
        if isinstance(f, tvm.tirx.PrimFunc):
            return {"lines": describe(f)}
        out = f.get_tir(**request["args"]) if hasattr(f, "get_tir") else f(**request["args"])
        out = getattr(out, "prim_func", out)
        return {"lines": describe(out)}
    except Exception as e:
        return {"error": f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"[:300]}


def main():
    requests = json.load(sys.stdin)
    real, sys.stdout = sys.stdout, io.StringIO()  # what the file prints is not the answer
    with tvm.target.Target({"kind": "cuda", "arch": ARCH}):
        module = load(os.path.abspath(sys.argv[1]))
        answers = [answer(module, r) for r in requests]
    json.dump(answers, real)


if __name__ == "__main__":
    main()
