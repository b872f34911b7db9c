#!/usr/bin/python3
"""Compares the simulator with what an H200 gave for single instructions (testdata/gpu/probe, made by tools/gpu/probe_forms.py): the
same kernels on the same operands. Exact forms must agree in every bit; approximations must stay within the error that the
PTX ISA documents, both the device and the simulator, and for sweeps the difference between the two is printed.
  check_probes.py [-v]     one line a family of forms (-v: a line a form): form | points | equal | largest difference
Each line begins with ok or FAIL; exit 1 if any form fails."""
import os
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools/gpu"))
import probe_forms as probe  # noqa: E402

# Largest error of an approximation in units of the last place: of the simulator against the true value, by function. Sources: PTX ISA 9.7.3
# (relative and absolute bounds turned into units), and the recordings where the ISA speaks of the range reduction alone.
MOST_ULP = {"exp2": 2, "rcp": 1, "rsqrt": 2, "sqrt": 1, "log2": 1, "sin": 1, "cos": 1, "tanh": 1, "pidiv": 2}


def recorded():
    """Form -> digest, in the order of the recording."""
    out = {}
    for line in open(os.path.join(probe.FOLDER, "recorded.tsv")):
        if not line.startswith("#"):
            form, digest = line.rstrip("\n").rsplit("\t", 1)
            out[form] = digest
    return out


def sweep_differences(form, simulated, device_errors):
    """Largest |simulator - device| and errors of both, in units of the last place; points that agree."""
    mine = probe.array.array("b")
    mine.frombytes(probe.sweep_error(form, simulated))
    pairs = list(zip(mine, device_errors))
    return (max(abs(a - b) for a, b in pairs), max(abs(a) for a in mine), max(abs(b) for b in device_errors), sum(a == b for a, b in pairs))


def main():
    verbose = "-v" in sys.argv
    want = recorded()
    forms = [f for f in probe.read_forms() if f["name"] in want]
    folder = tempfile.mkdtemp()
    probe.write_plan(folder, forms)
    results = os.path.join(folder, "results")
    done = subprocess.run([os.path.join(ROOT, "build/tools/probe_run"), folder, results], capture_output=True, text=True)
    names = {f["entry"]: f["name"] for f in forms}
    failed = {names[line.split()[0]]: line.split(" ", 1)[1] for line in done.stdout.splitlines()}
    raw = open(results, "rb").read()
    errors = zlib.decompress(open(os.path.join(probe.FOLDER, "sweeps.bin"), "rb").read())
    families, bad, at, sweep_at = {}, 0, 0, 0
    for form in forms:
        mine = raw[at:at + form["output_bytes"]]
        at += form["output_bytes"]
        name, points, family = form["name"], probe.points(form), form["family"]
        good, note = probe.digest(mine) == want[name], ""
        if "sweep" in form:
            device = probe.array.array("b")
            device.frombytes(errors[sweep_at:sweep_at + probe.SWEEP_POINTS])
            sweep_at += probe.SWEEP_POINTS
            between, own, theirs, same = sweep_differences(form, probe.words(mine), device)
            good = own <= MOST_ULP[form["fn"]] and name not in failed
            note = f"{100 * same / points:.1f} % equal, device and simulator differ by {between} ulp at most; against the true value: simulator {own}, device {theirs}"
        elif family == "approx":
            good, note = name not in failed, "equal" if good else "approximation, see the sweeps"
        good = good and name not in failed
        note = failed.get(name, note or ("equal" if good else "DIFFERENT"))
        bad += not good
        total = families.setdefault(family, [0, 0, 0])
        total[0] += 1
        total[1] += points
        total[2] += good
        if verbose or not good or "sweep" in form:
            print(f"{'ok  ' if good else 'FAIL'} {name} | {points} | {note}")
    missing = [f for f in want if f not in {g["name"] for g in forms}]
    for name in missing:
        print(f"FAIL {name} | recorded, but not in forms.txt")
    print("family | forms | points | good")
    for family, (count, points, good) in families.items():
        print(f"{'ok  ' if good == count else 'FAIL'} {family:9} | {count:4} | {points:8} | {good:4}")
    print(f"{len(forms)} forms of an H200, {bad + len(missing)} differ")
    subprocess.run(["rm", "-rf", folder])
    sys.exit(bad + len(missing) > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
