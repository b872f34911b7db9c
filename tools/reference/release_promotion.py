#!/usr/bin/env python3
"""Asks a TileLang release for the type of every operator's result, for all pairs of element types, vectors and Python's
numbers on either side. Runs where the release is installed:
  $TILELANG_PYTHON tools/reference/release_promotion.py > testdata/reference/promotion.tsv
One row a pair, one column a family of operators that agree on every pair (that they do is checked here); "-": refused.
Compared with the front end by compiler/eval/promotion_test.cc.
"""
import os
import re
import sys
import warnings

warnings.simplefilter("ignore")
import tilelang.language as T
from tvm import tirx

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VECTORS = ["float32x2", "float16x2", "bfloat16x2", "float16x4", "int32x2", "uint32x2", "int8x4", "int32x4", "boolx2",
           "float8_e4m3fnx4"]
NUMBERS = {"1": 1, "-1": -1, "300": 300, "70000": 70000, "3000000000": 3000000000, "1.5": 1.5, "True": True}
FAMILIES = {
    "+": ["x + y", "x - y", "x * y", "T.max(x, y)", "T.min(x, y)", "T.if_then_else(C, x, y)"],
    "/": ["x / y"],
    "//": ["x // y", "x % y", "T.floordiv(x, y)", "T.floormod(x, y)", "T.truncdiv(x, y)", "T.ceildiv(x, y)"],
    "<<": ["x << y", "x >> y", "T.shift_left(x, y)", "T.shift_right(x, y)"],
    "&": ["x & y", "x | y", "x ^ y", "T.bitwise_and(x, y)", "T.bitwise_or(x, y)", "T.bitwise_xor(x, y)"],
    "<": ["x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y"],
    "pow": ["T.pow(x, y)"],
    "Select": ["T.Select(C, x, y)"],
}


def known_types():
    for line in open(f"{ROOT}/specs/dtype.def"):
        m = re.match(r'DTYPE\(\w+,\s*"(\w+)"', line)
        try:
            if m and tirx.Var("x", m[1]) is not None:
                yield m[1]
        except Exception as e:
            print(f"no variable of {m[1]}: {e}", file=sys.stderr)


def answer(text, left, right):
    x, y = (NUMBERS[d] if d in NUMBERS else tirx.Var(n, d) for n, d in (("x", left), ("y", right)))
    try:
        value = eval(text, {"T": T, "x": x, "y": y, "C": tirx.Var("c", "bool")})
        value = value.asobject() if hasattr(value, "asobject") else value
    except Exception:
        return "-"
    return str(value.dtype)


def main():
    operands = list(known_types()) + VECTORS + list(NUMBERS)
    print("# Types of results in TileLang release 0.1.15: left operand, right operand, then a column a family of operators.")
    print("left", "right", *FAMILIES, sep="\t")
    for left in operands:
        for right in operands:
            if left in NUMBERS and right in NUMBERS:
                continue
            row = [left, right]
            for family, texts in FAMILIES.items():
                answers = {answer(text, left, right) for text in texts}
                if len(answers) != 1:
                    sys.exit(f"{family} does not agree on {left}, {right}: {answers}")
                row.append(answers.pop())
            print(*row, sep="\t")


if __name__ == "__main__":
    main()
