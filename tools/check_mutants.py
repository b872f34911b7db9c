#!/usr/bin/python3
"""Judges the kernels of testdata/mutants and testdata/cases against their tables (columns of docs/cases.md): every clean one has to be
proved (or, where the table's `limit` says so, to be refused by name), every bug refuted with an accepted class at an accepted
line; `tilec --prove` has to exit 1 and write nothing for a bug. One line a kernel: ok or FAIL."""
import csv
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = os.path.join(ROOT, "build", "tools")
# Cases outside of what is judged today: the answer has to be "unsupported", exit 2 (docs/verifier.md lists why).
LIMITS = {"case_c1.py": "TMEM", "case_c2.py": "TMEM", "case_d1.py": "data-dependent control", "case_d2.py": "data-dependent control",
          "case_g1.py": "plain shared memory"}


def lines_of(text):
    return {int(x) for x in text.split(",") if x.strip().isdigit()}


def judge(path):
    done = subprocess.run([f"{TOOLS}/tilecheck", path, "--obligations", "0-4", "--format", "json"], capture_output=True, text=True, timeout=120)
    try:
        kernels = json.loads(done.stdout)["kernels"]
    except (json.JSONDecodeError, KeyError):
        return done.returncode, []
    return done.returncode, [o for k in kernels for o in k["obligations"] if o["status"] == "refuted"]


def verdict(row, path):
    rc, found = judge(path)
    if row["file"] in LIMITS:
        return rc == 2 and not found, f"unsupported ({LIMITS[row['file']]}), exit {rc}"
    if row["expected"] == "clean":
        return rc == 0 and not found, f"exit {rc}"
    classes = {row["expected"].split(":", 1)[1]} | set(row["also_classes"].split("|"))
    lines = lines_of(row["blamed_lines"]) | lines_of(row["also_lines"])
    hits = [o for o in found if o["class"] in classes and o["line"] in lines]
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
    for folder in ("mutants", "cases"):
        with open(f"{ROOT}/testdata/{folder}/{folder}.tsv", encoding="utf-8") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                good, what = verdict(row, f"testdata/{folder}/{row['file']}")
                bad += not good
                print(f"{'ok  ' if good else 'FAIL'} {row['file']:34} {row['expected']:26} {what}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
