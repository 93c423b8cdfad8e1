#!/usr/bin/env python3
"""compare.py -- runs simulations drawn by lot (scenario.lua) in several ways, which must agree.

usage: BUILD=build BACKEND=cpu|cuda compare.py FIRST END SOLVER WAY...

Ways: threads and ranks give the same files as one thread, byte for byte; so do ranks that
have boxes (boxes: all scenarios are in 3 dimensions), rules as machine code (native), and a run that
stops half-way and resumes (resume). On a device, cpu: the processor finds the same cells in the
arithmetic that is exact, and nearly the same numbers in any. Scenarios that the lot makes wrong are
refused in all ways alike. Exit status 1 if a way differs, or if most scenarios are refused.
"""
import filecmp
import fnmatch
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "selenite")
BACKEND = os.environ.get("BACKEND", "cpu")
SCENARIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scenario.lua")
TOLD = ("steps", "time", "stopped_by", "stop_reason", "steady_measure", "mean_change",
        "largest_mach", "mass_drift", "results", "outputs", "warnings")
WAYS = {"threads": [["--threads", "2"]],
        "ranks": [["--ranks", "2", "--threads", "1"], ["--ranks", "3", "--threads", "1"]],
        "boxes": [["SELENITE_ACROSS=2", "--ranks", "2", "--threads", "1"],
                  ["SELENITE_ACROSS=3", "--ranks", "3", "--threads", "2"],
                  ["SELENITE_ACROSS=2", "--ranks", "4", "--threads", "1"]]}


def write_raster(path):
    """Ground with cells without data, in the middle and at two corners."""
    def height(x, y):
        hole = (x - 25) ** 2 + (y - 9) ** 2 < 30 or x + y > 70 or (x < 2 and y > 30)
        return -9999 if hole else 0.03 * x + 0.4 * math.sin(0.4 * x) * math.cos(0.3 * y)
    with open(path, "w") as file:
        file.write("ncols 41\nnrows 37\nxllcorner 0\nyllcorner 0\ncellsize 1\nNODATA_value -9999\n")
        for y in range(37):
            file.write(" ".join(f"{height(x, y):.4f}" for x in range(41)) + "\n")


class Runs:
    """Runs of one scenario, each in a folder of its own below `work`."""

    def __init__(self, work, seed, solver, deep):
        self.work = work
        self.given = [f"seed={seed}", f"solver={solver}", f"raster={work}/ground.asc"]
        self.given += ["deep=true"] if deep else []

    def run(self, name, *more, compiler="0"):
        """Exit status, and the last line of the errors. `more`: arguments, variables of the
        environment. `compiler`: of rules; "0": none."""
        given = dict(word.split("=") for word in more if word.startswith("SELENITE_"))
        more = [word for word in more if not word.startswith("SELENITE_")]
        folder = os.path.join(self.work, name)
        if "--resume" not in more:
            shutil.rmtree(folder, ignore_errors=True)
        backend = [] if "--backend" in more else ["--backend", BACKEND]
        command = [PROGRAM, "run", SCENARIO, *self.given, "--quiet", "-o", folder, *backend, *more]
        try:
            done = subprocess.run(command, capture_output=True, timeout=300, check=False,
                                  env=dict(os.environ, SELENITE_CC=compiler, **given))
        except subprocess.TimeoutExpired:
            return -1, "it takes longer than 300 s"
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return done.returncode, lines[-1] if lines else ""

    def told(self, name):
        with open(os.path.join(self.work, name, "run.json")) as file:
            told = json.load(file)
        told["outputs"] = [f for f in told["outputs"] if not f.endswith(".sel")]
        return told

    def files(self, name, pattern):
        """The files of results, by their names."""
        top = os.path.join(self.work, name)
        found = (os.path.relpath(os.path.join(d, f), top)
                 for d, _, names in os.walk(top) for f in names)
        return sorted(f for f in found if fnmatch.fnmatch(f, pattern) and not f.endswith(".sel")
                      and not f.startswith("run."))

    def path(self, name, file):
        return os.path.join(self.work, name, file)

    def unequal(self, one, other, pattern="*"):
        """The first file that differs, or None."""
        files = self.files(one, pattern)
        if files != self.files(other, pattern):
            return "the names of the files"
        for file in files:
            if not filecmp.cmp(self.path(one, file), self.path(other, file), shallow=False):
                return file
        return None

    def different(self, one, other):
        a, b = self.told(one), self.told(other)
        wrong = [f"{key}: {a.get(key)}, {b.get(key)}" for key in TOLD if a.get(key) != b.get(key)]
        return self.unequal(one, other) or (wrong[0] if wrong else None)

    def apart(self, one, other, part):
        """A table whose numbers differ by more than a part of its largest, or None."""
        for file in self.files(one, "*.csv"):
            a, b = numbers_of(self.path(one, file)), numbers_of(self.path(other, file))
            scale = 1 + max((abs(v) for v in a if math.isfinite(v)), default=0)
            if len(a) != len(b) or not all(abs(u - v) <= part * scale for u, v in zip(a, b)
                                           if math.isfinite(u) or math.isfinite(v)):
                return file
        return None


def numbers_of(path):
    numbers = []
    with open(path) as file:
        for word in ",".join(file.read().splitlines()[1:]).split(","):
            try:
                numbers.append(float(word))
            except ValueError:
                pass  # a name
    return numbers


def compare_options(runs, options, status, said, compiler="0"):
    got, why = runs.run("other", *options, compiler=compiler)
    if (got, why if status else "") != (status, said if status else ""):
        return f"exit status {got} ({why}) instead of {status} ({said})"
    return runs.different("one", "other") if status == 0 else None


def compare_processor(runs):
    told = runs.told("one")
    got, why = runs.run("other", "--backend", "cpu")
    exact = "rule" in told["solver"] or ("aqua" in told["solver"] and told["precision"] == "f32")
    if got not in (0, 3):
        return f"exit status {got}: {why}"
    if exact:
        return runs.unequal("one", "other", "*.vti") or runs.apart("one", "other", 1e-12)
    return runs.apart("one", "other", 1e-3 if told["precision"] == "f32" else 1e-7)


def compare_resumed(runs, seed, ways):
    """Half the run is made in one way, the other half in another."""
    cuts = [[], ["--threads", "3"]]
    cuts += [["--ranks", "2"], ["--ranks", "4"], ["--ranks", "3"]] if "ranks" in ways else []
    cuts += [["SELENITE_ACROSS=2", "--ranks", "4"], ["--ranks", "3"]] if "boxes" in ways else []
    before, after = cuts[seed % len(cuts)], cuts[(2 * seed + seed // len(cuts)) % len(cuts)]
    total = runs.told("one")["steps"]
    if total < 2:
        return None
    half, whole = f"steps={total // 2}", f"steps={total}"
    save = f"save={total // 2}"
    statuses = [runs.run("other", half, save, *before),
                runs.run("other", whole, save, "--resume", *after), runs.run("one", whole, save)]
    if any(status for status, _ in statuses):
        return f"exit statuses {statuses}"
    return runs.different("one", "other")


def differences(runs, ways, solver, seed, status, said):
    for way in ways:
        for options in WAYS.get(way, []):
            yield " ".join(options), compare_options(runs, options, status, said)
    if "native" in ways and solver == "rule":
        yield "as machine code", compare_options(runs, ["--threads", "2"], status, said, "cc")
    if "cpu" in ways and status == 0:
        yield "as on a processor", compare_processor(runs)
    if "resume" in ways and status == 0 and solver != "poisson":
        yield "resumed half-way", compare_resumed(runs, seed, ways)


def main():
    first, end, solver, *ways = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
    refused = failed = 0
    with tempfile.TemporaryDirectory() as work:
        write_raster(os.path.join(work, "ground.asc"))
        for seed in range(first, end):
            runs = Runs(work, seed, solver, "boxes" in ways)
            status, said = runs.run("one", "--threads", "1")
            refused += status == 1
            for way, wrong in differences(runs, ways, solver, seed, status, said):
                if wrong:
                    failed += 1
                    print(f"seed={seed} solver={solver} {way}: {wrong}", flush=True)
    print(f"{end - first} of {solver}, {refused} of them refused, {failed} differences")
    sys.exit(1 if failed or 2 * refused > end - first else 0)


main()
