"""validate.py -- run the validation studies and compare them with analytic and published results.

usage: validate.py [CASE ...]        (all cases when none is named; minutes)

Prints one line per quantity (computed, reference, error, gate) and writes the same to
out/validate/results.csv. Exit status 1 when a gate is missed. Needs Python's standard library only.
"""
import csv
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, os.environ.get("BUILD", "build"), "selenite")
OUT = os.path.join(ROOT, "out", "validate")
REFERENCE = os.path.join(ROOT, "scenarios", "reference")


def run(scenario, name, **parameters):
    """Runs scenarios/SCENARIO.lua with the parameters; returns the run's directory."""
    directory = os.path.join(OUT, name)
    arguments = [f"{key}={value}" for key, value in parameters.items()]
    path = os.path.join(ROOT, "scenarios", scenario + ".lua")
    command = [PROGRAM, "run", path, *arguments, "-o", directory, "--force", "--quiet"]
    subprocess.run(command, check=True)
    return directory


def table(path):
    """Columns of a CSV file by name; lines that start with # are comments."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    columns = zip(*rows[1:])
    return {name: [float(v) for v in column] for name, column in zip(rows[0], columns)}


def last_profile(directory, name):
    """The rows of the last step of a profile."""
    profile = table(os.path.join(directory, name + ".csv"))
    keep = [i for i, step in enumerate(profile["step"]) if step == profile["step"][-1]]
    return {column: [values[i] for i in keep] for column, values in profile.items()}


def spline(x, y):
    """The natural cubic spline through the points, as a function."""
    n = len(x)
    h = [x[i + 1] - x[i] for i in range(n - 1)]
    diagonal, right, second = [1.0] * n, [0.0] * n, [0.0] * n
    for i in range(1, n - 1):
        # Forward elimination of the tridiagonal system for the second derivatives.
        rhs = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
        lower = h[i - 1] / diagonal[i - 1] if i > 1 else 0.0
        diagonal[i] = 2 * (h[i - 1] + h[i]) - (lower * h[i - 1] if i > 1 else 0.0)
        right[i] = rhs - lower * right[i - 1]
    for i in range(n - 2, 0, -1):
        second[i] = (right[i] - h[i] * second[i + 1]) / diagonal[i]

    def at(p):
        i = max(0, min(n - 2, next((k for k in range(n - 1) if p <= x[k + 1]), n - 2)))
        a, b = (x[i + 1] - p) / h[i], (p - x[i]) / h[i]
        bend = (a**3 - a) * second[i] + (b**3 - b) * second[i + 1]
        return a * y[i] + b * y[i + 1] + bend * h[i] ** 2 / 6

    return at


def rms(values):
    return math.sqrt(sum(v * v for v in values) / len(values))


class Report:
    """The rows of all cases."""

    def __init__(self):
        self.rows = []

    def gate(self, case, quantity, computed, reference, error, limit):
        """One row; passes when |error| <= limit."""
        passed = abs(error) <= limit
        self.rows.append((case, quantity, computed, reference, error, limit, passed))
        print(f"{case:18} {quantity:34} {computed:12.6g} {reference:>12} "
              f"{error:11.3e} {limit:9.1e}  {'ok' if passed else 'MISSED'}", flush=True)

    def write(self):
        os.makedirs(OUT, exist_ok=True)
        with open(os.path.join(OUT, "results.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["case", "quantity", "computed", "reference", "error", "gate", "pass"])
            writer.writerows(self.rows)


def poiseuille(report):
    """The parabola of a forced channel: exact for TRT 3/16; the slip law for BGK."""
    for tau in (0.6, 0.8, 1.5):
        H, u_max = 32, 0.05
        profile = last_profile(run("poiseuille", f"poiseuille_{tau}", tau=tau), "profile")
        exact = [4 * u_max * y * (H - y) / H**2 for y in profile["y"]]
        error = max(abs(u / e - 1) for u, e in zip(profile["velocity_x"], exact))
        report.gate("poiseuille", f"TRT tau {tau}: largest error", error, "0", error, 1e-9)
        slip = last_profile(run("poiseuille", f"poiseuille_bgk_{tau}", tau=tau, collision="bgk"),
                            "profile")
        unit = 4 * u_max / H**2
        measured = [(u - e) / unit for u, e in zip(slip["velocity_x"], exact)]
        law = (16 * (tau - 0.5) ** 2 - 3) / 12
        worst = max(measured, key=lambda m: abs(m - law))
        report.gate("poiseuille", f"BGK tau {tau}: slip 2 nu / F", worst, f"{law:.6f}",
                    worst - law, 1e-6)


def couette(report):
    """The straight profile between a fixed and a moving wall."""
    for tau in (0.6, 1.5):
        profile = last_profile(run("couette", f"couette_{tau}", tau=tau), "profile")
        error = max(abs(u / (0.1 * y / 32) - 1)
                    for u, y in zip(profile["velocity_x"], profile["y"]))
        report.gate("couette", f"tau {tau}: largest error", error, "0", error, 1e-9)


def sudden_expansion(report):
    """Reattachment and profiles against an independent run of the same size; mass in and out."""
    H, u_max = 64, 0.1
    directory = run("sudden_expansion", "sudden_expansion", H=H)
    length = float(subprocess.run(
        [os.path.join(ROOT, "tools", "reattachment.sh"), os.path.join(directory, "floor.csv"),
         str(H)], check=True, capture_output=True, text=True).stdout)
    report.gate("sudden_expansion", "reattachment / step height", length, "2.10",
                length / 2.10 - 1, 0.02)
    reference = table(os.path.join(REFERENCE, "sudden_expansion_profiles_n64.csv"))
    for name, column in (("just_behind", "u_x1.1"), ("middle", "u_x1.5")):
        profile = last_profile(directory, name)
        error = rms([u / u_max - r for u, r in zip(profile["velocity_x"], reference[column])])
        report.gate("sudden_expansion", f"{column} / u_max: rms difference", error, "0", error,
                    0.01)
    balance = table(os.path.join(directory, "balance.csv"))
    ratio = -balance["rate_outlet"][-1] / balance["rate_inlet"][-1]
    report.gate("sudden_expansion", "mass out / mass in", ratio, "1", ratio - 1, 1e-4)


def cavity_profiles(directory, N, U):
    """u(y) on the vertical and v(x) on the horizontal centre line, as splines with the walls."""
    vertical, horizontal = last_profile(directory, "vertical"), last_profile(directory, "horizontal")
    y = [0.0] + [v / N for v in vertical["y"]] + [1.0]
    u = [0.0] + [v / U for v in vertical["velocity_x"]] + [1.0]
    x = [0.0] + [v / N for v in horizontal["x"]] + [1.0]
    v = [0.0] + [w / U for w in horizontal["velocity_y"]] + [0.0]
    return spline(y, u), spline(x, v)


def differences(profile, places, values):
    return [profile(p) - v for p, v in zip(places, values) if not math.isnan(v)]


def cavity2d(report):
    """Centre-line profiles against Ghia et al. (1982) and Botella and Peyret (1998)."""
    U = 0.1
    ghia_u = table(os.path.join(REFERENCE, "cavity2d_ghia1982_u_vertical.csv"))
    ghia_v = table(os.path.join(REFERENCE, "cavity2d_ghia1982_v_horizontal.csv"))
    botella_u = table(os.path.join(REFERENCE, "cavity2d_botella1998_re1000_vertical.csv"))
    botella_v = table(os.path.join(REFERENCE, "cavity2d_botella1998_re1000_horizontal.csv"))
    botella_rms = {}
    for N, Re in ((65, 1000), (129, 100), (129, 400), (129, 1000)):
        u, v = cavity_profiles(run("cavity2d", f"cavity2d_{N}_{Re}", N=N, Re=Re), N, U)
        if Re == 1000:
            botella_rms[N] = (rms(differences(u, botella_u["y"], botella_u["u"])),
                              rms(differences(v, botella_v["x"], botella_v["v"])))
        if N == 65:
            continue
        du = differences(u, ghia_u["y"], ghia_u[f"u_Re{Re}"])
        dv = differences(v, ghia_v["x"], ghia_v[f"v_Re{Re}"])
        report.gate("cavity2d", f"Re {Re}: rms u - Ghia", rms(du), "0", rms(du), 0.005)
        report.gate("cavity2d", f"Re {Re}: rms v - Ghia", rms(dv), "0", rms(dv), 0.009)
        worst = max(abs(d) for d in du + dv)
        report.gate("cavity2d", f"Re {Re}: largest difference", worst, "0", worst, 0.016)
    for k, component in enumerate("uv"):
        fine, coarse = botella_rms[129][k], botella_rms[65][k]
        report.gate("cavity2d", f"Re 1000: rms {component} - Botella", fine, "0", fine, 0.004)
        order = math.log(coarse / fine) / math.log(129 / 65)
        report.gate("cavity2d", f"order of {component} from 65 to 129", order, ">= 1.8",
                    min(0, order - 1.8), 0)


CASES = [poiseuille, couette, sudden_expansion, cavity2d]


def main():
    names = sys.argv[1:] or [case.__name__ for case in CASES]
    known = {case.__name__: case for case in CASES}
    for name in names:
        if name not in known:
            sys.exit(f"no case '{name}'; there are: {', '.join(known)}")
    report = Report()
    print(f"{'case':18} {'quantity':34} {'computed':>12} {'reference':>12} {'error':>11} "
          f"{'gate':>9}")
    for name in names:
        known[name](report)
    report.write()
    missed = sum(not row[-1] for row in report.rows)
    print(f"{len(report.rows) - missed} passed, {missed} failed")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
