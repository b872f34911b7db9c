# Operators on objects of the program's classes call their methods; members of enumerations with numbers or texts are
# those; dataclasses with equal fields are equal. What is chosen by them is in the kernel.
# test: eval
import enum
from dataclasses import dataclass

import tilelang.language as T


class Kind(enum.IntEnum):
    LOW = 1
    HIGH = 4


class Mode(str, enum.Enum):
    FAST = "fast"


class Plain(enum.Enum):
    A = 1


@dataclass
class Config:
    rows: int = 8
    kind: Kind = Kind.LOW


class Size:
    def __init__(self, n):
        self.n = n

    def __add__(self, other):
        return Size(self.n + other.n)

    def __rmul__(self, factor):
        return Size(factor * self.n)

    def __eq__(self, other):
        return self.n == other.n

    def __lt__(self, other):
        return self.n < other.n

    def __len__(self):
        return self.n

    def __contains__(self, n):
        return n < self.n

    def __getitem__(self, i):
        return self.n * i


checks = [
    Kind.HIGH + 1 == 5,
    Kind.LOW < Kind.HIGH,
    Kind["HIGH"] == 4,
    Mode.FAST == "fast",
    Plain.A != 1,
    Plain["A"] is Plain.A,
    Config() == Config(),
    Config(rows=4) != Config(),
    2 * Size(3) + Size(1) == Size(7),
    Size(1) < Size(2),
    Size(2) > Size(1),
    len(Size(3)) == 3,
    2 in Size(3),
    3 not in Size(3),
    not Size(0),
    float("nan") != float("nan"),
    float("-1e-3") < 0,
    int("0x1f", 16) == 31,
    int("-0b101", 0) == -5,
]


# CHECK: func @kernel (%A: global f32[19])
@T.prim_func
def kernel(A: T.Tensor((sum(1 for c in checks if c),), "float32")):
    # CHECK: launch %c4 {threads=32}
    with T.Kernel(Kind.HIGH, threads=32):
        size = Size(5)
        # CHECK: constant {value=10.0} : f32
        A[0] = size[2]
        # CHECK: constant {value=nan} : f32
        A[1] = float("nan")
