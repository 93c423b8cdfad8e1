#!/bin/sh
# run.sh -- runs that go on from a checkpoint equal runs that never ended. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
python=${PYTHON:-/usr/bin/python3}
here=tests/checkpoint

. tests/checkpoint/initial.sh

# fails STATUS TEXT COMMAND...: succeeds when the command ends with that status and says the text.
fails() {
    expected=$1 text=$2
    shift 2
    "$@" >"$work/said" 2>&1
    got=$?
    cat "$work/said"
    [ "$got" = "$expected" ] && grep -qF -- "$text" "$work/said" && return
    echo "exit status $got, expected $expected and '$text'"
    return 1
}

# same STRAIGHT DIR: all files are the same, but for run.json, run.log and the checkpoints; and all
# that run.json says of the result.
same() {
    diff -r -x run.json -x run.log -x run.lua -x '*.sel' "$1" "$2" && "$python" - "$1" "$2" <<'END'
import json, sys
straight, other = (json.load(open(d + "/run.json")) for d in sys.argv[1:])
for key in ("steps", "time", "stopped_by", "steady_measure", "largest_mach", "mass_drift",
            "controls"):
    assert straight[key] == other[key], (key, straight[key], other[key])
assert list(straight["results"].items()) == list(other["results"].items())
assert straight["outputs"] == [f for f in other["outputs"] if not f.endswith(".sel")]
END
}

# goes_on SCENARIO MIDDLE END ARGUMENTS...: ends at MIDDLE, goes on to END.
goes_on() {
    scenario=$here/$1.lua middle=$2 end=$3
    shift 3
    rm -rf "$work/a" "$work/b"
    run "$scenario" steps="$end" "$@" -o "$work/a" &&
        run "$scenario" steps="$middle" save=100000 "$@" -o "$work/b" &&
        run "$scenario" steps="$end" save=100000 "$@" -o "$work/b" --resume &&
        same "$work/a" "$work/b"
}

# crosses SCENARIO FROM TO ARGUMENTS...: what one backend has written the other goes on with; rows are
# those of a run on one of them but for round-off.
crosses() {
    scenario=$here/$1.lua from=$2 to=$3
    shift 3
    rm -rf "$work/a" "$work/b"
    run "$scenario" steps=200 "$@" -o "$work/a" &&
        "$selenite" run "$scenario" steps=111 save=50 "$@" --quiet -o "$work/b" --backend "$from" &&
        "$selenite" run "$scenario" steps=200 save=50 "$@" --quiet -o "$work/b" --backend "$to" \
            --resume && "$python" - "$work/a" "$work/b" <<'END'
import csv, glob, os, sys
a, b = sys.argv[1:]
for path in glob.glob(a + "/*.csv"):
    one, other = (list(csv.reader(open(d + "/" + os.path.basename(path)))) for d in (a, b))
    assert len(one) == len(other) and one[0] == other[0], path
    largest = max(abs(float(v)) for row in one[1:] for v in row[2:])
    for c in range(len(one[0])):
        x, y = ([float(row[c]) for row in rows[1:]] for rows in (one, other))
        size = max(map(abs, x)) + 1e-5 + 1e-8 * largest  # what is round-off of a mass alone
        size = 1 if one[0][c] == "error" else size
        worst = max(abs(i - j) for i, j in zip(x, y)) / size
        assert worst < 2e-3, (path, one[0][c], worst)
END
}

# wait_for FILE PID: until the file is there, or the process has ended.
wait_for() {
    until [ -e "$1" ] || ! kill -0 "$2" 2>/dev/null; do sleep 0.01; done
}

# Without out.checkpoint, too.
interrupted() {
    signal=$1 scenario=$2 frame=$3 steps=$4
    rm -rf "$work/i"
    [ -d "$work/$scenario" ] || run $here/"$scenario".lua steps="$steps" -o "$work/$scenario" || return 1
    "$selenite" run $here/"$scenario".lua steps="$steps" --quiet --backend "$backend" -o "$work/i" &
    pid=$!
    wait_for "$work/i/vtk/vtk_$frame.vti" $pid
    kill -"$signal" $pid
    wait $pid
    status=$?
    [ $status = 130 ] || { echo "exit status $status"; return 1; }
    [ -e "$work/i/average.vti" ] || { echo "the last state was not written"; return 1; }
    run $here/"$scenario".lua steps="$steps" --resume -o "$work/i" && same "$work/$scenario" "$work/i"
}

# Kills the run again and again, within a third of the time that it takes, until one comes to its
# end.
killed() {
    turns=0 seed=$1
    rm -rf "$work/k" "$work/channel"
    before=$(date +%s%N)
    run $here/channel.lua steps=2000 -o "$work/channel" || return 1
    whole=$(($(date +%s%N) - before))
    while :; do
        turns=$((turns + 1)) how=--force
        [ -e "$work/k/checkpoint.sel" ] || [ -e "$work/k/checkpoint.before.sel" ] && how=--resume
        "$selenite" run $here/channel.lua steps=2000 save=40 --quiet --backend "$backend" \
            -o "$work/k" $how &
        pid=$!
        sleep "$(awk -v s="$seed$turns" -v t="$turns" -v w="$whole" \
            'BEGIN { srand(s); print w / 1e9 * (0.1 + 0.2 * rand()) + t / 50 }')"
        kill -9 $pid 2>/dev/null
        wait $pid
        status=$?
        [ $status = 137 ] || break
    done
    echo "ended with status $status after $turns turns"
    [ "$status" = 0 ] && [ "$turns" -gt 2 ] && same "$work/channel" "$work/k"
}

# A checkpoint at step 200 and the one before it, at step 100, with frames up to step 200.
make_saved() {
    rm -rf "$work/saved"
    run $here/channel.lua steps=200 save=100 -o "$work/saved"
}
again() { run $here/channel.lua steps=200 save=100 -o "$work/saved" "$@"; }

# flip FILE PLACE: changes one bit.
flip() {
    "$python" - "$1" "$2" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[2]) % len(data)] ^= 4
open(sys.argv[1], "wb").write(data)
END
}

flipped_bits_are_found() {
    cp "$work/saved/checkpoint.sel" "$work/good.sel"
    for place in 0 9 13 20 70 79 200 5000 100000 -1 -20 -64; do
        cp "$work/good.sel" "$work/saved/checkpoint.sel"
        flip "$work/saved/checkpoint.sel" $place
        fails 4 "checkpoint.sel: " again --resume || { echo "at $place"; return 1; }
    done
    fails 4 "the one before it is whole: --resume $work/saved/checkpoint.before.sel" again --resume
}

cut_files_are_found() {
    for bytes in 0 1 15 16 40 500 20000; do
        head -c $bytes "$work/good.sel" >"$work/saved/checkpoint.sel"
        fails 4 "checkpoint.sel: is " again --resume || return 1
    done
    { cat "$work/good.sel"; echo more; } >"$work/saved/checkpoint.sel"
    fails 4 "is damaged" again --resume
}

the_one_before_goes_on() {
    run $here/channel.lua steps=200 -o "$work/to200" &&
        again --resume "$work/saved/checkpoint.before.sel" && same "$work/to200" "$work/saved" &&
        grep "goes on from step 100" "$work/saved/run.log"
}

# Ended between the two names: the older one stands in.
no_checkpoint_between_two_names() {
    rm "$work/saved/checkpoint.sel"
    again --resume && same "$work/to200" "$work/saved"
}

nothing_to_go_on_from() {
    fails 4 "$work/none/checkpoint.sel: there is no checkpoint" \
        run $here/channel.lua -o "$work/none" --resume && [ ! -e "$work/none" ]
}

other_grids_are_refused() {
    fails 1 "size is 48 x 16 in the checkpoint and 50 x 16 in the scenario" again --resume nx=50 &&
        fails 1 "precision is f32 in the checkpoint and f64 in the scenario" again --resume \
            precision=f64 &&
        fails 1 "lattice is D2Q9 in the checkpoint and D2Q9 by moments in the scenario" again --resume \
            collision=recursive &&
        fails 1 "solver is sel.lbm in the checkpoint and sel.aqua in the scenario" \
            run $here/storm.lua -o "$work/saved" --resume && same "$work/to200" "$work/saved"
}

# A list goes on where it was interrupted: the first stays as it is, the last begins.
lists_go_on() {
    cat >"$work/list.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { steps = { 3000, "of the second run", integer = true } }
local list = {}
for i, name in ipairs { "first", "second", "third" } do
  list[i] = sel.lbm {
    name = name, lattice = "D2Q9", size = { 32, 16 }, nu = 0.02 * i, periodic = { "x" },
    acceleration = { 1e-6, 0 },
    regions = { { where = shape.faces, law = law.wall {} } },
    stop = { steps = i == 2 and p.steps or 100 },
    output = { out.vtk { fields = "velocity", every = 100 }, out.average { fields = "velocity" } },
  }
end
return list
END
    rm -rf "$work/list" "$work/whole"
    run "$work/list.lua" -o "$work/whole" || return 1
    "$selenite" run "$work/list.lua" --quiet --backend "$backend" -o "$work/list" &
    pid=$!
    wait_for "$work/list/second/vtk/vtk_00000100.vti" $pid
    kill -INT $pid
    wait $pid
    status=$?
    [ $status = 130 ] || { echo "exit status $status"; return 1; }
    [ ! -e "$work/list/third" ] || { echo "the third run was begun"; return 1; }
    cp "$work/list/first/run.json" "$work/first.json"
    run "$work/list.lua" -o "$work/list" --resume && cmp "$work/first.json" "$work/list/first/run.json" &&
        for one in first second third; do
            same "$work/whole/$one" "$work/list/$one" || return 1
        done
}

# potential ARGUMENTS...: an iteration that was given up goes on when more are allowed.
potential() {
    rm -rf "$work/a" "$work/b"
    run $here/potential.lua "$@" -o "$work/a" &&
        fails 3 "max_iterations reached" run $here/potential.lua "$@" most=4 save=100000 -o "$work/b" &&
        run $here/potential.lua "$@" save=100000 -o "$work/b" --resume && same "$work/a" "$work/b"
}

# The initial temperatures of a run that goes on are not those by which its reference was chosen; a
# checkpoint without one has temperatures themselves.
the_reference_is_kept() {
    cat >"$work/warmer.lua" <<'END'
local sel = require "selenite"
local law, out = sel.law, sel.out
local p = sel.params { steps = { 90, "", integer = true }, from = { 300, "" }, save = { 0, "", integer = true } }
return sel.heat {
  size = { 80, 70 }, diffusivity = 1, initial = { temperature = p.from }, stop = { steps = p.steps },
  regions = { { where = sel.shape.faces, law = law.insulated {} },
              { where = sel.shape.face "x-", law = law.fixed { 300 } },
              { where = sel.shape.face "y+", law = law.convective { h = 0.2, ambient = 310 } } },
  output = { out.grid { field = "temperature", every = 90 },
             p.save > 0 and out.checkpoint { every = p.save } or nil },
}
END
    for from in 300 0; do
        rm -rf "$work/a" "$work/b"
        run "$work/warmer.lua" from=$from -o "$work/a" &&
            run "$work/warmer.lua" from=$from steps=40 save=40 -o "$work/b" &&
            run "$work/warmer.lua" from=$((500 - from)) save=90 -o "$work/b" --resume &&
            cmp "$work/a/grid/grid_00000090.asc" "$work/b/grid/grid_00000090.asc" || return 1
    done
    ! grep -q "state reference" "$work/b/checkpoint.sel"
}

# A series is asked for no time before its first.
a_series_goes_on_from_its_first_time() {
    cat >"$work/series.lua" <<'END'
local sel = require "selenite"
local p = sel.params { steps = { 10, integer = true }, save = { 0, integer = true } }
local rising = sel.series { t = { 0, 1 }, value = { 1, 2 } }
return sel.heat {
  size = { 8, 6 }, conductivity = 1, dt = 0.1, source = rising, stop = { steps = p.steps },
  regions = { { where = sel.shape.faces, law = sel.law.flux { rising } } },
  output = { sel.out.reduce { field = "temperature", op = "sum", every = 1 },
             p.save > 0 and sel.out.checkpoint { every = p.save } or nil },
}
END
    rm -rf "$work/a" "$work/b"
    run "$work/series.lua" -o "$work/a" && run "$work/series.lua" steps=0 save=100 -o "$work/b" &&
        run "$work/series.lua" save=100 -o "$work/b" --resume && same "$work/a" "$work/b"
}

# Other laws, outputs and steps are allowed, and logged.
other_laws_are_noted() {
    sed 's/0.05\*boost/0.04*boost/; s/out.grid {.*/out.grid { name = "map", field = "speed", every = 50 },/' \
        $here/channel.lua >"$work/other.lua"
    run "$work/other.lua" steps=250 -o "$work/saved" --resume &&
        grep "script was .* CRC .* and is" "$work/saved/run.log" &&
        grep "parameter steps was 200 and is 250 now" "$work/saved/run.log" &&
        grep "out.grid 'grid' is no longer written" "$work/saved/run.log" &&
        grep "out.grid 'map' is new" "$work/saved/run.log" &&
        [ -e "$work/saved/map/map_00000250.asc" ] && [ -e "$work/saved/grid/grid_00000200.asc" ] &&
        grep -c '^250,' "$work/saved/probe.csv"
}

# Run-off keeps the volume that each region has let in.
other_regions_are_refused_by_name() {
    cat >"$work/mouth.lua" <<'END'
local sel = require "selenite"
local p = sel.params { mouth = false, steps = { 5, "", integer = true } }
local regions = { { name = "rim", where = sel.shape.faces, law = sel.law.open {} } }
if p.mouth then
  regions[2] = { name = "mouth", where = sel.shape.face "x-", law = sel.law.open {} }
end
return sel.aqua {
  size = { 12, 10 }, alpha = 0.1, dx = 10, dt = 1, ground = function(x) return 0.01 * x end, rain = 10,
  regions = regions, stop = { steps = p.steps }, output = { sel.out.checkpoint {} },
}
END
    run "$work/mouth.lua" -o "$work/mouth" &&
        fails 1 "the scenario has other regions or controls than the run had" \
            run "$work/mouth.lua" mouth=true steps=9 -o "$work/mouth" --resume &&
        fails 1 "checkpoint.sel: list of regions was 'rim' and is 'rim, mouth' now" \
            run "$work/mouth.lua" mouth=true steps=9 -o "$work/mouth" --resume &&
        run "$work/mouth.lua" steps=9 -o "$work/mouth" --resume
}

# The same temperatures hold another heat, the same depths stand at another level.
materials_that_change_are_warned_of() {
    cat >"$work/cooling.lua" <<'END'
local sel = require "selenite"
local p = sel.params { steps = { 20, integer = true }, capacity = 4, varied = 0 }
return sel.heat {
  size = { 9, 8 }, dt = 0.1, conductivity = 1, initial = { temperature = 300 }, stop = { steps = p.steps },
  capacity = p.varied > 0 and function(x) return p.capacity + p.varied * x end or p.capacity,
  regions = { { where = sel.shape.faces, law = sel.law.convective { h = 1, ambient = 293 } } },
  source = p.steps, output = { sel.out.checkpoint {} },
}
END
    cat >"$work/dam.lua" <<'END'
local sel = require "selenite"
local p = sel.params { steps = { 20, integer = true }, dam = 0 }
return sel.aqua {
  size = { 9, 8 }, dt = 1, alpha = 0.2, initial = { depth = 1 }, rain = p.steps, stop = { steps = p.steps },
  ground = function(x) return x > 4 and x < 5 and p.dam or 0 end,
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } }, output = { sel.out.checkpoint {} },
}
END
    changed() { grep "warning: $1 was $2: the run goes on with the numbers of the state" "$work/b/run.log"; }
    begin() { run "$@" -o "$work/b" --force; }
    goes_on_with() { run "$@" -o "$work/b" --resume; }
    begin "$work/cooling.lua" && goes_on_with "$work/cooling.lua" steps=30 &&
        ! grep warning "$work/b/run.log" && goes_on_with "$work/cooling.lua" steps=40 capacity=1.5 &&
        changed capacity "4 and is 1.5 now" && begin "$work/cooling.lua" varied=1 &&
        goes_on_with "$work/cooling.lua" varied=1 steps=30 && ! grep warning "$work/b/run.log" &&
        goes_on_with "$work/cooling.lua" varied=2 steps=40 &&
        changed capacity "values of CRC .* and is values of CRC .* now" && begin "$work/dam.lua" &&
        goes_on_with "$work/dam.lua" steps=30 && ! grep warning "$work/b/run.log" &&
        goes_on_with "$work/dam.lua" dam=2 steps=40 && changed ground "values of CRC .* now"
}

other_columns_are_refused() {
    make_saved
    sed 's/out.probe { field = "velocity"/out.probe { field = "pressure"/' $here/channel.lua \
        >"$work/columns.lua"
    fails 1 "probe.csv: has other columns than this output would write now; give the output another name" \
        run "$work/columns.lua" steps=300 -o "$work/saved" --resume
}

# What an output has measured until now does not mix with what it would measure now.
changed_outputs_are_refused() {
    cat >"$work/changed.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { steps = { 60, "", integer = true }, save = { 60, "", integer = true },
  region = "a", centre = 0, field = "pressure", at = 4, to = 9, from = { 20, "", integer = true },
  every = { 10, "", integer = true }, often = { 20, "", integer = true }, over = "x", length = 3,
  frames = "velocity" }
return sel.lbm {
  lattice = "D2Q9", size = { 24, 12 }, nu = 0.1, periodic = { "x" }, acceleration = { 1e-5, 0 },
  reference = { length = p.length, velocity = 0.1 },
  regions = { { name = "walls", where = shape.faces, law = law.wall {} },
    { name = "a", where = shape.box { min = { 4, 4 }, max = { 6, 6 } }, law = law.wall {} },
    { name = "b", where = shape.box { min = { 14, 4 }, max = { 17, 6 } }, law = law.wall {} } },
  stop = { steps = p.steps },
  output = { out.checkpoint { every = p.save },
    out.average { fields = "velocity", from_step = p.from, every = p.every, over = { p.over } },
    out.force { region = p.region, centre = { p.centre, 0 }, every = 30 },
    out.reduce { field = "velocity_x", op = "max", every = p.often,
                 within = shape.box { min = { 0, 0 }, max = { p.to, 12 } } },
    out.probe { field = "velocity_x", at = { p.at, 2 }, every = 30 },
    out.wall { region = p.region, field = "pressure", every = 30 },
    out.spectrum { field = "velocity_x", at = { 2, 2 }, every = p.every },
    out.grid { field = p.field, every = 30 }, out.vtk { fields = p.frames, every = 30 } },
}
END
    then="$work/changed"
    rm -rf "$then"
    run "$work/changed.lua" -o "$then" || return 1
    for change in "from=40:average' had from_step 20 and has 40 now" \
        "every=5:average' had every 10 and has 5 now" "over=y:average' had other fields or axes" \
        "region=b:force' had region a and has b now" "centre=1:force' had centre 0 0 and has 1 0 now" \
        "length=4:force' had reference.length 3 and has 4 now" \
        "to=8:reduce' had within 0 to 9 0 to 12 and has 0 to 8 0 to 12 now" \
        "at=5:probe' had at 4 2 and has 5 2 now" "field=density:grid' had field pressure and has density"; do
        fails 1 "the output '${change#*:}" run "$work/changed.lua" steps=80 "${change%%:*}" -o "$then" --resume &&
            grep -q "; give it another name" "$work/said" || return 1
    done
    run "$work/changed.lua" steps=80 often=10 frames=pressure -o "$then" --resume &&
        grep -qF "out.reduce 'reduce': every was 20 and is 10 now" "$then/run.log"
}

missing_rows_are_refused() {
    make_saved
    echo step >"$work/saved/rate.csv"
    fails 4 "rate.csv: is not there, or shorter than it was when the checkpoint was written" \
        again --resume
}

force_and_resume_exclude_each_other() {
    fails 2 "--resume goes on with a run, --force writes over it" again --resume --force
}

force_removes_checkpoints() {
    run $here/channel.lua steps=20 -o "$work/saved" --force && [ ! -e "$work/saved/checkpoint.sel" ] &&
        [ ! -e "$work/saved/checkpoint.before.sel" ]
}

state_that_cannot_be_kept() {
    sed 's/run.state.n = .*/run.state.deep = { { f = print } }/' $here/channel.lua >"$work/state.lua"
    sed -i '/run:result("calls"/s/run.state.n/1/' "$work/state.lua"
    fails 1 "run.state.deep[1].f is a function, which a checkpoint cannot keep" \
        run "$work/state.lua" save=90 -o "$work/state" &&
        [ ! -e "$work/state/checkpoint.sel" ] && [ ! -e "$work/state/checkpoint.sel.tmp" ]
}

a_balance_that_is_added_counts_from_step_0() {
    cat >"$work/grow.lua" <<'END'
local sel = require "selenite"
local p = sel.params { steps = { 20, "", integer = true }, balance = { false, "" } }
return sel.rule {
  size = { 16, 16 }, periodic = { "x", "y" }, state = { h = "real" }, initial = { h = 2 },
  rule = function(c) return { h = c.h + 1 } end, conserved = { "h" }, stop = { steps = p.steps },
  output = { sel.out.checkpoint { every = 10 }, p.balance and sel.out.balance {} or nil },
}
END
    run "$work/grow.lua" balance=true -o "$work/whole" && run "$work/grow.lua" steps=10 -o "$work/parts" &&
        run "$work/grow.lua" balance=true -o "$work/parts" --resume &&
        tail -n 1 "$work/whole/balance.csv" | tee "$work/row" | grep '^20' &&
        tail -n 1 "$work/parts/balance.csv" | cmp - "$work/row"
}

# Of finite values too a sum may be infinite.
infinite_sums_go_on() {
    cat >"$work/sum.lua" <<'END'
local sel = require "selenite"
local p = sel.params { steps = { 20, "", integer = true } }
return sel.rule {
  size = { 16, 16 }, periodic = { "x", "y" }, precision = "f64", state = { h = "real" },
  initial = { h = 1e308 }, rule = function(c) return { h = c.h } end, conserved = { "h" },
  stop = { steps = p.steps }, output = { sel.out.checkpoint { every = 10 }, sel.out.balance {} },
}
END
    run "$work/sum.lua" steps=10 -o "$work/sum" && run "$work/sum.lua" -o "$work/sum" --resume &&
        tail -n 1 "$work/sum/balance.csv" | grep '^20.*inf'
}

# The last good state stays and is named.
divergence_leaves_the_last_good_one() {
    sed 's/math.min(1,t\/200)/(t < 150 and 1 or 40)/' $here/channel.lua >"$work/diverge.lua"
    fails 3 "$work/diverge/checkpoint.sel holds step" run "$work/diverge.lua" steps=5000 save=50 \
        -o "$work/diverge"
}

# refuses SCENARIO BLOCK OFFSET HEX TEXT: its checkpoint with these bytes, and right CRCs, is refused.
refuses() {
    rm -rf "$work/crafted"
    cp -r "$work/$1" "$work/crafted"
    rm -f "$work/crafted/checkpoint.before.sel"
    "$python" $here/craft.py "$work/$1/checkpoint.sel" "$work/crafted/checkpoint.sel" "$2" "$3" "$4" &&
        exits 4 run "$work/$1.lua" steps=30 --resume -o "$work/crafted" 2>"$work/err"
    status=$?
    cat "$work/err"
    [ $status = 0 ] && grep "checkpoint.sel: .*$5" "$work/err" && [ "$(wc -l <"$work/err")" = 1 ]
}

nan=000000000000f87f many=ffffffffffffff7f negative=ffffffffffffffff
impossible_states_are_refused() {
    cat >"$work/box.lua" <<'END'
local sel = require "selenite"
local p = sel.params { steps = { 20, "steps", integer = true } }
return sel.lbm {
  lattice = "D2Q9", size = { 16, 12 }, nu = 0.1, collision = "trt", precision = "f64", periodic = { "x" },
  controls = { push = 1e-5 }, regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
  acceleration = function(push) return push, 0 end,
  stop = { steps = p.steps, steady = 1e-12, every = 5 },
  hooks = { { every = 2, call = function(run) run.state.x = run.step run:result("x", run.step) end } },
  output = { sel.out.checkpoint { every = 10 }, sel.out.average { fields = { "velocity" } } },
}
END
    cat >"$work/film.lua" <<'END'
local sel = require "selenite"
local p = sel.params { steps = { 20, "steps", integer = true } }
return sel.aqua {
  ground = function(x, y) return 0.01 * x end, size = { 16, 12 }, dx = 1, dt = 0.1, alpha = 0.5,
  rain = function(x) return 1e-5 * x end, infiltration = function(x) return 1e-6 * x end,
  regions = { { where = sel.shape.faces, law = sel.law.open {} } },
  stop = { steps = p.steps }, output = { sel.out.checkpoint { every = 10 } },
}
END
    rm -rf "$work/box" "$work/film" "$work/moments"
    sed 's/"trt"/"hybrid"/' "$work/box.lua" >"$work/moments.lua"
    run "$work/moments.lua" -o "$work/moments" &&
        refuses moments 'state moments' 800 $nan 'damaged: no run can go on .* step 20 NaN or infinity in 1 cell' &&
        refuses moments 'state moments' 800 0000000000c062c0 'damaged: no run can go on .* step 20 the density is -' &&
        run "$work/box.lua" -o "$work/box" && run "$work/film.lua" -o "$work/film" &&
        refuses box 'state f' 800 $nan 'damaged: no run can go on .* step 20 NaN or infinity in 1 cell' &&
        refuses box 'state f' 800 0000000000c062c0 'damaged: no run can go on .* step 20 the density is -' &&
        refuses box 'state step' 0 $many 'damaged: the step' &&
        refuses box 'state step' 0 $negative 'damaged: the step' &&
        refuses box 'state step' 0 1600000000000000 'damaged: its state is of another step' &&
        refuses box 'state observed' 0 $many 'damaged: the step' &&
        refuses box 'state controls' 0 $nan "damaged: .* 'controls'" &&
        refuses box standing 0 $many 'damaged: the step' &&
        refuses box standing 123 $nan 'damaged: a control' &&
        refuses box 'state last' 80 $nan "damaged: .* 'last'" &&
        refuses box results 0 ffffffff 'damaged: the number of results' &&
        refuses box results 0 ffffff7f "block 'results' is shorter" &&
        refuses box outputs 0 ffffffff 'damaged: it has -1 outputs' &&
        refuses box hooks 1 ff 'damaged: .*run.state' &&
        refuses box files 12 1b5b324a 'damaged: files' &&
        refuses box files 0 ffffffff 'damaged: the number of files' &&
        refuses film 'state water' 400 000000ff 'damaged: no run can go on .* step 20 the depth is -' &&
        refuses film 'state rain_owed' 80 0000c07f "damaged: .* 'rain_owed'" &&
        refuses film 'state rain_owed' 80 000080bf "damaged: .* 'rain_owed'" &&
        refuses film 'state soil_owed' 80 0000807f "damaged: .* 'soil_owed'" &&
        refuses film 'state carry' 0 $nan "damaged: .* 'carry'" &&
        refuses film 'state carry' 8 0000000000000040 "damaged: .* 'carry'" &&
        refuses film 'state totals' 8 $nan "damaged: .* 'totals'" &&
        refuses film 'state first_volume' 0 $nan "damaged: .* 'first_volume'"
}

# On a processor tests/random has both.
precisions=f32
[ "$backend" = cpu ] || precisions='f32 f64'
for precision in $precisions; do
    ok "every output of a flow goes on ($precision)" goes_on channel 333 601 precision="$precision"
    ok "run-off goes on ($precision)" goes_on storm 111 400 precision="$precision"
    ok "a flow in three dimensions goes on ($precision)" goes_on box 77 150 precision="$precision"
    ok "closed regions with interpolated walls go on ($precision)" goes_on rollers 77 150 precision="$precision"
    ok "rules with all that varies go on ($precision)" goes_on rule 77 150 precision="$precision"
    ok "conduction goes on ($precision)" goes_on plate 111 250 precision="$precision"
    ok "a slab of nodes goes on ($precision)" goes_on plate 77 150 precision="$precision" layout=node \
        deep=5
done
ok "a flow rate that is held goes on" goes_on drive 77 150
ok "a flow rate that is held goes on from a step of its change" goes_on drive 70 150
ok "laws that vary by controls go on after a hook has set them" goes_on plate 200 300 laws=control
for solver in rule lbm aqua heat; do
    ok "what a control alone changes goes on (sel.$solver)" goes_on controls 10 20 solver=$solver
done
ok "a run goes on to its stop by the mean" goes_on plate 411 4000 laws=still body=uniform mean=1.2e-3 \
    precision=f64
ok "implicit conduction goes on (backward_euler)" goes_on plate 111 250 scheme=backward_euler laws=still
ok "conduction far from 0 degrees goes on" goes_on plate 111 250 base=300
ok "implicit conduction far from 0 degrees goes on" goes_on plate 60 100 base=300 laws=still \
    scheme=crank_nicolson
ok "the reference of temperatures is that of the checkpoint" the_reference_is_kept
ok "cycles of multigrid go on" potential body=even
ok "conjugate directions go on" potential
ok "sweeps go on, in three dimensions" potential method=sor deep=8 layout=node
ok "a balance that is added later counts from step 0" a_balance_that_is_added_counts_from_step_0
ok "infinite sums go on" infinite_sums_go_on
for step in 1 41 42; do
    ok "forces near tau 1/2 go on from step $step" goes_on foil $step 120
done
ok "a run goes on from step 0" goes_on channel 0 30
ok "a series goes on from its first time" a_series_goes_on_from_its_first_time
ok "a run goes on from a step of tests, frames and hooks" goes_on channel 420 600
ok "a flow that stores moments goes on" goes_on channel 111 300 collision=hybrid sponge=12
ok "a flow goes on after Ctrl-C" interrupted INT channel 00000300 2000
ok "impossible states are refused" impossible_states_are_refused
ok "run-off goes on after SIGTERM" interrupted TERM storm 00000160 1500
ok "a run that is killed loses no file" killed 1
ok "a checkpoint and the one before are kept" make_saved
if [ "$backend" = cuda ]; then
    for precision in f32 f64; do
        for flow in channel storm box plate; do
            ok "$flow goes from the CPU to the GPU ($precision)" crosses $flow cpu cuda \
                precision="$precision"
            ok "$flow goes from the GPU to the CPU ($precision)" crosses $flow cuda cpu \
                precision="$precision"
        done
    done
fi
ok "each flipped bit is found, and the checkpoint before offered" flipped_bits_are_found
ok "files that were cut are found" cut_files_are_found
ok "the checkpoint before goes on, too" the_one_before_goes_on
ok "a run killed between two names goes on" no_checkpoint_between_two_names
ok "without a checkpoint nothing goes on" nothing_to_go_on_from
ok "another grid, precision or solver is refused" other_grids_are_refused
ok "other laws, outputs and stops are noted" other_laws_are_noted
ok "other materials and another ground are warned of" materials_that_change_are_warned_of
ok "a list of simulations goes on" lists_go_on
ok "sel.state starts a flow from another run's fields" fields_start_a_new_run
ok "sel.state starts populations from stored moments" fields_start_a_new_run collision=hybrid
ok "sel.state starts run-off from another run's depths" depths_start_a_new_run
ok "sel.state starts conduction from another run's temperatures" temperatures_start_a_new_run
ok "sel.state in cells that were solid takes the nearest values, and says so" \
    cells_that_were_solid_begin_as_the_nearest_that_were_not
ok "sel.state starts no plane from a block, but a block from a plane" \
    a_plane_begins_from_no_block_but_a_block_from_a_plane
ok "other regions are refused by name" other_regions_are_refused_by_name
ok "other columns are refused" other_columns_are_refused
ok "outputs that would mix what they measure are refused" changed_outputs_are_refused
ok "missing rows are refused" missing_rows_are_refused
ok "--force and --resume exclude each other" force_and_resume_exclude_each_other
ok "--force removes checkpoints" force_removes_checkpoints
ok "functions in run.state are refused with their place" state_that_cannot_be_kept
ok "divergence leaves the last good checkpoint and names it" divergence_leaves_the_last_good_one
