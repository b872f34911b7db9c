#!/usr/bin/env python3
"""Our verdict on the kernels of testdata/eval/checkers.py against the recorded one of a TileLang release:
testdata/reference/checkers.tsv (release_checkers.py makes it). A kernel is refused by both, warned about by both or accepted by
both, or its row says why not. Prints a line "ok" or "FAIL" a kernel.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = f"{ROOT}/testdata/eval/checkers.py"
TABLE = f"{ROOT}/testdata/reference/checkers.tsv"
HEAD = """# What TileLang release 0.1.15 says of the kernels of testdata/eval/checkers.py when it lowers them for sm_90a, what we say, and
# why the two differ where they do: kernel, release, here, reason."""


def rows():
    return [line.rstrip("\n").split("\t") for line in open(TABLE, encoding="utf-8") if not line.startswith("#")]


def verdicts():
    """Kernel → "refuses RULE", "warns RULE" or "accepts", of the first error, else the first warning."""
    lines, owner, name = open(KERNELS, encoding="utf-8").read().splitlines(), [None], None
    for line in lines:
        m = re.match(r"def (\w+)\(", line)
        name = m[1] if m else name
        owner.append(name)
    out = {name: "accepts" for name in owner if name}
    run = subprocess.run([f"{ROOT}/build/tools/tilec", KERNELS, "--emit", "ir"], capture_output=True, text=True)
    for line, severity, text in re.findall(r"^[^:\n]*:(\d+):\d+: (error|warning): (.*)$", run.stderr, re.M):
        rule = re.search(r"\[(\w+-\d+)\]$", text)
        verdict = ("refuses " if severity == "error" else "warns ") + (rule[1] if rule else "without a rule")
        at = owner[int(line)]
        if out[at] == "accepts" or (severity == "error" and out[at].startswith("warns")):
            out[at] = verdict
    return out


def main():
    ours = verdicts()
    recorded = {name: (release, here, why) for name, release, here, why in rows()}
    for name in ours.keys() | recorded.keys():
        release, here, why = recorded.get(name, ("no row", "no row", ""))
        same = ours.get(name, "").split()[:1] == release.split()[:1]
        fine = ours.get(name) == here and (same or why)
        print(f"ok   {name}" if fine else f"FAIL {name}: the release {release}, here {ours.get(name)}, recorded {here} ({why})")


if __name__ == "__main__":
    sys.exit(main())
