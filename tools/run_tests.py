#!/usr/bin/python3
"""Runs every test and counts: unit tests of build/, with --sanitize of build-asan/ too (GoogleTest cases one by one, other programs as one each), then
the acceptance scripts, whose lines begin with "ok", "FAIL" or "skip". Last line: N passed, N failed, N skipped; exit 1 if any failed."""
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPTS = ["tools/check_kernels.py", "tools/check_mutants.py", "tools/check_mutants_sim.py", "tools/check_recordings.py", "tools/check_probes.py",
           "tools/reference/numpy_check.py",
           "tools/reference/frontend_check.py", "tools/reference/checkers_check.py", "tools/reference/specialisations_check.py",
           "tools/run-cases"]
total = {"passed": 0, "failed": 0, "skipped": 0}


def run(command, timeout, env=None):
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, env=env)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return 124, (late.stdout or b"").decode(errors="replace") + f"\ntimed out after {timeout} s\n"


def count(name, rc, out, patterns):
    n = {k: len(re.findall(p, out, re.M)) for k, p in patterns.items()}
    if rc != 0 and n["failed"] == 0:
        n["failed"] = 1
    if rc == 0 and not any(n.values()):
        n["passed"] = 1
    for k in total:
        total[k] += n[k]
    return n


GTEST = {"passed": r"^\[       OK \] \S+ \(", "failed": r"^\[  FAILED  \] \S+ \(\d+ ms\)$|^\[  FAILED  \] \S+, where .*\(\d+ ms\)$", "skipped": r"^\[  SKIPPED \] \S+ \(\d+ ms\)$"}
LINES = {"passed": r"^ok\b", "failed": r"^FAIL\b", "skipped": r"^skip\b"}


def unit_tests(folder):
    _, listing = run(["meson", "introspect", "--tests", folder], 60)
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")
    for test in json.loads(listing):
        start = time.time()
        rc, out = run(test["cmd"], 600, dict(env, **test.get("env", {})))
        n = count(test["name"], rc, out, GTEST)
        print(f"{folder} {test['name']:16} {n['passed']:4} passed {n['failed']:3} failed {n['skipped']:3} skipped  {time.time() - start:5.1f} s", flush=True)
        if n["failed"]:
            print("\n".join(out.splitlines()[-60:]))
        for line in re.findall(r"^\[  SKIPPED \] (\S+) \(", out, re.M):
            print(f"  skipped: {line}")


def script(path):
    start = time.time()
    rc, out = run(["/usr/bin/python3", path], 1200)
    n = count(path, rc, out, LINES)
    print(f"{path:27} {n['passed']:4} passed {n['failed']:3} failed {n['skipped']:3} skipped  {time.time() - start:5.1f} s", flush=True)
    print("\n".join(line for line in out.splitlines() if n["failed"] or not line.startswith("ok")))


def main():
    unit_tests("build")
    if "--sanitize" in sys.argv:
        unit_tests("build-asan")
    for path in SCRIPTS:
        if os.path.exists(os.path.join(ROOT, path)):
            script(path)
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    sys.exit(total["failed"] > 0)


if __name__ == "__main__":
    main()
