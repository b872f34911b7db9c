#!/usr/bin/python3
"""Our tile IR against the recorded facts of a TileLang release: testdata/reference/frontend/*.facts (tile_facts.py says what
is compared, tools/reference/frontend makes them). Kernels of our own always; those of TileLang's examples where
$TILELANG_EXAMPLES is a checkout. A kernel is equal, or differs as testdata/reference/frontend/differences.tsv says, or was
refused by the release, in which case its row there says why. Prints a line "ok", "FAIL" or "skip" a file.
"""
import importlib.machinery
import importlib.util
import os
import sys

import tile_facts
from tile_facts import ROOT

FACTS = f"{ROOT}/testdata/reference/frontend"


def frontend():
    loader = importlib.machinery.SourceFileLoader("frontend", f"{ROOT}/tools/reference/frontend")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("frontend", loader))
    loader.exec_module(module)
    return module


def known_differences():
    """(file, kernel) → rule; the kernel is an instance's name without its arguments, or * for all of the file."""
    rows = (line.rstrip("\n").split("\t") for line in open(f"{FACTS}/differences.tsv") if not line.startswith("#"))
    return {(file, kernel): rule for file, kernel, rule, _ in rows}


def listed(known, file, instance):
    return known.get((file, instance.split("[")[0])) or known.get((file, "*"), "")


def compare(file, recorded, traced, known):
    """What is wrong with a file's kernels, and how many are equal, differ by a rule, were refused."""
    wrong, count = [], {"equal": 0, "rule": 0, "refused": 0}
    ours = {f.instance: f.lines for f in traced}
    for instance, theirs in recorded.items():
        rule = listed(known, file, instance)
        if isinstance(theirs, str):
            count["refused"] += 1
            if rule != "refused":
                wrong.append(f"{instance}: the release refuses it, and no row says so")
            continue
        if instance not in ours:
            wrong.append(f"{instance}: not traced")
            continue
        different, found = tile_facts.differing(ours[instance], theirs)
        if not different:
            count["equal"] += 1
        elif found and found == rule or rule and rule not in ("alias", "unnamed", "refused"):
            count["rule"] += 1
        else:
            lines = [f"    here {a!r}, there {b!r}" for c in different for a, b in zip(ours[instance][c], theirs[c]) if a != b]
            wrong.append("\n".join([f"{instance}: differs in {', '.join(different)}"] + lines[:4]))
    wrong += [f"{i}: not among the recorded kernels" for i in ours if i not in recorded]
    return wrong, count


def check(facts, folder, known):
    tool, total = frontend(), {"equal": 0, "rule": 0, "refused": 0}
    for file, recorded in tile_facts.read(f"{FACTS}/{facts}").items():
        if not os.path.exists(f"{folder}/{file}"):
            print(f"skip {file}: no checkout of TileLang's examples ($TILELANG_EXAMPLES)")
            continue
        traced, _ = tool.tile_ir(f"{ROOT}/build", f"{ROOT}/testdata/manifests", folder, file)
        wrong, count = compare(file, recorded, traced, known)
        for k in total:
            total[k] += count[k]
        print(f"ok   {file}: {count['equal']} kernels" if not wrong else f"FAIL {file}: " + "\n  ".join(wrong), flush=True)
    print(f"{facts}: {total['equal']} equal, {total['rule']} by a rule, {total['refused']} refused by the release")


def main():
    known = known_differences()
    check("own.facts", f"{ROOT}/testdata", known)
    check("examples.facts", os.environ.get("TILELANG_EXAMPLES", ""), known)


if __name__ == "__main__":
    sys.exit(main())
