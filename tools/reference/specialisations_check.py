#!/usr/bin/env python3
"""The arguments of the instances that we find in TileLang's example files against those that their main() gives:
testdata/reference/frontend/specialisations.tsv, of which every argument that is no tensor has to be among those of an instance
recorded in examples.facts (frontend_check.py compares these with the files themselves). A row may say why it is not.
Prints a line "ok" or "FAIL" a file.
"""
import re
import sys

import tile_facts
from tile_facts import ROOT

FACTS = f"{ROOT}/testdata/reference/frontend"
VALUE = r"-?\b\d+(?:\.\d+)?(?:e-?\d+)?\b|\bTrue\b|\bFalse\b|\bfloat\w+|\bbfloat16|\bu?int\d+"


def values(text):
    """The numbers, truth values and element types of a list of arguments."""
    text = re.sub(r"T\([^)]*\):\w+|\[variant \w+\]", "", text).replace("GemmWarpPolicy.Square", "0")
    return set(re.findall(VALUE, text))


def main():
    instances = {file: [values(i.partition("[")[2]) for i in kernels]
                 for file, kernels in tile_facts.read(f"{FACTS}/examples.facts").items()}
    wrong = {}
    with open(f"{FACTS}/specialisations.tsv", encoding="utf-8") as table:
        for line in [t for t in table if not t.startswith(("#", "file\t"))]:
            file, kernel, given, reason = line.rstrip("\n").split("\t")
            found = any(values(given) <= known for known in instances.get(file, []))
            wrong.setdefault(file, [])
            if not found and not reason:
                wrong[file].append(f"{kernel}({given})")
            if found and reason:
                wrong[file].append(f"{kernel}({given}) is found, and its row says it is not")
    for file, rows in wrong.items():
        print(f"ok   {file}" if not rows else f"FAIL {file}: " + "; ".join(rows))


if __name__ == "__main__":
    sys.exit(main())
