#!/usr/bin/python3
"""Simulates the kernels of testdata/mutants under the adversarial schedule: a bug has to show (hang, trap, sanitizer, or a difference from
the unmutated kernel) within 20 seeds, a clean kernel has to stay clean on all of them. One line a kernel: ok or FAIL."""
import csv
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIM = os.path.join(ROOT, "build", "tools", "tilesim")
ORIGINALS = {"one_": "testdata/kernels/gemm_ws_one_stage.py", "ring_": "testdata/kernels/gemm_ws_ring.py"}
SHAPE = ["--arg", "M=128", "--arg", "N=128", "--arg", "K=512"]  # eight steps
OTHERS = [(f"testdata/kernels/{k}.py", SHAPE) for k in ("gemm_relu_pipelined", "gemm_ws_one_stage", "gemm_ws_ring")] + \
    [("testdata/cases/p01_tma_without_arrive_ok.py", []), ("testdata/cases/p02_ring_parity_on_single_slot_ok.py", []), ("testdata/cases/p05_warp_arrives_on_count_one_ok.py", [])]


def simulate(path, arguments, extra):
    done = subprocess.run([SIM, "run", path, *arguments, "--schedule", "adversarial", "--timeout", "60", *extra], capture_output=True, text=True, timeout=600)
    return done.returncode, (done.stdout.strip().splitlines() or [""])[-1], done.stderr


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for prefix, path in ORIGINALS.items():
            subprocess.run([SIM, "run", path, *SHAPE, "--output", f"C={folder}/{prefix}.npy"], check=True, stdout=subprocess.DEVNULL)
        with open("testdata/mutants/mutants.tsv", encoding="utf-8") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                path, arguments, extra = f"testdata/mutants/{row['file']}", [], ["--runs", "20"]
                prefix = next((p for p in ORIGINALS if row["file"].startswith(p) and path.endswith(".py")), None)
                if prefix:
                    arguments, extra = SHAPE, extra + ["--compare", f"{folder}/{prefix}.npy"]
                rc, said, errors = simulate(path, arguments, extra)
                good = rc == (0 if row["expected"] == "clean" else 1)
                bad += not good
                print(f"{'ok  ' if good else 'FAIL'} {row['file']:34} {row['expected']:26} exit {rc}: {said[-110:]}", flush=True)
                if not good and errors:
                    print("\n".join(errors.splitlines()[:6]))
    for path, arguments in OTHERS:
        rc, said, errors = simulate(path, arguments, ["--runs", "20", "--compare", "interp"])
        bad += rc != 0
        print(f"{'ok  ' if rc == 0 else 'FAIL'} {path:60} exit {rc}: {said[-90:]}" + ("" if rc == 0 else "\n" + errors[:600]), flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
