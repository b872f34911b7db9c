#!/usr/bin/env python3
"""Asks a TileLang release what arithmetic on its constants is worth. Runs where the release is installed:
  $TILELANG_PYTHON tools/reference/release_folding.py > testdata/reference/folding.tsv
One row an expression: type and value, or "-": refused. Compared by compiler/eval/promotion_test.cc.
"""
import warnings

warnings.simplefilter("ignore")
import tilelang.language as T

EXPRESSIONS = """T.int32(-7) // 2
T.int32(-7) % 2
T.int32(7) // -2
T.int32(7) % -2
T.truncdiv(T.int32(-7), 2)
T.truncmod(T.int32(-7), 2)
T.int32(2147483647) + 1
T.int32(-2147483648) - 1
T.int32(65536) * 65536
T.int32(65536) * T.int64(65536)
T.int32(1) << 31
T.int32(1) << 32
T.int64(1) << 40
T.int32(-8) >> 1
T.int32(-1) & 255
T.int32(5) ^ -1
T.int32(2147483647) + T.int64(1)
T.uint32(4294967295) + 1
T.uint32(0) - 1
T.uint8(255) + 1
T.int8(127) + T.int8(1)
T.int8(-128) * T.int8(-1)
T.max(T.int32(-3), 2)
T.min(T.int32(-3), 2)
T.int32(3) < T.int64(4)
T.int32(-1) < T.uint32(1)
T.int32(7) // 0
T.int32(7) % 0
T.ceildiv(T.int32(7), 2)
T.ceildiv(T.int32(-7), 2)
T.cast(T.int32(300), "int8")
T.cast(T.int32(-1), "uint8")
T.cast(T.int64(4294967297), "int32")
T.cast(T.float32(2.7), "int32")
T.cast(T.float32(-2.7), "int32")
T.cast(T.int32(7), "float16")
T.int32(3) * T.float32(0.5)
T.if_then_else(T.int32(1) < 2, 5, 6)
T.float32(7.0) / 2
T.bool(True) + T.bool(True)
-T.int32(5)
~T.int32(5)
T.int64(9223372036854775807) + 1
T.int32(2147483647) * 2 // 2
T.int32(3000000000)
T.uint32(-1)
T.int8(200)
T.abs(T.int32(-5))
T.clamp(T.int32(9), 0, 5)"""


def answer(text):
    try:
        value = eval(text, {"T": T})
        value = value.asobject() if hasattr(value, "asobject") else value
        return str(value.dtype), getattr(value, "value", "")
    except Exception:
        return "-", ""


print("# Arithmetic on constants in TileLang release 0.1.15: expression, type, value where it is folded.")
print("expression", "type", "value", sep="\t")
for expression in EXPRESSIONS.splitlines():
    print(expression, *answer(expression), sep="\t")
