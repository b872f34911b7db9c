#!/usr/bin/python3
"""Simulates the demo kernels against the tile interpreter: every kernel at six shapes under rr, at 136×72×200 under all schedules with
seeds 0–4, for the PTX of clang and, where there is one, of nvcc; ptxas has to accept each where it is found. One line a run."""
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = os.path.join(ROOT, "build", "tools")
os.environ["PATH"] += ":/usr/local/cuda/bin"
KERNELS = ["gemm_relu_pipelined.py", "gemm_ws_one_stage.py", "gemm_ws_ring.py"]
SHAPES = [(1000, 1016, 520), (136, 72, 200), (256, 256, 256), (512, 384, 1024), (128, 128, 64), (264, 520, 72)]
bad = 0


def check(name, command):
    global bad
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    good = done.returncode == 0
    bad += not good
    tail = (done.stdout + done.stderr).strip().splitlines()
    print(f"{'ok  ' if good else 'FAIL'} {name}  {tail[-1] if tail else ''}" + ("" if good else "\n" + "\n".join(tail[-12:])), flush=True)


def check_host(kernel):
    """The host wrapper compiles where the CUDA headers are."""
    file, out = f"testdata/kernels/{kernel}", f"build/check/{kernel}-host"
    if not os.path.exists("/usr/local/cuda/include/cuda.h"):
        print(f"skip {kernel} host wrapper: no CUDA headers")
        return
    subprocess.run([f"{TOOLS}/tilec", file, "--emit", "host", "-o", out], check=True)
    for name in os.listdir(out):
        check(f"{kernel} host wrapper", ["cc", "-std=c11", "-Wall", "-Werror", "-I/usr/local/cuda/include", "-c", f"{out}/{name}", "-o", f"{out}.o"])


def main():
    check("runtime and tilereplay build alone", ["sh", "-c", "mkdir -p build/check && g++ -std=c++20 -I. runtime/*.cc tools/tilereplay.cc -ldl -lpthread -o build/check/tilereplay"])
    nvcc, ptxas = shutil.which("nvcc"), shutil.which("ptxas")
    for kernel in KERNELS:
        check_host(kernel)
        for m, n, k in SHAPES:
            args = ["--arg", f"M={m}", "--arg", f"N={n}", "--arg", f"K={k}"]
            file = f"testdata/kernels/{kernel}"
            for compiler in ("clang", "nvcc"):
                name = f"{kernel} {m}x{n}x{k} {compiler}"
                if compiler == "nvcc" and not nvcc:
                    print(f"skip {name}: no nvcc")
                    continue
                run = [f"{TOOLS}/tilesim", "run", file, *args, "--compare", "interp", "--backend", compiler]
                check(name + " rr", run + ["--schedule", "rr"])
                if (m, n, k) == (136, 72, 200):
                    for schedule in ("rr", "random", "adversarial"):
                        check(f"{name} {schedule} seeds 0-4", run + ["--schedule", schedule, "--runs", "5"])
                if not ptxas:
                    print(f"skip {name} ptxas: not found")
                    continue
                out = f"build/check/{kernel}-{m}-{n}-{k}-{compiler}"
                check(name + " ptxas", [f"{TOOLS}/tilec", file, *args, "--backend", compiler, "--emit", "cubin", "-o", out])
    sys.exit(bad > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
