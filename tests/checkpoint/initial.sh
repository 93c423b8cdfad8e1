# shellcheck shell=sh disable=SC2154
# initial.sh -- runs that begin with the fields of another one's checkpoint (sel.state).
# Read by run.sh, whose functions these use.

# sel.state: the fields of another run are the initial state of this one, also on a finer grid.
fields_start_a_new_run() {
    cat >"$work/start.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { from = { "", "checkpoint" }, fine = { 1, "cells per unit", integer = true } }
return sel.lbm {
  lattice = "D2Q9", size = { 48 * p.fine, 16 * p.fine }, dx = 1 / p.fine, dt = 1 / p.fine,
  nu = 0.02, precision = "f64", initial = sel.state(p.from), stop = { steps = 0 },
  regions = {
    { name = "walls", where = shape.faces, law = law.wall {} },
    { name = "post", where = shape.ball { centre = { 12, 8.3 }, radius = 2 }, law = law.wall {} },
  },
  output = { out.probe { name = "probe", field = "velocity", at = { 30, 8 } } },
}
END
    rm -rf "$work/from" "$work/start" "$work/fine"
    run "$here"/channel.lua steps=200 save=100 precision=f64 "$@" -o "$work/from" &&
        run "$work/start.lua" from="$work/from/checkpoint.sel" -o "$work/start" &&
        run "$work/start.lua" from="$work/from/checkpoint.sel" fine=2 -o "$work/fine" &&
        "$python" - "$work" <<'END'
import csv, sys
rows = [list(csv.reader(open(sys.argv[1] + "/" + d + "/probe.csv")))[-1] for d in ("from", "start", "fine")]
print(rows)
saved, same, fine = ([float(v) for v in row[2:]] for row in rows)
for i in range(2):
    assert abs(same[i] - saved[i]) < 1e-12, "the same grid"
    assert abs(fine[i] - saved[i]) < 1e-3, "a finer grid"
assert abs(saved[0]) > 0.01
END
}

# A plate or, with deep=true, a block at 300 degrees: with a body in it, or from a checkpoint without.
plate_without_its_body() {
    cat >"$work/body.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { from = { "", "checkpoint" }, deep = { false, "" }, paint = { false, "" } }
local body = shape.box { min = { 3, 3, -1 }, max = { 6, 5, 9 } }
local flat = shape.box { min = { 3, 3 }, max = { 6, 5 } }
local before = p.from ~= "" and sel.state(p.from) or { temperature = 300 }
if p.paint then before.temperature = sel.paint { before.temperature, { flat, 350 } } end
local regions = { { name = "faces", where = shape.faces, law = law.insulated {} } }
if p.from == "" then
  regions[2] = { name = "body", where = p.deep and body or flat, law = law.fixed { 300 } }
end
return sel.heat {
  size = p.deep and { 10, 9, 8 } or { 10, 9 }, conductivity = 1, precision = "f64", regions = regions,
  initial = before, stop = { steps = 2 },
  output = { out.checkpoint {}, out.reduce { name = "least", field = "temperature", op = "min", every = 1 },
             out.reduce { name = "most", field = "temperature", op = "max", every = 1 } },
}
END
    rm -rf "$work/before" "$work/after"
    run "$work/body.lua" deep="$1" -o "$work/before"
}

# column FILE STEP: the value of a step.
column() { grep "^$2," "$1" | cut -d, -f3; }

cells_that_were_solid_begin_as_the_nearest_that_were_not() {
    plate_without_its_body false &&
        run "$work/body.lua" from="$work/before/checkpoint.sel" -o "$work/after" &&
        grep "sel.state: 6 of 90 free cells lie where the earlier run had solids" "$work/after/run.log" &&
        [ "$(column "$work/after/least.csv" 0)" = 300 ] && [ "$(column "$work/after/most.csv" 2)" = 300 ] &&
        run "$work/body.lua" from="$work/before/checkpoint.sel" paint=true -o "$work/after" --force &&
        ! grep "warning" "$work/after/run.log" && [ "$(column "$work/after/most.csv" 0)" = 350 ] &&
        [ "$(column "$work/after/least.csv" 0)" = 300 ]
}

a_plane_begins_from_no_block_but_a_block_from_a_plane() {
    plate_without_its_body true &&
        fails 1 "sel.state: the fields are those of a run in 3 dimensions, this one has 2" \
            run "$work/body.lua" from="$work/before/checkpoint.sel" -o "$work/after" &&
        plate_without_its_body false &&
        run "$work/body.lua" from="$work/before/checkpoint.sel" deep=true -o "$work/after" &&
        grep "sel.state: 48 of 720 free cells" "$work/after/run.log" &&
        [ "$(column "$work/after/least.csv" 0)" = 300 ] && [ "$(column "$work/after/most.csv" 2)" = 300 ]
}

# The same temperatures at all cells and at all nodes; between cells and nodes what lies there.
temperatures_start_a_new_run() {
    cat >"$work/warm.lua" <<'END'
local sel = require "selenite"
local p = sel.params { from = { "", "checkpoint" }, layout = { "cell", "layout" } }
return sel.heat {
  size = { 37, 29 }, diffusivity = 1, layout = p.layout, precision = "f64", stop = { steps = 0 },
  regions = { { where = sel.shape.faces, law = sel.law.insulated {} } },
  initial = sel.state(p.from),
  output = { sel.out.probe { field = "temperature", at = { 30, 8 } },
             sel.out.reduce { field = "temperature", op = "sum" } },
}
END
    for layout in cell node; do
        rm -rf "$work/from" "$work/start" "$work/other"
        other=$([ $layout = cell ] && echo node || echo cell)
        run "$here"/plate.lua body=uniform steps=143 save=143 precision=f64 layout=$layout -o "$work/from" &&
            run "$work/warm.lua" from="$work/from/checkpoint.sel" layout=$layout -o "$work/start" &&
            run "$work/warm.lua" from="$work/from/checkpoint.sel" layout="$other" -o "$work/other" ||
            return 1
        for file in probe reduce; do
            then=$(grep '^143,' "$work/from/$file.csv" | cut -d, -f3)
            now=$(grep '^0,' "$work/start/$file.csv" | cut -d, -f3)
            [ "${then:-none}" = "$now" ] || { echo "$then became $now"; return 1; }
        done
        then=$(grep '^143,' "$work/from/probe.csv" | cut -d, -f3)
        now=$(grep '^0,' "$work/other/probe.csv" | cut -d, -f3)
        awk -v a="$then" -v b="$now" 'BEGIN { d = a - b; exit !(d < 0.02 && d > -0.02) }' ||
            { echo "$then became $now on the other layout"; return 1; }
    done
}

# The same depths at all cells, and nothing of a damaged file.
depths_start_a_new_run() {
    sed "s|initial = .*|initial = sel.state \"$work/rain/checkpoint.sel\",|" "$here"/storm.lua \
        >"$work/depth.lua"
    rm -rf "$work/rain" "$work/depth"
    run "$here"/storm.lua steps=100 save=100 precision=f64 -o "$work/rain" &&
        run "$work/depth.lua" steps=0 precision=f64 -o "$work/depth" || return 1
    then=$(grep '^100,' "$work/rain/reduce.csv" | cut -d, -f3)
    now=$(grep '^0,' "$work/depth/reduce.csv" | cut -d, -f3)
    [ "$then" = "$now" ] || { echo "$then became $now"; return 1; }
    flip "$work/rain/checkpoint.sel" 5000
    fails 4 "checkpoint.sel: is damaged" run "$work/depth.lua" -o "$work/no"
}
