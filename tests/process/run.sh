#!/bin/sh
# run.sh -- selenite as a process: wall time, signals, descriptors, what it opens. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
selenite=$build/selenite
backend=${BACKEND:-cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ok NAME COMMAND...: one test, passed when the command succeeds.
ok() {
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name"
        sed 's/^/# /' "$work/log"
    fi
}

# exits STATUS COMMAND...: succeeds when the command ends with that status.
exits() {
    expected=$1
    shift
    "$@"
    got=$?
    [ "$got" = "$expected" ] || { echo "exit status $got, expected $expected"; return 1; }
}

run() { "$selenite" run "$@" --quiet --backend "$backend"; }

# json FILE KEY: a top-level value of run.json.
json() { sed -n "s/^  \"$2\": \(.*[^,]\),*$/\1/p" "$1"; }

cat >"$work/endless.lua" <<'LUA'
local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 64, 64 }, nu = 0.05,
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
  stop = { steps = 1000000000 },
  output = { sel.out.vtk { fields = { "velocity" } } },
}
LUA

# Long before its steps are done, in order, as a run that is finished.
wall_time_ends_a_run() {
    sed 's/stop = {/stop = { wall_time = 0.5,/' "$work/endless.lua" >"$work/limited.lua"
    run "$work/limited.lua" -o "$work/limited" &&
        [ "$(json "$work/limited/run.json" stopped_by)" = '"wall_time"' ] &&
        json "$work/limited/run.json" wall_seconds | awk '{ print; exit !($1 >= 0.5 && $1 < 5) }' &&
        ls "$work"/limited/vtk/vtk_*.vti &&
        "$selenite" check "$work/limited.lua" --backend "$backend" >"$work/text" &&
        grep 'wall time *at most 0.5 s, by stop.wall_time' "$work/text"
}

# In SI, and in cells and steps: 0.2 m/s are 0.05 cells per step of 0.3125 ms.
check_prints_both_units() {
    cat >"$work/units.lua" <<'END'
local sel = require "selenite"
local u = sel.units { length = 0.05, cells = 40, velocity = 0.2, viscosity = 1e-5, density = 1000 }
return sel.lbm {
  lattice = "D2Q9", size = u.cells { 0.1, 0.05 }, units = u, stop = { time = 1 },
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
}
END
    "$selenite" check "$work/units.lua" --backend "$backend" >"$work/text"
    sed -n '/^  units/p; /^    [a-z]/p' "$work/text" >"$work/columns"
    diff - "$work/columns" <<'END'
  units                      user's         lattice
    dx                       0.00125        1
    dt                       0.0003125      1
    reference length         0.05           40
    reference velocity       0.2            0.05
    end of the run           1              3200
    viscosity nu             1e-05          0.002
    density                  1000           1
    largest velocity given   0.2            0.05
    its dynamic pressure     20             0.00125
END
}

# A cell of 1 mm and a step of a second: a velocity of 1 m/s would be 1,000 cells per step.
dx_without_dt_is_warned_of() {
    sed 's/nu = 0.05,/nu = 1e-6, dx = 0.001,/; s/steps = [0-9]*/steps = 1/' "$work/endless.lua" \
        >"$work/cells.lua"
    "$selenite" check "$work/cells.lua" --backend "$backend" >"$work/text" &&
        grep 'warning: .*cells.lua:3: dx is given and dt is not: dt is 1, .* is 1e+03 in lattice' \
            "$work/text" &&
        sed 's/dx = 0.001/dx = 0.001, dt = 1/' "$work/cells.lua" >"$work/steps.lua" &&
        "$selenite" check "$work/steps.lua" --backend "$backend" >"$work/text" &&
        ! grep 'dt is not' "$work/text"
}

ok "stop.wall_time ends a run in order" wall_time_ends_a_run
ok "check prints the user's and the lattice's units" check_prints_both_units
ok "dx without dt is warned of" dx_without_dt_is_warned_of
