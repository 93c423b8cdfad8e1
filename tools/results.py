#!/usr/bin/python3
"""results.py -- write docs/results.md, docs/performance.md and two tables of README.md.

usage: tools/results.py [--check] [--validation FILE.json]

  --validation  first takes over the cases of a report that `selenite validate` has written
  --check       writes nothing; exit status 1 names the files that are out of date

The data is in bench/results: validate.json holds the last report of each validation case,
published.json the figures of others, and every other file the results of `selenite bench`. Values
that a file states for all its rows (date, commit, device) hold for rows that do not state them.
"""
import json
import os
import re
import statistics
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "bench", "results")
NOT_OF_BENCH = ("validate.json", "published.json", "plate-compared.json")
WRITTEN = (
    "<!-- written by `make results` from bench/results: change the data or tools/results.py -->\n"
)


# ---- reading


def read(name):
    with open(os.path.join(RESULTS, name), encoding="utf-8") as file:
        return json.load(file)


def short(device):
    """The device as the tables call it: without memory, CUDA and the like."""
    device = re.sub(r"\(R\)| Processor|, CUDA.*| 80GB HBM3", "", device)
    return re.sub(r", x86-64-(v\d)", r" (\1)", device)


def words(row):
    """The parts of a case that a row names in one string, as `bench` prints it."""
    name = row["case"]
    found = re.fullmatch(r"(D2Q9|D3Q19|aqua) (f32|f64) [\dx]+ (.*)", name)
    if not found:
        return None
    kind, precision, rest = found.groups()
    if kind != "aqua":
        box, collision = rest.split()
        return {
            "solver": "lbm", "lattice": kind, "box": box, "collision": collision,
            "precision": precision,
        }
    water, rest = rest.split(" ", 1)
    if water == "storm":
        return {
            "solver": "aqua", "equilibrium": "mean", "ground": "smooth", "water": water, "rain": rest,
            "precision": precision,
        }
    equilibrium, _, ground = rest.partition(" ")
    return {
        "solver": "aqua", "equilibrium": equilibrium, "ground": ground or "smooth", "water": water,
        "precision": precision,
    }


def case_of(row):
    """The case as the tables call it."""
    solver = row["solver"]
    if solver == "lbm" and "box" in row:
        collision = row["collision"]
        collision = collision.upper() if len(collision) == 3 else collision
        return f"{row['lattice']}, {row['box']}, {collision}"
    if solver == "aqua" and "equilibrium" in row:
        rain = {"in time": "rain(t)", "moving": "rain(x,y,t)"}.get(row.get("rain"), row.get("rain"))
        rain = f", {rain}" if row["water"] == "storm" else ""
        return f"{row['equilibrium']}, {row['ground']} ground, {row['water']}{rain}"
    if solver == "heat" and "body" in row:
        body = f"{row['body']} {'plate' if len(row['size']) == 2 else 'box'}"
        return body + (", single steps" if row["laws"] == "control" else "")
    if solver == "rule" and "rule" in row:
        names = {"gray_scott": "Gray-Scott", "wave": "wave equation", "heat": "conduction"}
        name = names.get(row["rule"], row["rule"])
        return name + (", single steps" if row.get("steps_per_pass") == 1 else "")
    if solver == "poisson" and "rhs" in row:
        return f"{row['rhs']}, {row['method']}"
    name = row["case"].replace("_", "-")
    laws = {
        "uniform fixed": "uniform plate",
        "uniform control": "uniform plate, single steps",
        "uniform closed": "uniform box",
        "varied fixed": "varied plate",
        "wet mean": "mean, smooth ground, wet",
        "gray-scott": "Gray-Scott",
        "noise multigrid": "noise, multigrid",
    }
    if solver == "lbm":
        return f"{row['lattice']}, {name.replace(' trt', ', TRT')}"
    return laws.get(name, name)


def median(value):
    return statistics.median(value) if isinstance(value, list) else value


def halos_of(row):
    """How halos travel, and which axes are divided if it is not the last one alone."""
    along_y = row.get("across", 1)
    if along_y == 1:
        return row.get("halos", "direct")
    return "NCCL, divided along y" if along_y == row["ranks"] else "NCCL, divided along y and z"


def bench_rows():
    """All rows of `bench`, in one form; of a case that a device ran several times the newest."""
    newest = {}
    for name in sorted(os.listdir(RESULTS)):
        if not name.endswith(".json") or name in NOT_OF_BENCH:
            continue
        data = read(name)
        for row in data["results"]:
            if row.get("updates_per_second") is None and row.get("efficiency") is None:
                continue
            row = dict(row)
            if "solver" not in row:
                row["solver"] = "heat" if "body" in row else "rule" if "rule" in row else None
            if row["solver"] is None:
                row.update(words(row) or {})
            if row["solver"] is None:
                continue
            for key in ("updates_per_second", "ratio_to_copy", "seconds", "by_loops"):
                if key in row:
                    row[key] = median(row[key])
            row["name"] = case_of(row)
            row["date"] = row.get("date", data["date"])[:10]
            row["device"] = row.get("device", data.get("device"))
            row["ranks"] = data.get("ranks", 1)
            row["threads"] = data.get("threads") if data["backend"] == "cpu" else None
            if row["ranks"] > 1:
                row["halos"] = halos_of(row)
            key = (
                row["solver"], row["name"], row.get("precision"), tuple(row["size"]),
                row["device"], row.get("scaling"), row.get("halos"),
            )
            if key not in newest or newest[key]["date"] <= row["date"]:
                newest[key] = row
    return list(newest.values())


# ---- writing


def significant(value, digits=3):
    """A number with so many significant digits, and commas from a thousand on."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.{digits}g}".rstrip(".")


def cells(size):
    return " x ".join(str(n) for n in size)


def percent(ratio, digits=0):
    return "" if ratio is None else f"{100 * ratio:.{digits}f} %"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]) + "\n"


def device_of(row):
    threads = f", {row['threads']} threads" if row["threads"] else ""
    return short(row["device"]) + threads


def order(row):
    size = 1
    for n in row["size"]:
        size *= n
    precision = row.get("precision") or ""
    return (row["name"], precision, size, row["threads"] is not None, device_of(row))


def of_one(rows, solver):
    """The rows of a solver on one device, in the order of its table."""
    return sorted((r for r in rows if r["solver"] == solver and r["ranks"] == 1), key=order)


def billions(speed):
    return significant(speed / 1e9)


def speeds(rows, solver):
    """The table of a solver on one device: a line per case."""
    heads = ("case", "precision", "cells", "10^9 updates/s", "share of the copy", "device", "date")
    lines = []
    for row in of_one(rows, solver):
        case = (row["name"], row["precision"], cells(row["size"]))
        speed = (billions(row["updates_per_second"]), percent(row.get("ratio_to_copy")))
        lines.append((*case, *speed, device_of(row), row["date"]))
    return table(heads, lines)


def potentials(rows):
    lines = []
    for row in of_one(rows, "poisson"):
        sweeps = "" if row["size"] == [600, 600] else significant(row["sweeps"], 2)
        time = significant(1e3 * row["seconds"])
        where = (device_of(row), row["date"])
        lines.append((cells(row["size"]), row["cycles"], time, sweeps, *where))
    return table(("cells", "cycles", "ms", "sweeps", "device", "date"), lines)


SOLVERS = {
    "lbm": "flow",
    "aqua": "runoff",
    "heat": "heat",
    "poisson": "Poisson's equation",
    "rule": "rule",
}


def order_of_ranks(row):
    place = list(SOLVERS).index(row["solver"])
    name, precision = order(row)[:2]
    several = (row["ranks"], row["device"], row["scaling"], row["size"], row["halos"])
    return (place, name, precision, *several)


def scalings(rows):
    heads = ("case", "precision", "cells of all", "scaling", "halos", "10^9 updates/s", "efficiency")
    lines = []
    for row in sorted((r for r in rows if r["ranks"] > 1), key=order_of_ranks):
        speed = row.get("updates_per_second")
        name = f"{SOLVERS[row['solver']]}: {row['name']}"
        case = (name, row["precision"], cells(row["size"]), row["scaling"], row["halos"])
        gain = (billions(speed) if speed else "", percent(row["efficiency"], 1))
        lines.append((*case, *gain, short(row["device"]), row["date"]))
    return table((*heads, "device", "date"), lines)


def loops(rows):
    """Rules on a CPU: machine code next to the interpreter."""
    heads = ("rule", "precision", "cells", "compiled: 10^9 updates/s", "interpreted")
    lines = []
    for row in of_one((r for r in rows if r.get("by_loops")), "rule"):
        case = (row["name"], row["precision"], cells(row["size"]))
        both = (billions(row["updates_per_second"]), billions(row["by_loops"]))
        lines.append((*case, *both, device_of(row), row["date"], row["commit"]))
    return table((*heads, "device", "date", "commit"), lines)


def find(rows, ours):
    """The row of `bench` that stands beside a published figure."""
    for row in rows:
        same = all(row.get(key) == ours.get(key) for key in ("solver", "precision", "size", "halos"))
        if same and row["name"] == ours["case"] and row["device"].startswith(ours["device"]):
            return row
    raise LookupError(f"bench/results has no {ours}")


def speed_of(row):
    """A speed, or the time where that is what was measured."""
    seconds = row.get("seconds")
    if seconds is not None:
        return f"{significant(1e3 * seconds)} ms" if seconds < 1 else f"{seconds:g} s"
    updates = row.get("updates_per_second") or row["cells"] / row["seconds_per_step"]
    return f"{billions(updates)} 10^9/s"


def published(rows, names=None):
    lines = []
    for other in read("published.json")["results"]:
        if names and other["name"] not in names:
            continue
        row = find(rows, other["ours"])
        here = (speed_of(row), device_of(row), row["date"])
        lines.append((other["case"], *here, speed_of(other), other["device"], other["source"]))
    return table(("case", "Selenite", "on", "date", "published", "on", "source"), lines)


def microseconds(time):
    return f"{1e6 * time:,.0f}" if time >= 1e-3 else f"{1e6 * time:.4g}"


def plates():
    data = read("plate-compared.json")
    heads = ("nodes", "steps", "GTX 1650: run", "a step, us", "of it diffusion, us")
    ours = ("Selenite: a step, us", "without the test, us", "on", "date")
    lines = []
    for p in data["plates"]:
        other = p["published"]
        times = (other["step"], other["diffusion"], p["step"], p["step_without_test"])
        run = (f"{p['nodes']} x {p['nodes']}", f"{p['steps']:,}", f"{other['seconds']:.3f} s")
        where = (f"{short(data['device'])}, {data['threads']} threads", data["date"])
        lines.append((*run, *map(microseconds, times), *where))
    return table((*heads, *ours), lines)


def files():
    lines = []
    for name in sorted(os.listdir(RESULTS)):
        if name.endswith(".json") and name not in NOT_OF_BENCH:
            data = read(name)
            devices = {row["device"] for row in data["results"] if "device" in row}
            devices = sorted(short(device) for device in devices or {data["device"]})
            commits = {row["commit"] for row in data["results"] if "commit" in row}
            commits |= {data["commit"]} if data.get("commit") else set()
            where = (", ".join(devices), data["date"][:10], ", ".join(sorted(commits)))
            lines.append((f"`{name}`", *where))
    return table(("file", "device", "date", "commit"), lines)


PERFORMANCE = """# Performance

{written}
`selenite bench` measures how many cells the kernels update per second. In the same run it measures
a copy of a large array, since every kernel here is limited by the memory. The *share of the copy*
is the number of bytes that an update must read and write, times the updates per second, over the
bytes per second of the copy. A figure without this share says little about another machine. Shares
above 100 % have two causes: a kernel takes several time steps in one pass over the memory, or the
arrays fit into a cache.

Each figure is the median of seven rounds. `f32` is single precision, `f64` double; v3 and v4 are
levels of x86-64 instructions. The tables hold every case of `bench/results`; where a device has run
a case several times, the newest result stands here.

## Figures of others

Published figures stand beside the nearest case of `bench`. The devices differ, and both are named.

{published}
Van Beuzekom, Bergslid and Miranda give the plate of `scenarios/heat2d_two_materials.lua` as a ratio
to a serial program on the CPU of the same machine: up to 208 on an RTX A4000 with two steps per
launch, and about 185 on 4096 x 4096 nodes.

Garcia (Universidad Nacional de La Plata, 2025) measured the plate of `scenarios/heat2d_plate.lua`
in single precision, with a test of the mean temperature after every step:

{plates}
## Flow

D2Q9 and D3Q19 are the lattices of 9 velocities in 2-D and of 19 in 3-D. `periodic` is a box without
walls; `cavity` is a box with a moving lid. TRT, BGK, regularized, recursive and hybrid are collision
operators; the last is the default. TRT and BGK store populations: an update moves 72 bytes (D2Q9) or
152 (D3Q19) in single precision. The others store moments: 48 or 80 bytes. Double precision moves
twice that. On a GPU a large plane grid of moments is stepped three or five times in one pass, so
that its speed exceeds what 48 bytes for every update would allow.

{lbm}
Cells inside solids cost almost nothing. In a box of 256 x 256 x 256 cells between walls (D3Q19,
single precision, on an H100) the speed per free cell is 18.3 10^9 updates/s without solids, 18.0
with the lower half solid, and 16.9 with 90 % of the cells solid.

## Runoff

An update moves 12 bytes. `mean`, `fill` and `mindiff` are the equilibria of
[physics.md](physics.md#runoff-aqua-graph). The ground is smooth, or rough from cell to cell. Water
covers all cells (`wet`) or half of them (`half-dry`); dry cells count as well. In a `storm` it
rains on wet ground, and the ground absorbs water: `rain(t)` depends on time, `rain(x,y,t)` is a
Gaussian that moves. GPU and CPU compute the same bits, in whole quanta of depth, from the same
file. There is one exception: where rain, infiltration or levels contain `sin`, `exp`, `log` or
powers, whose last digit differs between processors, the rain agrees to one quantum per cell and
step.

{aqua}
## Heat

A uniform body moves 8 bytes per update in single precision, a varied plate 24, and twice that in
double. Uniform plates take up to nine steps per pass. Boxes, bodies whose materials vary, and laws
that hooks may change take single steps.

{heat}
## Poisson's equation

The right-hand side is noise between fixed faces, solved from 0 to a residual of 1e-8 by multigrid
in double precision. A sweep is the time to read and write the grid once, at the speed of the copy.

{poisson}
## Rules

A rule is a Lua function that Selenite compiles. An update moves 8 bytes for `conduction` in single
precision, 2 for `life`, whose cells are bytes, and 16 for the others; twice that in double. On a
GPU a rule of one or two fields takes up to nine steps per pass while its laws do not vary; `single
steps` is the same rule with a law that a hook may change.

{rule}
On a CPU a rule becomes machine code if there is a compiler, and is interpreted otherwise:

{loops}
## Several GPUs

`selenite bench --ranks N --backend cuda` compares N GPUs with one, in turns. Weak scaling gives
each GPU as many cells as the single GPU has; strong scaling divides that number among them. The
efficiency is the speed of all over N times the speed of one. Halos go straight into the memory of
the next GPU (`direct`), or by NCCL; a grid that is also divided along y sends them by NCCL. Runoff
is limited by power, so a GPU slows down as it warms up; both measurements follow the same warm-up,
and an efficiency above 100 % lies within the spread. Without halos four GPUs make 3 % more. Rows without a speed compare whole runs,
set-up excluded: `lid and outputs` and `rain in time and outputs` write a picture, a mean and a
probe every 1,000 steps; the first also writes a `.vti` file of every fourth cell, the second the
balance.

{scaling}
[clusters.md](clusters.md) explains how ranks share a run.

## The files

{files}"""


def performance(rows):
    solvers = {solver: speeds(rows, solver) for solver in ("lbm", "aqua", "heat", "rule")}
    return PERFORMANCE.format(
        written=WRITTEN, published=published(rows), plates=plates(), poisson=potentials(rows),
        loops=loops(rows), scaling=scalings(rows), files=files(), **solvers
    )


RESULTS_PAGE = """# Results

{written}
`make validate` runs scenarios and compares them with exact solutions, with published tables and,
where there is neither, with independent programs. It prints a line per quantity and writes
`out/validate/report.html`, which draws the profiles; `make results` then takes its figures over
into this page. The whole takes some minutes on two cores. On a CPU the cases `cavity3d`,
`cavity3d_fine`, `oscillating_cavity`, `round_body`, `channel_turbulent` and `free_cylinder` run only
if you name them: `selenite validate cavity3d` takes about two hours.

Flows are computed in double precision with the operator that their scenario names, channels, ducts
and pores with TRT, the others with the default, hybrid, unless the text of a case says otherwise;
`cavity3d`, `oscillating_cavity`, `channel_turbulent` and the vortices of `taylor_green3d` are
computed in single precision. `scenarios/reference` holds the reference tables with their sources.
The same scenario gives the same bytes for any number of threads.

A quantity passes if its error is within the tolerance. `>=` marks a quantity that must be at least
as large as the reference.

{overview}
"""


def number(value):
    return value if isinstance(value, str) else f"{value:.5g}"


def small(value):
    return value if isinstance(value, str) else f"{value:.1e}" if value else "0"


def results():
    cases = read("validate.json")["cases"]
    overview, text = [], ""
    for c in cases:
        passed = sum(r["pass"] for r in c["rows"])
        when = (c["date"][:10], c["commit"][:8], short(c["device"]))
        overview.append((f"[{c['case']}](#{c['case']})", len(c["rows"]), passed, *when))
        lines = []
        for r in c["rows"]:
            values = (number(r["computed"]), number(r["reference"]))
            errors = (small(r["error"]), small(r["gate"]))
            lines.append((r["quantity"], *values, *errors, when[0], when[2]))
        text += f"## {c['case']}\n\n" + textwrap.fill(c["about"], 100) + "\n\n"
        heads = ("quantity", "computed", "reference", "error", "tolerance", "date", "device")
        text += table(heads, lines) + "\n"
    heads = ("case", "quantities", "passed", "date", "commit", "device")
    text = RESULTS_PAGE.format(written=WRITTEN, overview=table(heads, overview)) + text
    return text.rstrip("\n") + "\n"


# What README.md shows: case, quantity, its words, its source.
EXACT = (
    ("cavity2d", "Re 1000: rms u - Botella",
     "lid-driven cavity, Re 1000: rms difference of u / U", "Botella and Peyret 1998"),
    ("backward_step", "Re 100: reattachment / step height",
     "backward-facing step, Re 100: reattachment / step height", "Erturk 2008"),
    ("cylinder2d", "cd, u to 0",
     "cylinder, DFG 2D-1: drag coefficient", "Schaefer and Turek 1996"),
    ("aqua", "rain, fill: largest error of depth",
     "runoff, rain on a plane: largest relative error of depth", "exact solution"),
    ("heat_sink", "nine fins: efficiency of the middle one",
     "heat sink, nine fins: efficiency of the middle one", "textbook formula"),
    ("electrodes", "coaxial line: C over the exact one",
     "coaxial line: capacitance over the exact one", "exact solution"),
)
FAST = ("fluidx3d-h200", "fluidx3d-8-h200", "cchan", "rinaldi", "garcia", "smalcuga")


def exact():
    cases = {c["case"]: c for c in read("validate.json")["cases"]}
    lines = []
    for case, quantity, text, source in EXACT:
        c = cases[case]
        row = next(r for r in c["rows"] if r["quantity"] == quantity)
        values = (number(row["computed"]), number(row["reference"]))
        lines.append((text, *values, source, c["date"][:10], short(c["device"])))
    return table(("quantity", "computed", "reference", "source", "date", "device"), lines)


def readme(text, rows):
    """README.md with its two tables written anew, between their marks."""
    for name, lines in (("exact", exact()), ("fast", published(rows, FAST))):
        mark = f"<!-- {name}: written by `make results` -->\n"
        if mark not in text:
            raise LookupError(f"README.md has no line {mark}")
        before, rest = text.split(mark)
        text = before + mark + lines + rest[rest.index("<!-- end -->"):]
    return text


def take_over(path):
    """The cases of a report of `selenite validate` replace older ones in validate.json."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    stored = read("validate.json")
    cases = {c["case"]: c for c in stored["cases"]}
    head = {key: report[key] for key in ("selenite", "commit", "date", "backend", "device")}
    for case in report["cases"]:
        stored_date = cases.get(case["case"], {}).get("date", "")
        if case["rows"] and report["date"] >= stored_date:
            cases[case["case"]] = {**head, **case}
    stored["cases"] = [cases[name] for name in sorted(cases)]
    write_validation(stored)


def write_validation(stored):
    """validate.json with a line per quantity."""
    text = json.dumps(stored["note"])
    lines = []
    for case in stored["cases"]:
        head = json.dumps({key: value for key, value in case.items() if key != "rows"})[:-1]
        rows = ",\n".join("      " + json.dumps(row) for row in case["rows"])
        lines.append(f"    {head}, \"rows\": [\n{rows}\n    ]}}")
    with open(os.path.join(RESULTS, "validate.json"), "w", encoding="utf-8") as file:
        file.write('{\n  "note": ' + text + ',\n  "cases": [\n' + ",\n".join(lines) + "\n  ]\n}\n")


def main(arguments):
    check = "--check" in arguments
    if "--validation" in arguments:
        take_over(arguments[arguments.index("--validation") + 1])
    rows = bench_rows()
    old = {}
    for name in ("README.md", "docs/results.md", "docs/performance.md"):
        path = os.path.join(ROOT, name)
        old[name] = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    new = {
        "README.md": readme(old["README.md"], rows),
        "docs/results.md": results(),
        "docs/performance.md": performance(rows),
    }
    stale = [name for name in new if new[name] != old[name]]
    for name in stale:
        if check:
            print(f"{name} is not what bench/results gives: run make results")
        else:
            with open(os.path.join(ROOT, name), "w", encoding="utf-8") as file:
                file.write(new[name])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
