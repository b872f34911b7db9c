#!/usr/bin/python3
"""Compares the simulator with what an H200 gave (testdata/gpu/gemm): integer inputs bit for bit, normal inputs within the tolerance of
the file, for the PTX of clang. One line a recording: ok or FAIL."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    bad = 0
    folder = "testdata/gpu/gemm"
    for name in sorted(os.listdir(folder)):
        kernel, m, n, k, fill = name[:-len(".txt")].rsplit("-", 4)
        done = subprocess.run(["build/tools/tilesim", "run", f"testdata/kernels/{kernel}.py", "--arg", f"M={m}", "--arg", f"N={n}", "--arg", f"K={k}",
                               "--fill", fill, "--compare", f"{folder}/{name}", "--check", "none"], capture_output=True, text=True, timeout=300)
        tail = (done.stdout + done.stderr).strip().splitlines()
        bad += done.returncode != 0
        print(f"{'ok  ' if done.returncode == 0 else 'FAIL'} {name}  {tail[-1] if tail else ''}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
