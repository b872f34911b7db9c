#!/usr/bin/python3
"""Judges the .py kernels of testdata/mutants and testdata/cases (neutral copies, tools/case_files.py) against their tables (columns of docs/cases.md): every clean one has to be
proved (or, where the table's `limit` says so, to be refused by name), every bug refuted with an accepted class at an accepted
line; `tilec --prove` has to exit 1 and write nothing for a bug. One line a kernel: ok or FAIL."""
import json
import os
import subprocess
import sys
import tempfile

import case_files

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = os.path.join(ROOT, "build", "tools")
# Cases outside of what is judged today: exit 2 for unsupported, 3 for unknown (docs/verifier.md lists why).
LIMITS = {"p03": (2, "unsupported: TMEM"), "p04": (2, "unsupported: data-dependent control"), "p07_slice_past_end_ok": (2, "unsupported: plain shared memory"),
          "c06": (3, "unknown: a loop over tiles"), "c07": (2, "unsupported: T.reduce_max"), "c08": (2, "unsupported: TMEM")}


def judge(path):
    done = subprocess.run([f"{TOOLS}/tilecheck", path, "--obligations", "0-4", "--format", "json"], capture_output=True, text=True, timeout=120)
    try:
        kernels = json.loads(done.stdout)["kernels"]
    except (json.JSONDecodeError, KeyError):
        return done.returncode, []
    return done.returncode, [o for k in kernels for o in k["obligations"] if o["status"] == "refuted"]


def verdict(row, path):
    rc, found = judge(path)
    limit = next((why for start, why in LIMITS.items() if row["file"].startswith(start)), None)
    if limit:
        return rc == limit[0] and not found, f"{limit[1]}, exit {rc}"
    if row["expected"] == "clean":
        return rc == 0 and not found, f"exit {rc}"
    hits = case_files.accepted(row, found)
    first = found[0] if found else {"class": "nothing", "line": 0, "rule": ""}
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        prove = subprocess.run([f"{TOOLS}/tilec", path, "-o", out, "--prove", "--obligations", "0-4"], capture_output=True, text=True, timeout=120)
        empty = not os.path.isdir(out) or not os.listdir(out)
    # What is found in the protocol has to happen in the generated code, too; what lowering refuses has no code.
    replayed = [o["replayed"] for o in found if o["method"].startswith("concrete run")]
    lowered = any(o["method"] != "lowering" for o in found)
    return rc == 1 and bool(hits) and (not lowered or "yes" in replayed) and prove.returncode == 1 and empty, \
        f"{first['class']} [{first['rule']}] at {first['line']}, exit {rc}; tilec --prove exit {prove.returncode}, {'nothing' if empty else 'files'} written; replayed {replayed[0] if replayed else '-'}"


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as copies:
        for folder in ("mutants", "cases"):
            for number, row in enumerate(case_files.rows(f"testdata/{folder}")):
                if row["file"].endswith((".cu", ".ptx")):
                    continue
                path = f"testdata/{folder}/{row['file']}"
                good, what = verdict(row, path if path.endswith(".ir") else case_files.neutral_copy(path, number, copies))
                bad += not good
                print(f"{'ok  ' if good else 'FAIL'} {row['file']:34} {row['expected']:26} {what}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
