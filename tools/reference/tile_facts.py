#!/usr/bin/env python3
"""Facts of kernels that two front ends can be compared by: what the tile IR says (Function), and facts as text (read, write).

A kernel has six lists of lines: params (name, dtype, shape), launch (grid, threads, cluster), buffers (name, dtype, shape,
scope), ops (tile operations in order with the regions of their arguments, transposition, clearing, policy, reduced
dimension), loops (kind, stages, extent), stores (of single elements: buffer and indices). E.g.
  gemm A_shared[0, 0]x[128, 64] B_shared[0, 0]x[64, 128] C_local[0, 0]x[128, 128] tA=0 tB=0 clear=0 policy=0
What is not compared as written, and why:
  offsets, extents   as numbers: every variable has a fixed value (block indices 3, 2, 1; thread 5; the n-th loop
                     variable lo + 7 n % 11; an element of a buffer a hash of its number and indices; an intrinsic a hash
                     of its name), so that equal expressions are equal numbers, whatever their form
  symbols            by order of appearance (9, 10, …): the release renames those that are bound to a second name
  names              without a trailing _1, _2 …: both sides number names that occur twice, in different orders
  negative offsets   of a slice count from the end: here at once, in the release in a later pass
  one instruction    the loops that the release's own code puts around the parts of one tcgen05 copy or transpose are left out: here
                     it is one operation
Two rules explain differences of names alone (`differing`):
  alias              a buffer bound to a second name keeps its first here and has its last in the release
  unnamed            the variables of a tile scheduler without a name have none in the release
"""
import os
import re
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CATEGORIES = ("params", "launch", "buffers", "ops", "loops", "stores")


def dtypes():
    rows = (re.match(r'DTYPE\((\w+),\s*"(\w+)"', line) for line in open(f"{ROOT}/specs/dtype.def"))
    return {m[1]: m[2] for m in rows if m}


DTYPES = dtypes()


def dtype(short):
    m = re.fullmatch(r"(\w+?)(x\d+)?", short)
    return DTYPES[m[1]] + (m[2] or "")


def base(name):
    name = name.lstrip("%")
    return "" if name.isdigit() else re.sub(r"(_\d+)+$", "", name)


def key(text, span):
    return zlib.crc32(text.encode()) % span + 1


class Function:
    """Walks the text of one function; values are numbers, as in release_functions.py."""

    BINARY = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "floordiv": lambda a, b: a // (b or 1), "floormod": lambda a, b: a % (b or 1), "div": lambda a, b: int(a / (b or 1)),
        "min": min, "max": max, "bit_and": lambda a, b: a & b, "bit_or": lambda a, b: a | b, "bit_xor": lambda a, b: a ^ b,
        "shift_left": lambda a, b: a << min(max(b, 0), 60), "shift_right": lambda a, b: a >> min(max(b, 0), 60),
        "eq": lambda a, b: int(a == b), "ne": lambda a, b: int(a != b), "lt": lambda a, b: int(a < b),
        "le": lambda a, b: int(a <= b), "gt": lambda a, b: int(a > b), "ge": lambda a, b: int(a >= b),
        "logical_and": lambda a, b: int(bool(a and b)), "logical_or": lambda a, b: int(bool(a or b)),
    }
    # Names of operations here → in the release, where they differ or depend on an attribute.
    TILE = {"copy": "copy", "copy_cluster": "copy", "tma_gather": "copy", "tma_scatter": "copy", "fill": "fill",
            "tma_copy": "tma_copy", "async_copy": "async_copy", "transpose": "transpose", "im2col": "im2col",
            "reducer_init": "reducer_init"}
    GEMM = {"gemm": "gemm", "gemm_conditional": "gemm", "gemm_scaled": "gemm_blockscaled", "gemm_sparse": "gemm_sp"}
    POLICIES = {"square": 0, "full_row": 1, "full_col": 2}
    SCOPES = {"shared": "shared.dyn", "fragment": "local.fragment", "local": "local", "barrier": "shared.barrier",
              "tmem": "shared.tmem", "global": "global"}

    def __init__(self, lines, files):
        self.values, self.regions = {}, {}
        self.loops = 0
        self.barriers, self.constants, self.symbols = set(), set(), {}
        self.order = {}  # buffers by number: their names differ where a rule says so
        self.lines = {k: [] for k in CATEGORIES}
        self.header(lines[0], files)
        for line in lines[1:]:
            self.op(line.strip())

    def shape(self, text):
        out = []
        for item in re.findall(r'(\?|-?\d+)(?::"([^"]*)")?', text):
            out.append(int(item[0]) if item[0] != "?" else self.meta(item[1]))
        return out

    def meta(self, text):
        names = {n: self.symbol(n) for n in re.findall(r"\$([\w.]+)", text)}
        plain = re.sub(r"\$([\w.]+)", lambda m: m[1].replace(".", "_"), text)
        names = {n.replace(".", "_"): v for n, v in names.items()}
        return int(eval(plain, {"ceildiv": lambda a, b: -(-a // b), "min": min, "max": max, **self.args, **names}))

    def header(self, line, files):
        self.args = {k: int(v) for k, v in re.findall(r"(\w+)=(-?\d+)", re.search(r" args \[([^\]]*)\]", line)[1])}
        self.instance = re.search(r'\{instance="((?:[^"\\]|\\.)*)"', line)[1]
        self.name = re.match(r"func @(\S+)", line)[1]
        self.file = files[re.search(r" loc\(#(\d+)[^)]*\)$", line)[1]]
        params = line[line.index("(") + 1:line.index(") {instance")].split(") symbols (")
        for name, kind in re.findall(r"(%[\w.]+): ((?:global )?\w+(?:\[[^\]]*\])?)", params[0]):
            buffer = re.match(r"global (\w+)\[(.*)\]", kind)
            if buffer:
                self.lines["params"].append(f"{base(name)} {dtype(buffer[1])} {self.shape(buffer[2])}")
                self.regions[name] = (name, None, self.shape(buffer[2]))
                self.order[name] = str(len(self.order))
            else:
                self.values[name] = self.symbol(name)
                self.lines["params"].append(f"{base(name)} {dtype(kind)}")
        for name, _ in re.findall(r"(%[\w.]+): (\w+)", params[1] if len(params) > 1 else ""):
            self.values[name] = self.symbol(name.lstrip("%"))

    def symbol(self, name):
        return self.symbols.setdefault(name, 9 + len(self.symbols))

    def number(self, name):
        return self.values.get(name, 0)

    def region_text(self, name):
        buffer, offsets, extents = self.regions[name]
        return f"{base(buffer)}{offsets or [0] * len(extents)}x{extents}"

    def op(self, line):
        m = re.match(r"(?:((?:%[\w.]+(?:, )?)+) = )?([\w.]+)((?: %[\w.]+,?)*)(.*)$", line)
        if not m or line.startswith(("}", "pre ", "file ")):
            return
        operands = re.findall(r"%[\w.]+", m[3])
        attrs = re.match(r" \{(.*?)\}(?= :| loc| \||$| \{)", m[4])
        attrs = attrs[1] if attrs else ""
        args = re.search(r"\|(.*)\| \{$", m[4])
        args = re.findall(r"(%[\w.]+):", args[1]) if args else []
        self.visit(m[2], m[1], operands, attrs, args, m[4])

    def visit(self, op, result, operands, attrs, args, rest):
        if op == "launch":
            self.launch(operands, attrs, args)
        elif op in ("for", "parallel", "while"):
            self.loop(op, operands, attrs, args)
        elif op in ("alloc", "view", "pointer_view"):
            self.buffer(op, result, attrs, rest)
        elif op == "region":
            n = (len(operands) - 1) // 2
            buffer = self.regions.get(operands[0], (operands[0], None, []))[0]
            self.regions[result] = (buffer, [self.number(o) for o in operands[1:1 + n]], [self.number(o) for o in operands[1 + n:]])
        elif op == "store" and base(operands[0]) != "choice":
            buffer = self.regions[operands[0]][0] if operands[0] in self.regions else operands[0]
            self.lines["stores"].append(f"{base(buffer)}{[self.number(o) for o in operands[1:-1]]}")
        elif not self.tile_operation(op, operands, attrs) and result:
            self.value(op, result, operands, attrs)

    def launch(self, operands, attrs, args):
        for axis, (name, extent) in enumerate(zip(args, operands)):
            self.values[name] = 3 - axis
            self.lines["launch"].append(f"grid {'xyz'[axis]} {self.number(extent)}")
        block = re.search(r"block=\[([^\]]*)\]", attrs)
        threads = self.shape(block[1]) if block else [int(re.search(r"threads=(\d+)", attrs)[1])]
        self.lines["launch"].append("threads " + str(threads + [1] * (3 - len(threads))))
        cluster = re.search(r"cluster=\[([^\]]*)\]", attrs)
        if cluster:
            self.lines["launch"].append("cluster " + str(self.shape(cluster[1])))

    def loop(self, op, operands, attrs, args):
        if op == "while":
            self.lines["loops"].append("while")
        elif op == "for":
            self.loops += 1
            lo, hi = (self.number(o) for o in operands)
            self.values[args[0]] = lo + self.loops * 7 % 11
            kind = re.search(r'kind="(\w+)"', attrs)[1]
            stages = re.search(r"num_stages=(\d+)", attrs)
            kind = {"unroll": "unrolled", "pipelined": f"pipelined({stages[1] if stages else 0})"}.get(kind, kind)
            self.lines["loops"].append(f"{kind} {hi - lo}")
        else:
            for name, extent in zip(args, operands):
                self.loops += 1
                self.values[name] = self.loops * 7 % 11
                self.lines["loops"].append(f"parallel {self.number(extent)}")

    def buffer(self, op, result, attrs, rest):
        kind = re.search(r": (\w+) (\w+)\[([^\]]*)\]", rest)
        shape = self.shape(kind[3]) if kind else []
        self.regions[result] = (result, None, shape)
        if op != "alloc" or base(result) == "choice":  # the memory of another; holds a lazy choice: no buffers of the program
            return
        self.order[result] = str(len(self.order))
        if kind[1] == "barrier":
            self.barriers.add(result)
        given = re.search(r'scope="([^"]*)"', attrs)
        scope = given[1] if given else self.SCOPES[kind[1]]
        if "cluster=1" in attrs:
            scope = "shared.cluster_barrier"
        if "reducer=" in attrs and "replication=" not in attrs:  # the older kind is a fragment with a note
            scope = "local.reducer"
        self.lines["buffers"].append(f"{base(result)} {dtype(kind[2])} {shape} {scope}")

    def tile_operation(self, op, operands, attrs):
        given = dict(re.findall(r'(\w+)="?([^,"]+)', attrs))
        name, notes = self.TILE.get(op), []
        if op in self.GEMM:
            variant = given.get("variant", "mma")
            name = ("" if variant == "mma" else variant + "_") + self.GEMM[op]
            fixed = op == "gemm_scaled" and operands[6] in self.constants
            clear = self.number(operands[6]) if fixed else given.get("clear_accum", "?")
            notes = [f"tA={given['transpose_a']}", f"tB={given['transpose_b']}", f"clear={clear}",
                     f"policy={self.POLICIES[given['policy']]}"]
        elif op == "reduce":
            name, notes = "reduce", [given["op"], f"dim={given['dim']}", f"clear={given['clear']}"]
        elif op == "scan":
            name, notes = "cum" + given["op"], [f"dim={given['dim']}", f"reverse={given['reverse']}"]
        elif op in ("atomic", "atomic_fill"):
            name = "atomic" + given["op"]
        elif op == "reducer_finalize":
            name = "finalize_reducer" + ("_v2" if len(operands) == 2 else "")
        if not name:
            return False
        regions = [self.region_text(o) for o in operands if o in self.regions and o not in self.barriers]
        if op in ("tma_gather", "tma_scatter"):  # the global side is the whole tensor here, a box of the tile's shape there
            side = 0 if op == "tma_gather" else 1
            regions[side] = regions[side].split("x")[0] + "x" + regions[1 - side].split("x")[-1]
        self.lines["ops"].append(" ".join([name] + regions + notes))
        return True

    def value(self, op, result, operands, attrs):
        numbers = [self.number(o) for o in operands]
        if op == "constant":
            value = re.search(r"value=(-?\d+)(?![\d.e])", attrs)
            self.constants.add(result)
            self.values[result] = int(value[1]) if value else 0
        elif op == "thread_index":
            self.values[result] = 5
        elif op in self.BINARY and len(operands) == 2:
            self.values[result] = self.BINARY[op](*numbers)
        elif op == "select":
            self.values[result] = numbers[1] if numbers[0] else numbers[2]
        elif op == "logical_not":
            self.values[result] = int(not numbers[0])
        elif op == "cast":
            self.values[result] = numbers[0]
        elif op == "neg":
            self.values[result] = -numbers[0]
        elif op == "load":
            self.values[result] = key(self.order.get(operands[0], base(operands[0])) + str(numbers[1:]), 11)
        elif op == "call":
            self.values[result] = key(re.search(r'name="(\w+)"', attrs)[1], 5)


def functions(text):
    current, out, files = None, [], {}
    for line in text.splitlines():
        named = re.match(r'file #(\d+) "(.*)"$', line)
        if named:
            files[named[1]] = named[2]
        elif line.startswith("func @"):
            current = [line]
            out.append(current)
        elif current is not None:
            current.append(line)
    return [Function(lines, files) for lines in out]


# ---- facts as text: a line "kernel INSTANCE" or "refused INSTANCE: why" below "file NAME", categories and their lines
# below a kernel, indented by two and four.
def write(path, comment, files):
    with open(path, "w") as out:
        out.write("".join(f"# {line}\n" for line in comment))
        for file, kernels in files.items():
            out.write(f"file {file}\n")
            for instance, lines in kernels.items():
                if isinstance(lines, str):
                    out.write(f"refused {instance}: {lines}\n")
                    continue
                out.write(f"kernel {instance}\n")
                for category in CATEGORIES:
                    if lines[category]:
                        out.write(f"  {category}\n" + "".join(f"    {line}\n" for line in lines[category]))


def read(path):
    files, kernels, lines = {}, {}, {}
    for row in open(path).read().splitlines():
        word, _, rest = row.partition(" ")
        if word == "file":
            kernels = files[rest] = {}
        elif word == "refused":
            instance, _, why = rest.partition(": ")
            kernels[instance] = why
        elif word == "kernel":
            lines = kernels[rest] = {c: [] for c in CATEGORIES}
        elif row.startswith("    "):
            lines[category].append(row[4:])
        elif row.startswith("  "):
            category = row[2:]
    return files


def names_of(ours, theirs):
    """Our buffers' names → theirs where the buffers are the same but for names, and the rule for that; else None."""
    names, rule = {}, "unnamed"
    if len(ours["buffers"]) != len(theirs["buffers"]):
        return None, ""
    for a, b in zip(ours["buffers"], theirs["buffers"]):
        (name, kind), (other, other_kind) = a.split(" ", 1), b.split(" ", 1)
        if kind != other_kind or names.setdefault(name, other) != other:
            return None, ""
        if name != other and other:
            rule = "alias"
    given = [n for n in names.values() if n]
    return (names, rule) if len(set(given)) == len(given) else (None, "")


def differing(ours, theirs):
    """Categories that differ, and the rule that explains them all, if one of the two does."""
    wrong = [c for c in CATEGORIES if ours[c] != theirs[c]]
    names, rule = names_of(ours, theirs) if wrong else (None, "")
    if names is None:
        return wrong, ""
    renamed = {c: [re.sub(r"(?<![\]\w])[A-Za-z_]\w*", lambda m: names.get(m[0], m[0]), line) for line in ours[c]] for c in CATEGORIES}
    return wrong, rule if renamed == theirs else ""
