#!/bin/sh
# run.sh -- check, bench, validate and help from the command line: what they print and refuse. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

check_prints_the_numbers() {
    "$selenite" check scenarios/cavity2d.lua N=32 Re=100 --regions >"$work/text" &&
        grep -E 'tau +0\.596' "$work/text" && grep -E 'lid.*32 sites of y\+' "$work/text" &&
        grep -E 'Reynolds number +100' "$work/text" &&
        grep -E 'cell types +9: 900 inside, 120 on a face, 4 in a corner' "$work/text" &&
        grep -E '^ +30 y\+ lid$' "$work/text" && grep -E '^ +1 x- walls, y\+ lid$' "$work/text"
}

# A ball of radius 16 by its cells: volume 4/3 pi 16^3 = 17157, frontal area 804, wetted area 3217.
check_prints_volumes_and_areas() {
    cat >"$work/ball.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D3Q19", size = { 40, 40, 40 }, tau = 0.8, periodic = { "x", "y", "z" }, stop = { steps = 1 },
  regions = {
    { name = "ball", where = shape.ball { centre = { 20.1, 20.2, 19.7 }, radius = 16 }, law = law.wall {} },
  },
}
END
    "$selenite" check "$work/ball.lua" --regions >"$work/text" &&
        grep -E '^ +volume 171[0-9]{2}, frontal area 80[0-9] x, 80[0-9] y, 80[0-9] z, wetted area 32[0-9]{2}' "$work/text"
}

# Bodies at a periodic face, cells between two walls, and pulsations that an inlet does not follow.
numbers_that_will_be_wrong_are_warned_of() {
    cat >"$work/wrong.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { at = 0, image = 0, gap = 1, period = 500, absorbing = true }
local disc = shape.ball { centre = { p.at, 12 }, radius = 4 }
return {
  sel.lbm { name = "bodies", lattice = "D2Q9", size = { 30, 24 }, nu = 0.1, periodic = { "x" },
    regions = { { name = "walls", where = shape.faces, law = law.wall {} },
      { name = "disc", where = disc + disc:moved { p.image, 0 }, law = law.wall {} },
      { name = "plate", where = shape.box { min = { 10, p.gap }, max = { 15, 4 } }, law = law.wall {} } },
    stop = { steps = 1 },
    output = { out.force { region = "disc" }, out.force { name = "all", region = "walls" },
      out.wall { region = "plate", field = "wall_shear" } } },
  sel.lbm { name = "pulse", lattice = "D2Q9", size = { 60, 4 }, nu = 0.03, initial = { velocity = { 0.05, 0 } },
    regions = { { where = shape.faces, law = law.slip {} },
      { name = "in", where = shape.face "x-", law = law.velocity { function(t)
        return 0.05 + 0.02 * math.sin(2 * math.pi * t / p.period), 0 end, absorbing = p.absorbing } },
      { where = shape.face "x+", law = law.pressure { 0, absorbing = true } } },
    stop = { steps = 100000 } },
}
END
    warned() { "$selenite" check "$work/wrong.lua" "$@" 2>&1 | grep 'warning:' >"$work/told"; cat "$work/told"; }
    warned
    grep -F "'disc' reaches over face x- and is cut there" "$work/told" &&
        grep -F "8 cells of its image stay free; paint shape + shape:moved { 30, 0 }" "$work/told" &&
        grep -F "are 0 in 3 cells, the first {11, 0}" "$work/told" &&
        grep -F "about 9.7 % of its swing enters; leave absorbing out" "$work/told" &&
        [ "$(wc -l <"$work/told")" = 3 ] || return 1
    warned image=30 gap=2 period=20000
    grep -F "out.force: 'disc' lies across the periodic faces x- and x+" "$work/told" &&
        [ "$(wc -l <"$work/told")" = 1 ] || return 1
    warned at=22 gap=2 absorbing=false period=20000
    [ ! -s "$work/told" ]
}

# Fluid enters at four times the largest advisable velocity, and cannot leave.
warnings_are_told_by_check_and_run() {
    cat >"$work/warned.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 16, 8 }, nu = 0.1, stop = { steps = 5 },
  regions = {
    { name = "in", where = shape.face "x-", law = law.velocity { 0.4, 0 } },
    { name = "gone", where = shape.box { min = { 4, 4 }, max = { 6, 6 } }, law = law.wall {} },
    { where = shape.rest + shape.box { min = { 3, 3 }, max = { 7, 7 } }, law = law.wall {} },
  },
}
END
    "$selenite" check "$work/warned.lua" --backend "$backend" >"$work/checked" &&
        "$selenite" run "$work/warned.lua" -o "$work/warned" --backend "$backend" 2>"$work/err" &&
        grep '^warning: ' "$work/err" >"$work/told" || return 1
    grep -v 'at step [0-9]* the flow passes Mach 0.3' "$work/told" >"$work/told_before" &&
        sed -n 's/^  warning/warning/p' "$work/checked" | diff - "$work/told_before" || return 1
    grep -c . "$work/told" | grep -x 4 && grep "warned.lua:7: all 4 cells of 'gone'" "$work/told" &&
        grep "^warning: Mach number 0.693" "$work/told" &&
        grep "warned.lua:6: fluid enters at 'in' and can leave nowhere" "$work/told" &&
        "${PYTHON:-/usr/bin/python3}" -c '
import json, sys
told = ["warning: " + w for w in json.load(open(sys.argv[1]))["warnings"]]
assert told == open(sys.argv[2]).read().splitlines(), told' "$work/warned/run.json" "$work/told"
}

# A hook ends the run before its series does: check tells of it, and refuses nothing.
check_allows_what_a_hook_may_end() {
    cat >"$work/early.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local short = sel.series { t = { 0, 100 }, value = { 0.01, 0.02 } }
local function enough(run) run:stop "enough" end
return sel.lbm {
  lattice = "D2Q9", size = { 16, 8 }, nu = 0.1, stop = { steps = 500 },
  regions = {
    { where = shape.face "x-", law = law.velocity { function(t) return short(t), 0 end } },
    { where = shape.face "x+", law = law.pressure { 0 } }, { where = shape.rest, law = law.wall {} },
  },
  hooks = { { every = HOW, call = enough } },
}
END
    sed 's/every = HOW/every = 50/' "$work/early.lua" >"$work/early_hook.lua"
    sed 's/every = HOW/at = "end"/' "$work/early.lua" >"$work/late_hook.lua"
    "$selenite" check "$work/early_hook.lua" --backend "$backend" >"$work/checked" &&
        grep 'time *at most .* for 500 steps' "$work/checked" &&
        grep 'warning: .*t = 50[01].* if the run gets there' "$work/checked" &&
        run "$work/early_hook.lua" -o "$work/early" &&
        exits 1 "$selenite" check "$work/late_hook.lua" --backend "$backend"
}

# Two fields of 32 x 32 cells in f32 and three bytes a cell: 19 kB; steps 0, 40, 80 and the last, 100.
check_tells_when_outputs_are_written() {
    cat >"$work/outputs.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", size = { 32, 32 }, nu = 0.1, stop = { steps = 100 }, dt = 0.5, dx = 0.5,
  regions = { { where = shape.faces, law = law.wall {} } },
  output = {
    out.vtk { name = "frames", fields = { "velocity", "pressure" }, every = 40 },
    out.vtk { fields = "speed", stride = 2, precision = "f64", compression = "zlib" },
    out.balance { interval = 5 }, out.probe { field = "speed", at = { 8, 8 }, from_step = 90 },
    out.average { fields = "speed", every = 30 },
    out.reduce { name = "once", field = "speed", op = "max", at = "end" },
    out.probe { name = "late", field = "speed", at = { 8, 8 }, interval = 0.7, from_time = 2.1 },
  },
}
END
    "$selenite" check "$work/outputs.lua" --backend "$backend" | sed -n 's/^  output *//p' >"$work/text"
    diff - "$work/text" <<'END' || return 1
frames: out.vtk every 40 steps, 4 times 19.5 kB = 77.8 kB
vtk: out.vtk at the end, 1 time, 2.82 kB before compression
balance: out.balance every 5 time units, 11 times
probe: out.probe every 100 steps, 1 time
average: out.average every 30 steps, 4 times
once: out.reduce at the end, 1 time
late: out.probe every 0.7 time units, 69 times
END
    run "$work/outputs.lua" -o "$work/outputs" &&
        [ "$(find "$work/outputs/frames" -name '*.vti' | wc -l)" = 4 ] &&
        grep -c '^[0-9]' "$work/outputs/balance.csv" | grep -x 11 &&
        grep -c '^[0-9]' "$work/outputs/probe.csv" | grep -x 1 &&
        grep -c '^[0-9]' "$work/outputs/late.csv" | grep -x 69
}

# A table in hours where seconds were meant ends long before the run.
check_tells_the_times_of_series() {
    printf 'h,q\n0,0\n12,2.5\n24,-1\n' >"$work/day.csv"
    cat >"$work/series.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local q = sel.series { "day.csv", column = "q", scale = 0.01, outside = "hold" }
local own = sel.series { t = { 0, 86400 }, value = { 0, 1 } }
return sel.lbm {
  lattice = "D2Q9", size = { 16, 8 }, nu = 0.1, stop = { steps = 864 }, dt = 100, dx = 100,
  regions = {
    { where = shape.face "x-", law = law.velocity { function(t) return q(t) + 0.01 * own(t), 0 end } },
    { where = shape.face "x+", law = law.pressure { 0 } },
    { where = shape.rest, law = law.wall {} },
  },
}
END
    "$selenite" check "$work/series.lua" --backend "$backend" >"$work/text" &&
        grep -E 'series +day.csv, column q: times 0 to 24, hold \(the run: 0 to 86400\), values -0.01 to 0.025$' \
            "$work/text" &&
        grep -E 'series +of .*series.lua:4: times 0 to 86400 \(the run: 0 to 86400\), values 0 to 1$' \
            "$work/text" &&
        sed 's/86400 }/43200 }/' "$work/series.lua" >"$work/short.lua" &&
        exits 1 run "$work/short.lua" -o "$work/short" 2>"$work/err" &&
        grep 't = 86400 is outside its times 0 to 43200;.*(in step 864, the last)$' "$work/err" &&
        ! [ -e "$work/short" ]
}

parameters_are_listed() {
    "$selenite" run scenarios/cavity2d.lua --help >"$work/text" &&
        grep -E '^  N .*default 129' "$work/text"
}

# A default is relative to the script, what is typed to the working directory.
a_file_parameter_is_loaded() {
    mkdir -p "$work/study" "$work/here" &&
        printf '%s\n' 'local sel = require "selenite"' \
            'local p = sel.params { f = { "base.lua", "a scenario", file = true } }' \
            'return sel.load(p.f)' >"$work/study/loads.lua" &&
        ending 'steps = 1' scenarios/couette.lua >"$work/study/base.lua" &&
        ending 'steps = 2' scenarios/couette.lua >"$work/here/typed.lua" || return 1
    (cd "$work/here" && run ../study/loads.lua -o ../default && run ../study/loads.lua f=typed.lua -o ../typed) &&
        [ "$(json "$work/default/run.json" steps)" = 1 ] && [ "$(json "$work/typed/run.json" steps)" = 2 ]
}

# Word processors make one dash of two hyphens.
a_dash_is_no_hyphen() {
    exits 2 run scenarios/couette.lua '–force' 2>"$work/err" &&
        grep -q 'it holds a dash (U+2013): write -' "$work/err"
}

usage_errors() {
    exits 2 "$selenite" && exits 2 "$selenite" rum && exits 2 "$selenite" run &&
        exits 2 run scenarios/couette.lua --thread 2 && exits 2 run scenarios/couette.lua H=abc &&
        exits 2 run scenarios/couette.lua G=3 && exits 2 run scenarios/couette.lua --backend tpu &&
        exits 4 run scenarios/nothing.lua && exits 2 "$selenite" help lmb
}

# An option that a command would not use is a mistake.
options_belong_to_commands() {
    exits 2 "$selenite" check scenarios/couette.lua --force >"$work/text" 2>&1 &&
        grep -x 'check takes no --force; it is an option of run or sweep' "$work/text" &&
        exits 2 run scenarios/couette.lua --laws && exits 2 "$selenite" bench --precision f32 &&
        exits 2 "$selenite" validate --json && exits 2 "$selenite" check -o "$work/none" \
        scenarios/couette.lua && exits 2 run scenarios/couette.lua --only cavity &&
        exits 2 run scenarios/couette.lua --trust --script-limit 5
}

device_is_a_number() {
    for number in x -1 1.5 '' 1024; do
        exits 2 run scenarios/couette.lua --device "$number" >"$work/text" 2>&1 &&
            grep -x -- "--device must be a whole number from 0 to 1023, got '$number'" "$work/text" ||
            return 1
    done
    exits 2 "$selenite" bench --device 0 --backend cpu >"$work/text" 2>&1 &&
        exits 2 "$selenite" check --backend cpu --device 1 scenarios/couette.lua >>"$work/text" 2>&1 &&
        [ "$(grep -c 'device chooses a GPU, and --backend cpu takes none' "$work/text")" = 2 ]
}

words_belong_to_commands() {
    exits 2 "$selenite" help lbm wall >"$work/text" 2>&1 &&
        grep -x "help takes no 'wall' (see selenite help)" "$work/text" &&
        exits 2 "$selenite" info --threads && exits 2 "$selenite" --version --json &&
        exits 2 "$selenite" bench cavity && "$selenite" help lbm >"$work/text"
}

# Help knows all tables of a name, and what a script calls without a table.
help_knows_every_name() {
    "$selenite" help initial >"$work/text" && grep '^  velocity ' "$work/text" &&
        grep '^  depth ' "$work/text" && "$selenite" help params >"$work/text" &&
        grep 'choices (a list of the only values)' "$work/text" &&
        "$selenite" help shape.rest >"$work/text" && exits 2 "$selenite" help sel.pramas 2>"$work/text" &&
        grep "did you mean 'sel.params'" "$work/text"
}

# Where no GPU can be used: cuda is refused before a directory is made, auto takes the CPU; else
# auto takes the GPU.
backend_is_chosen() {
    "$selenite" run scenarios/couette.lua H=4 -o "$work/auto" --backend cpu 2>"$work/text" &&
        grep '^running on cpu: ' "$work/text" &&
        [ "$(json "$work/auto/run.json" backend)" = '"cpu"' ] && "$selenite" info >"$work/text" &&
        grep -E '^sel.lbm +cpu +.' "$work/text" && grep -E '^sel.lbm +cuda +.' "$work/text" || return 1
    if grep -E '^sel.lbm +cuda +(not in this build|(0: )?cannot be used)' "$work/text"; then
        exits 5 "$selenite" run scenarios/couette.lua H=4 -o "$work/cuda" --backend cuda &&
            [ ! -e "$work/cuda" ] && exits 5 "$selenite" bench --backend cuda &&
            exits 5 "$selenite" run scenarios/couette.lua H=4 -o "$work/cuda" --device 0 &&
            [ ! -e "$work/cuda" ] && exits 5 "$selenite" validate --device 1 couette &&
            "$selenite" run scenarios/couette.lua H=4 -o "$work/any" --quiet --backend auto &&
            [ "$(json "$work/any/run.json" backend)" = '"cpu"' ]
    else
        "$selenite" run scenarios/couette.lua H=4 -o "$work/any" --backend auto 2>"$work/text" &&
            grep '^running on cuda: ' "$work/text" &&
            [ "$(json "$work/any/run.json" backend)" = '"cuda"' ] &&
            "$selenite" check scenarios/couette.lua H=4 --device 0 >"$work/text" &&
            grep -E '^ +backend +cuda: ' "$work/text" &&
            exits 5 "$selenite" check scenarios/couette.lua --device 99 2>"$work/text" &&
            grep -E 'there is no device 99: CUDA has [0-9]+ here, with numbers from 0 on' "$work/text"
    fi
}

bench_measures_a_case() {
    case $backend in cuda) side=1024 ;; *) side=512 ;; esac
    "$selenite" bench --backend "$backend" --only "D2Q9 f32 ${side}x*periodic trt" --json >"$work/text" &&
        "${PYTHON:-/usr/bin/python3}" -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert report["backend"] == sys.argv[2] and report["device"] and report["commit"] and report["date"]
(result,) = report["results"]
assert result["size"] == [int(sys.argv[3])] * 2 and result["updates_per_second"] > 1e5, result
copied = result["updates_per_second"] * result["bytes_per_update"] / result["copy_bandwidth"]
assert abs(result["ratio_to_copy"] / copied - 1) < 1e-6, result' "$work/text" "$backend" "$side" &&
        exits 2 "$selenite" bench --backend "$backend" --only nothing
}

bench_measures_heat() {
    "$selenite" bench --backend "$backend" --only 'heat f32 512x512 uniform *' --json >"$work/text" &&
        "${PYTHON:-/usr/bin/python3}" -c '
import json, sys
(result,) = json.load(open(sys.argv[1]))["results"]
assert (result["solver"], result["body"], result["laws"]) == ("heat", "uniform", "fixed"), result
assert result["bytes_per_update"] == 8 and result["updates_per_second"] > 1e6, result' "$work/text"
}

# Each reading of the equilibrium, in a plane under water and in one that is half dry; and storms.
bench_measures_run_off() {
    "$selenite" bench --backend "$backend" --only 'aqua f32 1024x1024 *' --json >"$work/text" &&
        "${PYTHON:-/usr/bin/python3}" -c '
import json, sys
results = json.load(open(sys.argv[1]))["results"]
storms = {(r["equilibrium"], r["rain"]) for r in results if r["water"] == "storm"}
assert storms == {("mean", "in time"), ("mean", "moving")}, storms
cases = {(r["equilibrium"], r["ground"], r["water"]) for r in results if r["rain"] == "none"}
readings = [("mean", "smooth"), ("fill", "smooth"), ("fill", "rough"), ("mindiff", "smooth")]
assert cases == {(*reading, water) for reading in readings for water in ("wet", "half-dry")}, cases
for result in results:
    assert result["solver"] == "aqua" and result["size"] == [1024] * 2, result
    assert result["bytes_per_update"] == 12 and result["updates_per_second"] > 1e5, result
    copied = result["updates_per_second"] * 12 / result["copy_bandwidth"]
    assert abs(result["ratio_to_copy"] / copied - 1) < 1e-6, result' "$work/text"
}

validate_judges_a_case() {
    "$selenite" validate couette --backend "${BACKEND:-cpu}" -o "$work/validate" >"$work/text" &&
        grep -E "^selenite .* on ${BACKEND:-cpu}: ." "$work/text" &&
        grep -x '2 passed, 0 failed' "$work/text" && [ -s "$work/validate/report.html" ] &&
        exits 2 "$selenite" validate cuette
}

validate_reports_as_json() {
    "$selenite" validate couette --backend "${BACKEND:-cpu}" -o "$work/json" >"$work/text" &&
        "${PYTHON:-/usr/bin/python3}" - "$work/json/results.json" <<'END'
import json, re, sys
report = json.load(open(sys.argv[1]))
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", report["date"]), report["date"]
assert report["selenite"] and report["commit"] and report["device"] and report["backend"], report
case, = report["cases"]
assert case["case"] == "couette" and case["seconds"] > 0 and len(case["rows"]) == 2, case
for row in case["rows"]:
    assert row["pass"] is True and abs(row["error"]) <= row["gate"] and row["reference"] == 0, row
END
}

json_report() {
    run scenarios/couette.lua H=4 -o "$work/json" --json >"$work/text" &&
        "${PYTHON:-/usr/bin/python3}" -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert report["stopped_by"] == "steady", report["stopped_by"]
assert report["parameters"]["H"] == 4 and report["size"] == [4, 4]
assert "profile.csv" in report["outputs"]' "$work/text"
}

ok "check prints the resolved numbers" check_prints_the_numbers
ok "check prints volumes and areas of regions" check_prints_volumes_and_areas
ok "numbers that will be wrong are warned of" numbers_that_will_be_wrong_are_warned_of
ok "check and run tell the same warnings" warnings_are_told_by_check_and_run
ok "check allows what a hook may end" check_allows_what_a_hook_may_end
ok "check tells when outputs are written" check_tells_when_outputs_are_written
ok "check tells the times of series" check_tells_the_times_of_series
ok "the parameters are listed" parameters_are_listed
ok "a scenario that a parameter names is loaded" a_file_parameter_is_loaded
ok "usage errors" usage_errors
ok "a dash is no hyphen" a_dash_is_no_hyphen
# A PNG whose text chunk declares 2 GB: nothing of that size is asked for.
a_chunk_that_declares_gigabytes_is_refused() {
    "${PYTHON:-/usr/bin/python3}" - "$work/chunk.png" <<'END'
import struct, sys, zlib
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
header = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0))
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + header + struct.pack(">I", 0x7fffffff) + b"tEXta\0b")
END
    cat >"$work/chunk.lua" <<'LUA'
local sel = require "selenite"
return sel.aqua {
  ground = sel.raster "chunk.png", alpha = 0.2, dt = 1, stop = { steps = 0 },
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
}
LUA
    "${PYTHON:-/usr/bin/python3}" - "$selenite" check "$work/chunk.lua" --backend cpu >"$work/text" 2>&1 <<'END' || return 1
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
assert status == 4 and kilobytes < 500000, (status, kilobytes)
END
    grep 'chunk.png' "$work/text"
}

# The cases run without a sandbox: those of the folder in which one happens to be are not taken.
validate_does_not_run_what_lies_here() {
    mkdir -p "$work/strange/scenarios/validation"
    echo 'io.open("ran", "w"):close() return function() return 0 end' \
        >"$work/strange/scenarios/validation/validate.lua"
    (cd "$work/strange" && "$selenite" validate cuette >"$work/text" 2>&1)
    [ ! -e "$work/strange/ran" ] && grep -q couette "$work/text"
}

# What others have laid into its folders stays; its own files are written anew.
validate_replaces_its_own_files_only() {
    validate() { "$selenite" validate couette --backend "$backend" -o "$work/again" >"$work/text" 2>&1; }
    validate && validate && grep -x '2 passed, 0 failed' "$work/text" || return 1
    echo 'my own' >"$work/mine"
    runs=$(find "$work/again/couette" -name run.json | head -1)
    for file in results.csv results.json report.html.tmp "couette/$(basename "$(dirname "$runs")")/profile.csv"; do
        rm -rf "$work/again"
        mkdir -p "$(dirname "$work/again/$file")"
        cp "$work/mine" "$work/again/$file"
        validate
        grep "${file##*/} is there,* and" "$work/text" && cmp "$work/mine" "$work/again/$file" || return 1
    done
    rm -rf "$work/again"
    mkdir -p "$work/again" "$work/far"
    ln -s "$work/mine" "$work/again/results.csv"
    validate
    cmp "$work/mine" "$work/again/results.csv" && [ -h "$work/again/results.csv" ] &&
        rm "$work/again/results.csv" && rm -rf "$work/again/couette" &&
        ln -s "$work/far" "$work/again/couette" || return 1
    validate
    [ -z "$(ls "$work/far")" ] && grep 'couette is a link' "$work/text"
}

ok "validate judges a case" validate_judges_a_case
ok "validate reports as JSON" validate_reports_as_json
ok "validate replaces its own files only" validate_replaces_its_own_files_only
ok "validate does not run what lies in the working directory" validate_does_not_run_what_lies_here
ok "a chunk of a PNG that declares gigabytes is refused" a_chunk_that_declares_gigabytes_is_refused
ok "run.json is JSON" json_report
ok "options belong to commands" options_belong_to_commands
ok "a device is a number" device_is_a_number
ok "words belong to commands" words_belong_to_commands
ok "help knows every name" help_knows_every_name
ok "the backend is chosen" backend_is_chosen
ok "bench measures a case" bench_measures_a_case
ok "bench measures heat" bench_measures_heat
ok "bench measures run-off" bench_measures_run_off
