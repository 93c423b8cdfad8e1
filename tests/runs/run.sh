#!/bin/sh
# run.sh -- how runs begin and end, repeat, and keep their directories. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

# Set before OpenMP starts, or not at all; other OpenMPs than gcc's wait in their own ways.
waiting_threads_soon_sleep() {
    OMP_DISPLAY_ENV=verbose "$selenite" --version >"$work/openmp" 2>&1
    ! grep -q GOMP_ "$work/openmp" || grep "GOMP_SPINCOUNT = '300'" "$work/openmp"
}

# All files but run.json have the same bytes, whatever the number of threads, and once more.
cat >"$work/short.lua" <<LUA
local sel = require "selenite"
local expansion = sel.load("$PWD/scenarios/sudden_expansion.lua", { H = 32, ramp = 500 })
expansion.stop = { steps = 3000 }
return expansion
LUA

# Of all files but run.json and run.log.
another_run_gives_the_same_bytes() {
    for turn in 1 2; do
        run "$work/short.lua" -o "$work/turn$turn" || return 1
        rm "$work/turn$turn/run.json" "$work/turn$turn/run.log"
    done
    diff -r "$work/turn1" "$work/turn2" && cmp "$work/short.lua" "$work/turn1/run.lua"
}

threads_do_not_matter() {
    for threads in 1 2 3; do
        run "$work/short.lua" -o "$work/t$threads" --threads $threads || return 1
        rm "$work/t$threads/run.json" "$work/t$threads/run.log"
    done
    diff -r "$work/t1" "$work/t2" && diff -r "$work/t1" "$work/t3"
}

# Cells warm by 4e-6 in a step: in f32 they would miss 0.15 % of 1 degree.
cat >"$work/slow_warming.lua" <<'LUA'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { steps = 250001 }
return sel.heat {
  size = { 4, 3 }, diffusivity = 1, dt = 1 / p.steps, initial = { temperature = 20 },
  regions = { { name = "heated", where = shape.face "x-", law = law.flux { 4 } },
              { name = "rest", where = shape.rest, law = law.insulated {} } },
  stop = { steps = p.steps },
  output = { out.reduce { field = "temperature", op = "mean", every = p.steps } },
}
LUA

precision_of() {
    sed -n 's/.*"precision": "\(f[0-9]*\)".*/\1/p' "$1/run.json"
}

heat_of_many_steps_takes_f64_by_itself() {
    run "$work/slow_warming.lua" -o "$work/slow" &&
        grep "in f64: stop names too many steps" "$work/slow/run.log" &&
        test "$(precision_of "$work/slow")" = f64 &&
        tail -n 1 "$work/slow/reduce.csv" | awk -F, '{ exit !($3 > 20.999999 && $3 < 21.000001) }'
}

heat_of_few_steps_stays_in_f32() {
    run "$work/slow_warming.lua" steps=250000 --precision f32 -o "$work/slow_f32" &&
        ! grep "in f64" "$work/slow_f32/run.log" && test "$(precision_of "$work/slow_f32")" = f32 &&
        run "$work/slow_warming.lua" steps=1000 -o "$work/fast" &&
        ! grep "in f64" "$work/fast/run.log" && test "$(precision_of "$work/fast")" = f32
}

f32_of_the_command_line_is_audited() {
    sed 's/diffusivity = 1/precision = "f64", &/' "$work/slow_warming.lua" >"$work/in_f64.lua"
    run "$work/in_f64.lua" steps=2000000 --precision f32 -o "$work/audited" &&
        grep "at step .* a step in f32 misses" "$work/audited/run.log"
}

cat >"$work/stored.lua" <<'LUA'
local sel = require "selenite"
local p = sel.params { storage = "auto" }
return sel.lbm {
  lattice = "D2Q9", size = { 16, 8 }, nu = 0.1, periodic = { "x", "y" }, stop = { steps = 2 },
  storage = p.storage,
}
LUA

# stored_as COLLISION STORAGE [WORD ...]: what run.json says of a run with these words.
stored_as() {
    collision=$1 storage=$2
    shift 2
    run "$work/stored.lua" -o "$work/stored" --force "$@" &&
        grep "\"collision\": \"$collision\", \"storage\": \"$storage\"" "$work/stored/run.json"
}

storage_of_the_command_line_wins() {
    stored_as hybrid moments && stored_as trt populations --storage populations &&
        stored_as trt populations storage=populations &&
        stored_as hybrid moments storage=populations --storage auto &&
        stored_as hybrid moments storage=populations --storage moments
}

cat >"$work/endless.lua" <<'LUA'
local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 64, 64 }, nu = 0.05,
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
  stop = { steps = 1000000000 },
  output = { sel.out.vtk { fields = { "velocity" } } },
}
LUA

interrupt_writes_the_last_state() {
    "$selenite" run "$work/endless.lua" -o "$work/interrupted" --quiet --backend "$backend" &
    for _ in $(seq 100); do # until the run is under way: a device may take seconds to wake
        [ -e "$work/interrupted/run.json" ] && break
        sleep 0.2
    done
    sleep 0.5
    kill -INT $!
    wait $!
    exits 130 sh -c "exit $?" &&
        [ "$(json "$work/interrupted/run.json" stopped_by)" = '"interrupted"' ] &&
        ls "$work"/interrupted/vtk/vtk_*.vti
}

cat >"$work/failing.lua" <<'LUA'
local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 16, 16 }, nu = 0.05, periodic = { "x", "y" }, stop = { steps = 500 },
  output = { sel.out.vtk { fields = { "velocity" } }, sel.out.average { fields = "velocity" } },
  hooks = { { every = 300, call = function(run) if run.step > 0 then error "enough" end end } },
}
LUA

an_error_writes_the_last_state() {
    exits 1 run "$work/failing.lua" -o "$work/failing" &&
        [ "$(json "$work/failing/run.json" stopped_by)" = '"error"' ] &&
        [ -s "$work/failing/vtk/vtk_00000300.vti" ] && [ -s "$work/failing/average.vti" ]
}

cat >"$work/diverging.lua" <<'LUA'
local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 32, 32 }, tau = 0.5001, collision = "bgk",
  regions = {
    { where = sel.shape.faces, law = sel.law.wall {} },
    { name = "lid", where = sel.shape.face "y+", law = sel.law.wall { velocity = { 0.5, 0 } } },
  },
  stop = { steps = 100000 },
  output = { sel.out.vtk { fields = { "velocity" } }, sel.out.force { region = "lid", from_step = 900 } },
}
LUA

# Lua's hooks are not called inside a pattern: the process ends, and run.json tells why.
a_hook_that_never_returns_ends_the_run() {
    cat >"$work/stuck.lua" <<'EOF'
local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 16, 8 }, tau = 0.8, periodic = { "x", "y" }, stop = { steps = 1000 },
  hooks = { { every = 300, call = function(run)
    if run.step > 0 then return ("a"):rep(50):find(("a-"):rep(50) .. "b") end
  end } },
}
EOF
    exits 1 run "$work/stuck.lua" -o "$work/stuck" --script-limit 0.5 2>"$work/err" &&
        grep "stuck.lua:5: a hook took longer than 0.5 s" "$work/err" &&
        [ "$(wc -l <"$work/err")" = 1 ] &&
        [ "$(json "$work/stuck/run.json" stopped_by)" = '"error"' ] &&
        [ "$(json "$work/stuck/run.json" steps)" = 300 ] &&
        grep '"stop_reason": ".*stuck.lua:5: a hook took longer' "$work/stuck/run.json"
}

# Two tests compare two states, between which an oscillation may fit.
cat >"$work/steady.lua" <<'LUA'
local sel = require "selenite"
local p = sel.params { rises = false, every = { 200, "steps between tests", integer = true } }
return sel.lbm {
  lattice = "D2Q9", size = { 8, 16 }, nu = 0.5, collision = "trt", periodic = { "x" }, precision = "f64",
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
  acceleration = function(x, y, t)
    return 1e-5 * (p.rises and sel.ramp(t, 300) or math.sin(2 * math.pi * t / 100)), 0
  end,
  stop = { steps = 3000, steady = 1e-6, every = p.every },
}
LUA
cat >"$work/steady_heat.lua" <<'LUA'
local sel = require "selenite"
local tide = sel.law.fixed { function(x, y, t) return 1 + math.sin(2 * math.pi * t / 20) end }
return sel.heat {
  size = { 8, 8 }, diffusivity = 1, dt = 0.2, precision = "f64",
  regions = { { where = sel.shape.faces, law = tide } },
  stop = { time = 10000, steady = 1e-6, every = 100 },
}
LUA

# A source in a part of the section alone.
cat >"$work/steady_space.lua" <<'LUA'
local sel = require "selenite"
return sel.heat {
  size = { 8, 8, 8 }, diffusivity = 1, dt = 0.1, precision = "f64",
  source = function(x, y, z, t) return y > 5 and z > 5 and math.sin(2 * math.pi * t / 10) or 0 end,
  regions = { { where = sel.shape.faces, law = sel.law.fixed { 1 } } },
  stop = { time = 10000, steady = 1e-6, every = 100 },
}
LUA

steady_between_periods_is_warned_of() {
    exits 0 run "$work/steady.lua" -o "$work/steady" 2>"$work/err" &&
        [ "$(json "$work/steady/run.json" stopped_by)" = '"steady"' ] &&
        grep 'steady.lua:6: acceleration of sel.lbm varies between .* every 200 steps (200)' \
            "$work/steady/run.json" &&
        exits 0 run "$work/steady_heat.lua" -o "$work/steady" --force &&
        [ "$(json "$work/steady/run.json" stopped_by)" = '"steady"' ] &&
        grep 'steady_heat.lua:2: .* of law.fixed varies .* every 100 steps (20)' "$work/steady/run.json" &&
        exits 0 run "$work/steady_space.lua" -o "$work/steady" --force &&
        [ "$(json "$work/steady/run.json" stopped_by)" = '"steady"' ] &&
        grep 'steady_space.lua:4: source of sel.heat varies between' "$work/steady/run.json" &&
        exits 0 run "$work/steady.lua" every=130 -o "$work/steady" --force &&
        [ "$(json "$work/steady/run.json" stopped_by)" = '"steps"' ] &&
        exits 0 run "$work/steady.lua" rises=true -o "$work/steady" --force &&
        [ "$(json "$work/steady/run.json" stopped_by)" = '"steady"' ] &&
        [ "$(json "$work/steady/run.json" warnings)" = '[]' ]
}

# Many would take minutes; what a hook asks for counts as its own time.
results_without_end_are_ended_by_the_limit() {
    cat >"$work/results.lua" <<'LUA'
local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, nu = 0.1, periodic = { "x", "y" }, stop = { steps = 4 },
  hooks = { { every = 2, call = function(run)
    for i = 1, run.step < 4 and 1e5 or 1e8 do run:result("r" .. run.step .. "_" .. i, i) end
  end } },
}
LUA
    exits 1 timeout 120 "$selenite" run "$work/results.lua" -o "$work/results" --quiet --backend "$backend" \
        --script-limit 5 2>"$work/err" &&
        grep -E 'results.lua:5: (a hook took longer than 5 s|.*a run has at most 4194304 results)' "$work/err" &&
        grep -q '"r2_100000": 100000' "$work/results/run.json"
}

divergence_is_reported() {
    exits 3 run "$work/diverging.lua" -o "$work/diverging" >"$work/text" 2>&1 &&
        grep -E 'diverged: at step [0-9]+ .* cell' "$work/text" &&
        [ "$(json "$work/diverging/run.json" stopped_by)" = '"diverged"' ] &&
        ! grep checkpoint "$work/text"
}

# The last state of an iteration that has ended by itself is written, whatever it has reached.
iterations_say_how_they_ended() {
    cat >"$work/iteration.lua" <<'LUA'
local sel = require "selenite"
local p = sel.params { most = { 100, "max_iterations", integer = true },
                       method = { "multigrid", "method" }, noise = { 0, "of neighbours" },
                       start = { 0, "initial.potential" } }
local free = p.noise > 0 -- Jacobi's iteration keeps a checkerboard
return sel.poisson {
  size = { 40, 40 }, method = p.method, max_iterations = p.most, periodic = free and { "x", "y" } or nil,
  rhs = free and function(x, y) return p.noise * math.cos(math.pi * (x + y - 1)) end or 1,
  regions = free and {} or { { where = sel.shape.faces, law = sel.law.fixed { 1 } } },
  initial = { potential = p.start },
  output = { sel.out.balance { every = 1 }, sel.out.vtk { fields = { "potential" } } },
}
LUA
    while read -r status by reason most start noise method; do
        exits "$status" run "$work/iteration.lua" "most=$most" "start=$start" "noise=$noise" \
            "method=$method" -o "$work/iteration_$by" 2>"$work/err" &&
            [ "$(json "$work/iteration_$by/run.json" stopped_by)" = "\"$by\"" ] &&
            json "$work/iteration_$by/run.json" stop_reason | grep "$reason" &&
            [ -s "$work/iteration_$by/balance.png" ] && [ -s "$work/iteration_$by/vtk.pvd" ] || return 1
    done <<'END'
0 converged residual.is 50 0 0 multigrid
3 max_iterations not.1e-08 2 0 0 multigrid
3 stagnated has.not.fallen 5000 0 1 jacobi
3 diverged is.inf 100 1e250 0 multigrid
END
}

# The drag of the vortex street swings by 0.01 root mean square; by 0.2 when sound is let in.
example_reports_flow_not_sound() {
    run examples/09_forces.lua -o "$work/forces" && "${PYTHON:-/usr/bin/python3}" -c '
import json, sys
run = json.load(open(sys.argv[1]))
results = run["results"]
assert 0.005 < results["force.cd_rms"] < 0.03, results
assert abs(results["force.strouhal"] - 0.3) < 0.01, results
assert abs(results["force.force_x_strouhal"] - 0.6) < 0.02, results
assert results["force.cd_min"] < results["force.cd_mean"] < results["force.cd_max"], results
assert len(open(sys.argv[1].replace("run.json", "force.csv")).readlines()) == 1802
assert run["largest_mach"] < 0.3, run
assert all(text.startswith("Reynolds number of a cell") for text in run["warnings"]), run' "$work/forces/run.json"
}

# A wall that is dragged along: its force falls, and the statistics see the rows from from_time on.
statistics_of_forces_begin_at_from_time() {
    cat >"$work/dragged.lua" <<'LUA'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", size = { 1, 8 }, dx = 0.5, dt = 0.1, nu = 0.25, periodic = { "x" },
  regions = {
    { name = "lower", where = shape.face "y-", law = law.wall {} },
    { name = "upper", where = shape.face "y+", law = law.wall { velocity = { 0.1, 0 } } },
  },
  stop = { steps = 40 },
  output = { out.force { region = "upper", every = 2, from_time = 2 } },
}
LUA
    run "$work/dragged.lua" -o "$work/dragged" && "${PYTHON:-/usr/bin/python3}" -c '
import csv, json, sys
rows = [(int(row["step"]), float(row["force_x"])) for row in csv.DictReader(open(sys.argv[1] + "/force.csv"))]
assert [step for step, _ in rows] == list(range(0, 41, 2)), rows
late = [force for step, force in rows if step >= 20]
results = json.load(open(sys.argv[1] + "/run.json"))["results"]
assert (results["force.force_x_min"], results["force.force_x_max"]) == (min(late), max(late)), (results, rows)
assert abs(results["force.force_x_mean"] / (sum(late) / len(late)) - 1) < 1e-12, results' "$work/dragged"
}

directory_with_a_run_is_kept() {
    run scenarios/couette.lua H=4 -o "$work/kept" &&
        exits 2 run scenarios/couette.lua H=4 -o "$work/kept" &&
        run scenarios/couette.lua H=4 -o "$work/kept" --force
}

# --force removes the frames of the run before it, and nothing else.
force_removes_the_old_outputs() {
    run examples/01_lid.lua -o "$work/forced" && : >"$work/forced/notes.txt" &&
        run examples/04_obstacles.lua -o "$work/forced" --force &&
        [ ! -e "$work/forced/vtk/vtk_00000500.vti" ] && [ -e "$work/forced/vtk/vtk_00010000.vti" ] &&
        [ -e "$work/forced/notes.txt" ]
}

cat >"$work/mistaken.lua" <<'LUA'
local sel = require "selenite"
local p = sel.params { fixed = false }
return sel.lbm {
  lattice = "D2Q9", size = { 16, 16 }, nu = 0.05, periodic = { "x", "y" },
  initial = { velocity = function(x) return p.fixed and 0 or 0 / 0, 0 end },
  stop = { steps = 10 },
}
LUA

a_mistaken_function_leaves_no_run() {
    exits 1 run "$work/mistaken.lua" -o "$work/mistaken" &&
        run "$work/mistaken.lua" fixed=true -o "$work/mistaken"
}

# A directory may have come with links in it: they lead nowhere, also with --force.
links_are_not_followed() {
    echo kept >"$work/precious" && mkdir -p "$work/trap" "$work/away" &&
        ln -s ../precious "$work/trap/profile.csv" &&
        exits 4 run scenarios/couette.lua H=4 -o "$work/trap" >"$work/text" 2>&1 &&
        grep 'profile.csv is there, and no run wrote it; move it away' "$work/text" &&
        run scenarios/couette.lua H=4 -o "$work/trap" --force &&
        [ ! -L "$work/trap/profile.csv" ] && [ "$(cat "$work/precious")" = kept ] &&
        mkdir "$work/trap2" && ln -s ../away "$work/trap2/vtk" &&
        exits 4 run examples/01_lid.lua -o "$work/trap2" --force >"$work/text" 2>&1 &&
        grep 'trap2/vtk is a link' "$work/text" && [ -z "$(ls "$work/away")" ]
}

cat >"$work/frames.lua" <<'LUA'
local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 16, 16 }, nu = 0.05, periodic = { "x", "y" },
  stop = { steps = 99999999 }, precision = "f64",
  initial = { velocity = { function(x, y) return 0.01 * math.sin(y) end, 0 } },
  output = { sel.out.vtk { fields = "velocity", every = 1000 }, sel.out.balance {} },
}
LUA

# kill -9 leaves what is true, and nothing that a later run would mix with its own.
killed_runs_leave_nothing_stale() {
    "$selenite" run "$work/frames.lua" -o "$work/killed" --quiet --backend "$backend" &
    for _ in $(seq 100); do
        [ -e "$work/killed/vtk/vtk_00003000.vti" ] && break
        sleep 0.2
    done
    { kill -9 $! && wait $!; } 2>/dev/null
    [ "$(json "$work/killed/run.json" stopped_by)" = '"running"' ] &&
        [ "$(json "$work/killed/run.json" ended)" = null ] &&
        grep -x 'vtk/vtk_00003000.vti' "$work/killed/run.files" &&
        exits 2 run examples/01_lid.lua -o "$work/killed" &&
        run examples/01_lid.lua -o "$work/killed" --force &&
        [ "$(cd "$work/killed/vtk" && echo *.vti '')" = "vtk_00000000.vti vtk_00000500.vti\
 vtk_00001000.vti vtk_00001500.vti vtk_00002000.vti " ] && [ ! -e "$work/killed/run.files" ] &&
        [ ! -e "$work/killed/balance.csv" ]
}

names_and_messages_do_not_steer_terminals() {
    printf 'local sel = require "selenite"\nprint("\\27[2Jprinted")\nerror("\\27[2Jenough")\n' \
        >"$work/steer.lua"
    exits 1 "$selenite" run "$work/steer.lua" -o "$work/steer" >"$work/text" 2>&1 &&
        grep -F '?[2Jprinted' "$work/text" && grep -F '?[2Jenough' "$work/text" &&
        ! grep "$(printf '\033')" "$work/text"
}

# --quiet leaves errors alone: warnings, notes, and what the script and its hooks say are dropped.
quiet_runs_are_silent() {
    cat >"$work/talks.lua" <<'LUA'
local sel = require "selenite"
print("read")
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, nu = 1e-4,
  initial = { velocity = { function(x) print("called"); return ({ 0.2 })[x * 0 + 1] end, 0 } },
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } }, stop = { steps = 10 },
  hooks = { { at = "end", call = function(run) print("ends"); run:log("ended") end } },
}
LUA
    "$selenite" run "$work/talks.lua" -o "$work/talks" --backend "$backend" >"$work/text" 2>&1 &&
        grep -x read "$work/text" && grep -x ends "$work/text" && grep ended "$work/text" &&
        grep '^note: ' "$work/text" && grep '^warning: ' "$work/text" &&
        run "$work/talks.lua" -o "$work/talks" --force >"$work/text" 2>&1 && [ ! -s "$work/text" ]
}

# run and check print both with what they say.
names_of_files_do_not_steer_terminals() {
    escape=$(printf '\033')
    cp examples/01_lid.lua "$work/a${escape}[2J.lua"
    exits 4 "$selenite" check "$work/a${escape}[2J.lua" >"$work/text" 2>&1 &&
        exits 2 run examples/01_lid.lua -o "$work/b${escape}[2J" >>"$work/text" 2>&1 &&
        grep -F "a?[2J.lua: the file's name holds control characters; rename it" "$work/text" &&
        grep -F 'b?[2J: the name holds control characters' "$work/text" &&
        ! grep "$escape" "$work/text" && [ ! -e "$work/b${escape}[2J" ]
}

# out/NAME, and out/NAME/SIMULATION: who ships them with a scenario would say where it writes.
directories_that_nobody_chose_are_no_links() {
    mkdir -p "$work/shipped/out" "$work/shipped/many" "$work/victim" &&
        cp examples/01_lid.lua "$work/shipped/lid.lua" &&
        cp examples/06_several.lua "$work/shipped/several.lua" &&
        ln -s "$work/victim" "$work/shipped/out/lid" || return 1
    name=$("$selenite" check examples/06_several.lua | sed -n '1s/.*sel\.lbm //p')
    [ "$name" ] && ln -s "$work/victim" "$work/shipped/many/$name" || return 1
    for force in '' --force; do
        (cd "$work/shipped" && exits 4 run lid.lua $force) 2>"$work/text" &&
            grep '^out/lid is a link' "$work/text" &&
            exits 4 run "$work/shipped/several.lua" -o "$work/shipped/many" $force 2>"$work/text" &&
            grep "many/$name is a link" "$work/text" && [ ! "$(ls "$work/victim")" ] || return 1
    done
    (cd "$work/shipped" && run lid.lua -o out/lid) && [ -e "$work/victim/run.json" ]
}

# A disk that is full to the last byte: the failure is told, and run.json says so.
disk_without_room() {
    # shellcheck disable=SC2016  # the inner shell expands it
    mkdir "$work/small" && unshare -rm sh -c '
        mount -t tmpfs -o size=100m none "$0/small" || exit 99
        "$1" run "$0/frames.lua" -o "$0/small/run" --quiet --backend "$2" &
        for _ in $(seq 100); do
            [ -e "$0/small/run/vtk/vtk_00003000.vti" ] && break
            sleep 0.2
        done
        cat /dev/zero >"$0/small/filler"
        wait $!
        echo "exit status $?"
        cat "$0/small/run/run.json"' "$work" "$selenite" "$backend" >"$work/text" 2>&1
    grep -x 'exit status 4' "$work/text" &&
        grep 'stop_reason.*No space left on device' "$work/text" &&
        grep -x '  "stopped_by": "error",' "$work/text" && grep -x '  "outputs": .*00003000.*]' \
        "$work/text" && [ "$(tail -n 1 "$work/text")" = '}' ]
}

unwritable_directory() {
    : >"$work/file"
    exits 4 run scenarios/couette.lua H=4 -o "$work/file/below" && exits 4 run \
        scenarios/couette.lua H=4 -o "$work/file"
}

# A limit on file size stands for a full disk: the failure is told, earlier files are whole.
full_disk() {
    (
        ulimit -f 40
        exits 4 run scenarios/cavity2d.lua N=64 Re=100 -o "$work/full"
    ) && ! ls "$work"/full/vtk/*.vti "$work"/full/*.tmp "$work"/full/vtk/*.tmp 2>/dev/null &&
        grep '"outputs": ' "$work/full/run.json" && ! grep '\.vti"\|\.pvd"' "$work/full/run.json"
}

# Every operation of out.reduce and run:reduce shows a NaN of its field in its box, and no other.
a_cell_of_nan_shows_in_all_reductions() {
    exits 3 run tests/runs/not_a_number.lua -o "$work/nan" || return 1
    for op in sum min max mean l2; do
        [ "$(tail -n 2 "$work/nan/$op.csv" | cut -d, -f1,3,4)" = '4,nan,nan
5,nan,nan' ] && ! cut -d, -f5 "$work/nan/$op.csv" | grep nan && ! grep nan "$work/nan/${op}_apart.csv" ||
            return 1
    done
    sed -n 4p "$work/nan/max.csv" | grep -x '2,2,2,1,3' && grep '3: 2 to 2' "$work/nan/run.log" &&
        grep -E '4: -?nan to -?nan' "$work/nan/run.log"
}

# By programs: nothing is said of Lua.
made_functions_keep_what_they_captured() {
    for model in rule law; do
        run tests/runs/made_functions.lua model=$model -o "$work/made_$model" || return 1
        "$selenite" check tests/runs/made_functions.lua model=$model >"$work/text" 2>&1 &&
            ! grep -i 'by lua' "$work/text" || return 1
    done
    [ "$(grep -v '^#' "$work"/made_rule/*.csv | sed 1d | cut -d, -f3 | tr '\n' ' ')" = \
        '0 1 2 3 4 5 105 106 107 108 109 ' ] &&
        [ "$(tail -n 1 "$work"/made_law/*.csv | cut -d, -f3)" = 50 ]
}

# In both precisions, by the loops and by machine code: columns 0 to 63 and rows 0 to 7, centres from 0.25 on.
coordinates_of_a_map_tell_cells_apart_in_rules() {
    whole='"sum.column": 16128, "sum.derived": 110592, "sum.near": 80, "sum.row": 1792'
    mkdir -p "$work/code"
    while read -r fields precision compiler; do
        XDG_CACHE_HOME=$work/code SELENITE_CC=$compiler run tests/runs/map_coordinates.lua "fields=$fields" \
            --precision "$precision" -o "$work/map" --force || return 1
        results=$(json "$work/map/run.json" results)
        [ "$fields" = bytes ] || echo "$results" | grep "$whole" || { echo "$fields $precision: $results"; return 1; }
        [ "$fields" != all ] || echo "$results" | grep '"sum.u": 8192, "sum.w": 6144, .*"min.u": 0.25, "min.w": 0.84375' ||
            { echo "$precision: $results"; return 1; }
        echo "$results" | grep '"sum.near": 80' && echo "$results" | grep '"min.column": 0, "min.derived": 25.25' &&
            echo "$results" | grep '"max.column": 63, "max.derived": 406.75' || return 1
    done <<'END'
all f32 0
all f32 cc
all f64 0
all f64 cc
whole f32 0
whole f64 cc
bytes f32 0
END
}

script_from_standard_input() {
    run - -o "$work/stdin" <examples/01_lid.lua && [ -s "$work/stdin/vtk.pvd" ]
}

list_of_simulations() {
    run examples/06_several.lua -o "$work/several" &&
        [ -s "$work/several/trt/profile.csv" ] && [ -s "$work/several/bgk/profile.csv" ]
}

# What the third cannot do is told before the first runs: a plan, a start, a law at the end, a directory.
lists_are_checked_before_they_run() {
    cat >"$work/list.lua" <<'LUA'
local sel = require "selenite"
local p = sel.params { k = 1.0, last = 9.0, parts = 1.0 }
local function body(name, k, last, parts)
  return sel.heat {
    name = name, size = { 8, 8 }, conductivity = k, stop = { time = 5 }, dt = 0.1,
    initial = { temperature = function(x) return 1 / parts end },
    regions = { { where = sel.shape.faces,
                  law = sel.law.fixed { sel.series { t = { 0, last }, value = { 0, 1 } } } } },
  }
end
return { body("a", 1, 9, 1), body("b", p.k, 9, 1), body("c d", p.k, p.last, p.parts) }
LUA
    rm -rf "$work/list"
    for given in k=-1 parts=0 last=3; do
        exits 1 run "$work/list.lua" "$given" -o "$work/list" 2>"$work/err" && cat "$work/err" &&
            grep "list.lua:.*(simulation 'c d')$" "$work/err" && [ ! -e "$work/list" ] || return 1
        exits 1 "$selenite" check "$work/list.lua" "$given" 2>"$work/said" >/dev/null && cmp "$work/err" "$work/said" ||
            return 1
    done
    grep "simulation 'b'" "$work/err" && return 1
    mkdir -p "$work/list/c d" && touch "$work/list/c d/run.json" &&
        exits 2 run "$work/list.lua" -o "$work/list" 2>"$work/err" &&
        grep "list/c d holds a run already" "$work/err" && [ ! -e "$work/list/a" ] &&
        run "$work/list.lua" -o "$work/list" --force && [ -s "$work/list/c d/run.log" ]
}

# The failing step changes cells in place before the one that cannot be computed.
cat >"$work/fails.lua" <<'LUA'
local sel = require "selenite"
local p = sel.params { how = "" }
local rules = {
  divides = function(c) return c.g // (c.g - 3) end,
  exceeds = function(c) return c.g * c.g * c.g + 1000 end,
}
return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, state = { g = "i32" },
  initial = { g = function(x) return math.floor(x) end }, rule = rules[p.how], stop = { steps = 5 },
  output = { sel.out.reduce { field = "g", op = "sum", every = 1 },
    sel.out.vtk { fields = { "g" }, every = 1 }, sel.out.grid { field = "g", every = 1 } },
}
LUA

# fails_without_a_trace STATUS HOW STEPS WORDS: nothing is written of the step that fails.
fails_without_a_trace() {
    exits "$1" run "$work/fails.lua" how="$2" -o "$work/failed_$2" >"$work/said" 2>&1 || return 1
    cat "$work/said" "$work/failed_$2/reduce.csv"
    grep -F "$4" "$work/said" && [ "$(wc -l <"$work/failed_$2/reduce.csv")" = $((1 + $3)) ] &&
        [ "$(find "$work/failed_$2" -name '*.vti' | wc -l)" = "$3" ] &&
        [ "$(find "$work/failed_$2" -name '*.asc' | wc -l)" = "$3" ]
}

a_failed_step_leaves_no_row() {
    said="attempt to divide by zero"
    [ "$backend" = cpu ] || said="divides a whole number by 0"
    fails_without_a_trace 1 divides 1 "$said" &&
        fails_without_a_trace 3 exceeds 2 "diverged: in step 2"
}

ok "another run gives the same bytes" another_run_gives_the_same_bytes
[ "$backend" = cuda ] || ok "the same bytes for 1, 2 and 3 threads" threads_do_not_matter
# A second run is refused as long as the first goes on, even if that is killed without a word.
two_runs_do_not_share_a_directory() {
    for how in --resume --force; do
        rm -rf "$work/shared"
        "$selenite" run "$work/shared.lua" --threads 1 --quiet --backend "$backend" -o "$work/shared" &
        until [ -e "$work/shared/checkpoint.sel" ]; do sleep 0.05; done
        exits 2 run "$work/shared.lua" steps=20 -o "$work/shared" $how 2>"$work/text"
        refused=$?
        kill -9 $!
        wait $!
        [ $refused = 0 ] && grep 'another run goes on there; wait until it has ended' "$work/text" &&
            run "$work/shared.lua" steps=20 -o "$work/shared" --force || return 1
    done
}
cat >"$work/shared.lua" <<'LUA'
local sel = require "selenite"
local p = sel.params { steps = 100000000 }
return sel.heat {
  size = { 32, 32 }, diffusivity = 0.1, periodic = { "x", "y" }, stop = { steps = p.steps },
  output = { sel.out.balance { every = 1000 }, sel.out.checkpoint { every = 10 } },
}
LUA

ok "heat of many steps takes f64 by itself" heat_of_many_steps_takes_f64_by_itself
ok "heat of few steps stays in f32" heat_of_few_steps_stays_in_f32
ok "f32 asked for by the command line is audited" f32_of_the_command_line_is_audited
ok "the storage of the command line wins" storage_of_the_command_line_wins
ok "two runs do not share a directory" two_runs_do_not_share_a_directory
ok "waiting threads soon sleep" waiting_threads_soon_sleep
ok "an interrupt writes the last state" interrupt_writes_the_last_state
ok "an error writes the last state" an_error_writes_the_last_state
ok "a failed step leaves no row" a_failed_step_leaves_no_row
ok "steady between whole periods is warned of" steady_between_periods_is_warned_of
ok "results without end are ended by the limit" results_without_end_are_ended_by_the_limit
ok "a hook that never returns ends the run" a_hook_that_never_returns_ends_the_run
ok "a diverging run says step, cell and cause" divergence_is_reported
ok "iterations say how they ended" iterations_say_how_they_ended
ok "an example of forces reports flow, not sound" example_reports_flow_not_sound
ok "statistics of forces begin at from_time, and all rows are written" statistics_of_forces_begin_at_from_time
ok "a directory that holds a run is kept" directory_with_a_run_is_kept
ok "--force removes the old outputs" force_removes_the_old_outputs
ok "links are not followed" links_are_not_followed
ok "runs that were killed leave nothing stale" killed_runs_leave_nothing_stale
ok "names and messages do not steer terminals" names_and_messages_do_not_steer_terminals
ok "names of files do not steer terminals" names_of_files_do_not_steer_terminals
ok "quiet runs are silent" quiet_runs_are_silent
ok "directories that nobody chose are no links" directories_that_nobody_chose_are_no_links
if [ "$backend" = cuda ] || ! unshare -rm mount -t tmpfs none /mnt 2>/dev/null; then
    echo "ok a disk without room # SKIP no namespace of its own to mount a small disk in"
else
    ok "a disk without room" disk_without_room
fi
ok "a mistaken function leaves no run" a_mistaken_function_leaves_no_run
ok "an unwritable directory" unwritable_directory
[ "$backend" = cuda ] || ok "a full disk" full_disk # a driver's own files would meet the limit too
ok "a cell of NaN shows in all reductions" a_cell_of_nan_shows_in_all_reductions
ok "made functions keep what they captured" made_functions_keep_what_they_captured
ok "coordinates of a map tell cells apart in rules" coordinates_of_a_map_tell_cells_apart_in_rules
ok "a script from standard input" script_from_standard_input
ok "a list of simulations" list_of_simulations
ok "lists are checked before they run" lists_are_checked_before_they_run
