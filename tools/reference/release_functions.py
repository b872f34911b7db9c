#!/usr/bin/env python3
"""What a TileLang release traces of a kernel file, in the words of tools/reference/frontend. Runs where that release is
installed (an environment of its own; no GPU is needed):
  release_functions.py FILE.py < requests.json > answers.json
requests: [{"name": factory, "args": {…}}, …]; answers: one {"lines": {category: [line, …]}} or {"error": text} each.
"""
import ast
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

    def __add__(self, other):
        return Anything()

    __gt__ = __le__ = __ge__ = __lt__
    __radd__ = __sub__ = __mul__ = __truediv__ = __or__ = __add__


class Missing:
    """Finds the modules that files of a folder import and that are not installed here, as objects that take everything."""

    def __init__(self, folder):
        self.names = {"pytest"}  # the library's own testing module asks for it
        for name in os.listdir(folder):
            if name.endswith(".py"):
                text = open(os.path.join(folder, name)).read()
                self.names.update(re.findall(r"^\s*(?:import|from)\s+(\w+)", text, re.M))

    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top not in self.names or top in ("tilelang", "tvm", "torch"):
            return None
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


class Tuned(Exception):
    """Raised by an autotuner's entry point, once the kernel that it was given is kept."""


tuned = []  # kernels that were handed to an autotuner


def keep_tuned(*args, kernel=None, **kwargs):
    tuned.append(kernel if kernel is not None else args[-1])
    raise Tuned


def stand_ins(folder):
    """The device that the files ask for, names that the release lacks, and modules that are not installed."""
    for name in ("tilelang.carver.arch.driver", "tilelang.carver.arch.driver.cuda_driver"):
        importlib.import_module(name).get_num_sms = lambda *_: 132
    device = types.SimpleNamespace(multi_processor_count=132, name="H200", major=9, minor=0)
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_device_properties = lambda *_: device
    torch.cuda.is_available = lambda: True
    torch.cuda.current_device = lambda: 0
    tilelang.autotuner.AutoTuner.from_kernel = keep_tuned
    keys = type(tilelang.PassConfigKey)
    known = keys.__getattr__ if hasattr(keys, "__getattr__") else None

    def pass_config(cls, name):
        if cls is tilelang.PassConfigKey and name.startswith("TL_"):
            return "tl." + name[3:].lower()
        if known:
            return known(cls, name)
        raise AttributeError(name)

    keys.__getattr__ = pass_config
    sys.path.insert(0, folder)
    sys.meta_path.append(Missing(folder))


def load(path):
    stand_ins(os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernels"] = module
    sys.argv = [path]
    try:
        spec.loader.exec_module(module)
    except Exception as e:  # module-level code that needs a device; what was defined before it counts
        module.load_error = f"{type(e).__name__}: {e}"
        print(f"{path}: {module.load_error}", file=sys.stderr)
    return module


def set_globals(module, path):
    """What the file's `if __name__ == "__main__"` assigns: some kernels read it. Without a device: a stand-in."""
    for stmt in ast.parse(open(path).read()).body:
        if not isinstance(stmt, ast.If) or "__name__" not in ast.unparse(stmt.test):
            continue
        for assign in (s for s in stmt.body if isinstance(s, ast.Assign)):
            try:
                exec(compile(ast.Module([assign], []), path, "exec"), vars(module))
            except Exception:
                for target in (t for t in assign.targets if isinstance(t, ast.Name)):
                    setattr(module, target.id, Anything(target.id))


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
        self.threads = [1024, 1, 1]
        self.order = {}  # buffers by number
        self.symbols = {}  # by order: the release renames them when they are bound to another name
        self.lines = {k: [] for k in ("params", "launch", "buffers", "ops", "loops", "stores")}

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
            return key(self.order.get(e.buffer, base(e.buffer.name)) + str([self.value(i) for i in e.indices]), 11)
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
            return key(name.split(".")[-1], 5)
        return 0

    def region(self, call):
        load, extents = call.args[0], call.args[2:]
        offsets = [self.value(i) for i in load.indices]
        for n, (index, size) in enumerate(zip(load.indices, load.buffer.shape)):
            if type(index).__name__ == "IntImm" and offsets[n] < 0:  # the release counts from the end in a later pass
                offsets[n] += self.value(size)
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
            name = name[10:]
            self.lines["ops"].append(" ".join([name] + regions + self.notes(name, call.args)))

    def notes(self, name, args):
        flag = lambda e: int(e.value) if type(e).__name__ == "IntImm" else "?"
        if "gemm_sp" in name:  # A, E, B, C, transposed A, E, B, M, N, K, policy, clear
            return [f"tA={flag(args[4])}", f"tB={flag(args[6])}", f"clear={flag(args[11])}", f"policy={flag(args[10])}"]
        if "gemm" in name:  # A, B, C, transposed A, B, M, N, K, policy, clear
            return [f"tA={flag(args[3])}", f"tB={flag(args[4])}", f"clear={flag(args[9])}", f"policy={flag(args[8])}"]
        if name == "reduce":
            return [str(args[2].value), f"dim={flag(args[3])}", f"clear={flag(args[4])}"]
        if name in ("cumsum", "cummax"):
            return [f"dim={flag(args[2])}", f"reverse={flag(args[3])}"]
        return []

    def buffer(self, b):
        self.order[b] = str(len(self.order))
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
        elif kind == "BufferStore":
            self.lines["stores"].append(f"{base(s.buffer.name)}{[self.value(i) for i in s.indices]}")
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
            return self.thread(int(call.args[0]))
        return call

    # The block's extents are said inside of what uses them.
    def launch_threads(self, body):
        found = [[128, 1, 1]]

        def visit(node):
            notes = getattr(node, "annotations", None)
            if notes and "tl.launch_threads" in notes:
                found.append([self.value(i) for i in notes["tl.launch_threads"]])

        tvm.tirx.stmt_functor.post_order_visit(body, visit)
        return found[-1]

    # Of thread 5: along each axis what the others leave.
    def thread(self, axis):
        x, y, _ = self.threads
        return [5 % x, 5 // x % y, 5 // (x * y)][axis]

    def loop(self, s):
        if int(s.kind) == 3 and re.search(r"tcgen05_(cp_warpx4|sf_warp_transpose)\(", str(s.body)):  # parts of one operation
            return None
        if s.thread_binding is not None:
            tag = str(s.thread_binding.thread_tag)
            if tag.startswith("blockIdx"):
                self.threads = self.launch_threads(s.body)
                self.env[s.loop_var] = {"x": 3, "y": 2, "z": 1}[tag[-1]]
                self.lines["launch"].append(f"grid {tag[-1]} {self.value(s.extent)}")
            else:
                self.env[s.loop_var] = self.thread("xyz".index(tag[-1]))
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
            w.order[b] = str(len(w.order))
            w.lines["params"].append(f"{base(b.name)} {dtype(b.dtype)} {[w.value(i) for i in b.shape]}")
    w.walk(f.body)
    if not any(line.startswith("threads") for line in w.lines["launch"]):
        w.lines["launch"].append("threads [128, 1, 1]")
    return w.lines


def code_of(f):
    f = getattr(f, "jit_impl", f)
    for inner in (f, getattr(f, "orig_func", None), getattr(f, "func", None), getattr(f, "__wrapped__", None)):
        if getattr(inner, "__code__", None):
            return inner.__code__
    return None


def takes(code, args):
    return set(args) <= set(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])


def defines(code, name):
    return any(isinstance(c, types.CodeType) and c.co_name == name for c in code.co_consts)


def call_tuning(module):
    """Calls what hands a kernel to an autotuner, with the defaults that the module's functions have for its parameters."""
    defaults = {}
    functions = [g for g in vars(module).values() if isinstance(g, types.FunctionType)]
    for g in functions:
        names = g.__code__.co_varnames[:g.__code__.co_argcount]
        defaults.update(zip(reversed(names), reversed(g.__defaults__ or ())))
    for g in functions:
        if "from_kernel" not in g.__code__.co_names:
            continue
        try:
            g(**{n: defaults.get(n, False) for n in g.__code__.co_varnames[:g.__code__.co_argcount]})
        except Tuned:
            pass


def find(module, request):
    """The kernel or factory of that name; else the factory whose prim_func has the name and that takes the arguments."""
    name, args = request["name"], request["args"]
    f = getattr(module, name, None)
    plain = isinstance(f, types.FunctionType)
    if f is not None and not isinstance(f, types.ModuleType) and not (plain and not takes(f.__code__, args)):
        return getattr(f, "jit_impl", f)
    if not tuned:
        call_tuning(module)
    fitting = [(code_of(g).co_argcount, g) for g in list(vars(module).values()) + tuned
               if code_of(g) and takes(code_of(g), args) and defines(code_of(g), name)]
    if not fitting:
        raise LookupError(getattr(module, "load_error", f"the module has no {name}"))
    g = min(fitting, key=lambda row: row[0])[1]
    return getattr(g, "jit_impl", g)


def argument(value):
    """Names of policies and of element types become what the files hand over."""
    if isinstance(value, list):
        return [argument(v) for v in value]
    if not isinstance(value, str):
        return value
    if value.startswith("GemmWarpPolicy."):
        return getattr(tilelang.language.GemmWarpPolicy, value[15:])
    try:
        return tilelang.language.dtype(value)
    except Exception:
        return value


def traced(f, args):
    out = f.get_tir(**args) if hasattr(f, "get_tir") else f(**args)
    return getattr(out, "prim_func", out)


def answer(module, request):
    try:
        f = find(module, request)
        if isinstance(f, tvm.tirx.PrimFunc):
            return {"lines": describe(f)}
        try:
            out = traced(f, {k: argument(v) for k, v in request["args"].items()})
        except Exception:  # element types as plain text
            out = traced(f, request["args"])
        return {"lines": describe(out)}
    except Exception as e:
        return {"error": f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"[:300]}


def main():
    requests = json.load(sys.stdin)
    real, sys.stdout = sys.stdout, io.StringIO()  # what the file prints is not the answer
    with tvm.target.Target({"kind": "cuda", "arch": ARCH}):
        path = os.path.abspath(sys.argv[1])
        module = load(path)
        set_globals(module, path)
        answers = [answer(module, r) for r in requests]
    json.dump(answers, real)


if __name__ == "__main__":
    main()
