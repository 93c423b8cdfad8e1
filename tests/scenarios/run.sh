#!/bin/sh
# run.sh -- scenarios from the command line: results, files, exit statuses. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

# Set before OpenMP starts, or not at all; other OpenMPs than gcc's wait in their own ways.
waiting_threads_soon_sleep() {
    OMP_DISPLAY_ENV=verbose "$selenite" --version >"$work/openmp" 2>&1
    ! grep -q GOMP_ "$work/openmp" || grep "GOMP_SPINCOUNT = '300'" "$work/openmp"
}

# value FILE COLUMN: the column in the last row of a CSV file.
value() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
        { last = $c } END { print last }' "$1"
}

# within VALUE REFERENCE TOLERANCE
within() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d
        print a, "against", b; exit !(a != "" && d <= t) }'
}

couette_is_exact() {
    run scenarios/couette.lua H=8 tau=1.5 -o "$work/couette" &&
        awk -F, 'NR == 1 { next } $1 != step { step = $1; worst = 0 }
            { d = $7 / (0.1 * $5 / 8) - 1; if (d < 0) d = -d; if (d > worst) worst = d }
            END { print "error", worst; exit !(step > 0 && worst < 1e-9) }' "$work/couette/profile.csv"
}

# A square array of discs, solid fraction 0.2: k = L^2 / 51.53 (Sangani and Acrivos 1982).
porous_square_array_has_its_permeability() {
    run scenarios/porous2d.lua picture=scenarios/porous2d_square.png -o "$work/porous" &&
        within "$(sed -n 's/.*"permeability": \([^,}]*\).*/\1/p' "$work/porous/run.json")" \
            79.488 1.2
}

poiseuille_is_exact() {
    run scenarios/poiseuille.lua H=8 tau=0.6 -o "$work/poiseuille" &&
        awk -F, 'NR > 1 && $1 > 0 { d = $7 / (0.2 * $5 * (8 - $5) / 64) - 1; if (d < 0) d = -d
            if (d > worst) worst = d; n++ }
            END { print "error", worst; exit !(n == 8 && worst < 1e-9) }' \
            "$work/poiseuille/profile.csv"
}

# result FILE NAME: one of the results of run.json.
result() { sed -n '/"results"/s/.*"'"$2"'": \([^,}]*\).*/\1/p' "$1"; }

# The cells next to the middle of 16: the series has 0.292734 G a^2 / nu there.
duct_has_its_largest_velocity() {
    run scenarios/duct3d.lua N=16 -o "$work/duct" &&
        within "$(result "$work/duct/run.json" u_max)" 0.292734 0.0005
}

# On the middle plane nothing flows across it, the mass stays, and u_min is -0.2157 (16 cells: 5 %).
cube_keeps_mass_and_symmetry() {
    run scenarios/cavity3d.lua N=16 Re=100 -o "$work/cube" &&
        within "$(value "$work/cube/balance.csv" mass)" 4096 0.01 &&
        awk -F, 'NR > 1 && $1 > 0 { w = $9 < 0 ? -$9 : $9; if (w > across) across = w
            if ($7 < least) least = $7; n++ }
            END { print n, across, least
                exit !(n == 16 && across < 1e-6 && least < -0.0195 && least > -0.0216) }' \
            "$work/cube/vertical.csv"
}

# Blocked by a twentieth and with five cells per diameter: a fifth above Schiller and Naumann.
sphere_has_drag() {
    run scenarios/sphere.lua D=5 Re=20 width=4 length=6 time=15 -o "$work/sphere" &&
        within "$(result "$work/sphere/run.json" drag.cd_mean)" \
            "$(result "$work/sphere/run.json" schiller_naumann)" 0.8 &&
        within "$(result "$work/sphere/run.json" drag.force_y_mean)" 0 1e-4
}

# L left out of the frequency and a Womersley number N times smaller: the same oscillation.
oscillating_cube_answers() {
    run scenarios/oscillating_cavity.lua N=8 Wo=12 -o "$work/oscillating" &&
        run scenarios/oscillating_cavity.lua N=8 Wo=1.5 frequency=as_printed -o "$work/printed" &&
        diff "$work/oscillating/point.csv" "$work/printed/point.csv" &&
        within "$(result "$work/oscillating/run.json" half_amplitude)" 0.2128 0.001 &&
        within "$(result "$work/oscillating/run.json" phase)" 168.0 0.5
}

# ABC flow is along its vorticity, k times it, and decays by exp(-t U k / Re): here exp(-0.2).
abc_flow_decays() {
    run scenarios/taylor_green3d.lua N=16 U=0.04 Re=5 time=1 flow=abc precision=f64 \
        -o "$work/abc" &&
        within "$(value "$work/abc/root_mean_squares.csv" velocity_z)" 0.032749 0.0002 &&
        within "$(value "$work/abc/root_mean_squares.csv" vorticity_z)" 0.012861 0.0005
}

# aqua CHECK DIRECTORY ...: what a run-off has written.
aqua() { "${PYTHON:-/usr/bin/python3}" tests/scenarios/aqua.py "$@"; }

a_pulse_passes_on_a_plane() {
    run scenarios/aqua_plane.lua N=32 alpha=0.02 steps=800 below=8 -o "$work/plane" &&
        aqua plane "$work/plane" 0.02 1e-3 0.03 8
}

a_bowl_comes_to_its_level() {
    for equilibrium in fill mean mindiff; do
        run scenarios/bowl.lua N=24 equilibrium=$equilibrium -o "$work/bowl_$equilibrium" &&
            aqua bowl "$work/bowl_$equilibrium" 24 0.5 0.6 || return 1
    done
}

depressions_fill_to_their_brims() {
    run scenarios/depressions.lua dx=40 -o "$work/depressions" &&
        aqua depressions "$work/depressions" 40
}

the_valley_is_what_its_program_makes() {
    "${PYTHON:-/usr/bin/python3}" tools/valley.py "$work/valley.asc" &&
        cmp "$work/valley.asc" scenarios/valley.asc
}

# NODATA in the north-west, and a map: the terrain that edits are made to.
cat >"$work/edited.lua" <<'LUA'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local dem = sel.raster "edited.asc"
local function square(x, y) return shape.box { min = { x, y }, max = { x + 0.3, y + 0.3 } } end
local function run(name, ground, rain)
  return sel.aqua {
    name = name, ground = ground, alpha = 0.2, dt = 2, rain = rain, stop = { steps = 100 },
    regions = { { name = "edge", where = shape.faces, law = law.open {} } },
    output = { out.grid { field = "ground" }, out.balance {} },
  }
end
local storm = sel.series { t = { 0, 100, 300 }, value = { 0, 36, 0 }, outside = "zero" }
return {
  run("raster", dem, 18),
  run("painted", sel.paint { dem, { square(500000.1, 6000020.6), 30 },
    { square(500000.5, 6000020.1), function(x, y) return dem(x, y) - 2 end } }, storm),
  run("function", function(x, y) return dem(x, y) + 1 end, function(x) return x - 5e5 end),
  run("by_lua", function(x, y) return tonumber(tostring(dem(x, y))) + 1 end,
      function(x, t) return t * (x - 5e5) end),
}
LUA

terrain_is_edited_and_keeps_its_gaps_and_its_map() {
    awk 'BEGIN { print "ncols 12\nnrows 9\nxllcorner 500000\nyllcorner 6000020"
        print "cellsize 0.1\nNODATA_value -9999"
        for (j = 0; j < 9; j++) { for (i = 0; i < 12; i++)
            printf "%s ", j < 4 && i < 4 && !(j == 2 && i == 2) ? -9999 : 10 + i / 4 + j / 8
            print "" } }' >"$work/edited.asc" &&
        printf 'PROJCS["somewhere",UNIT["Meter",1.0]]' >"$work/edited.prj" &&
        run "$work/edited.lua" -o "$work/edited" &&
        aqua edited "$work/edited" "$work/edited.asc" "$work/edited.prj"
}

# 200 s on cells of 0.01 m2. The last two: x is 0.66505 m on average, t 100 s.
check_sums_up_the_rain() {
    "$selenite" check "$work/edited.lua" --backend "$backend" >"$work/text" 2>&1 || return 1
    grep -E '^  rain +1 mm = 0\.00093 m3$' "$work/text" &&
        grep -E '^  rain +1\.25 mm = 0\.0012625 m3$' "$work/text" &&
        grep -E '^  rain +0\.0369474 mm = 3\.43611e-05 m3$' "$work/text" &&
        grep -E '^  rain +about 3\.69[0-9]* mm = 0\.00343[0-9]* m3 \(estimate of [0-9]* samples\)$' \
            "$work/text" && ! grep 'warning: .*rain' "$work/text" &&
        sed -n 's/^  largest rate of rain *//p' "$work/text" | head -n 3 |
        tr '\n' ' ' | grep -x '18 mm/h 35.82 mm/h 1.15 mm/h ' || return 1
    for rain in 2.8e-6 'function(t) return 40 * t end'; do
        sed "s|dem, 18)|dem, $rain)|" "$work/edited.lua" >"$work/strange_rain.lua"
        "$selenite" check "$work/strange_rain.lua" --backend "$backend" 2>&1 |
            grep 'warning: .*strange_rain.lua:[0-9]*: rain ' || return 1
    done
}

# Seconds of arc without a word on the map are warned of; as small a flume with a dx of its own is not.
a_grid_that_looks_like_degrees_is_warned_of() {
    for at in 13.2 0; do
        printf 'ncols 2\nnrows 2\nxllcorner %s\nyllcorner %s\ncellsize %s\n1 2 3 4\n' $at $at \
            "$([ $at = 0 ] && echo 0.01 || echo 0.000277777777778)" >"$work/small$at.asc"
        cat >"$work/small$at.lua" <<END
local sel = require "selenite"
return sel.aqua {
  ground = sel.raster "small$at.asc", alpha = 0.2, stop = { steps = 1 },
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
}
END
        "$selenite" check "$work/small$at.lua" --backend "$backend" >"$work/small$at.txt" || return 1
    done
    grep 'warning: .*small13.2.lua:3: ground: small13.2.asc .* looks like degrees' "$work/small13.2.txt" &&
        grep 'gdalwarp -s_srs EPSG:4326 -t_srs EPSG:32633 -tr 31 31 -r bilinear' "$work/small13.2.txt" &&
        ! grep warning "$work/small0.txt"
}

# As a user runs it, in a folder of his own with his own files; here rain alike everywhere.
a_storm_runs_on_files_beside_the_user() {
    root=$PWD
    mkdir "$work/own" && cp scenarios/valley.asc scenarios/storm.csv "$work/own" &&
        (cd "$work/own" && run "$root/scenarios/storm.lua" dem=valley.asc rain=storm.csv slant=0 \
            hours=5 film=5400 -o "$work/storm") &&
        [ -s "$work/storm/picture/picture_00009000.png" ]
}

cat >"$work/walls.lua" <<'LUA'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local H, still, moving = 8, law.wall {}, law.wall { velocity = { 0.01, 0 } }
local function channel(name, below, regions)
  return sel.lbm {
    name = name, lattice = "D2Q9", size = { 2, H + 2 * below }, tau = 0.8, precision = "f64",
    periodic = { "x" }, acceleration = { 1e-5, 0 }, regions = regions, stop = { steps = 5000 },
    output = { sel.out.profile { field = "velocity_x", points = 4 * H, every = 5000,
                                 from = { 1, below }, to = { 1, below + H } } },
  }
end
return {
  channel("faces", 0, { { where = shape.face "y-", law = still },
                        { where = shape.face "y+", law = moving } }),
  channel("solids", 2, { { where = shape.faces, law = still },
                         { where = shape.box { min = { 0, 0 }, max = { 2, 2 } }, law = still },
                         { where = shape.box { min = { 0, H + 2 }, max = { 2, H + 4 } },
                           law = moving } }),
}
LUA

profiles_meet_solids_as_faces() {
    run "$work/walls.lua" -o "$work/walls" &&
        cut -d, -f3,7 "$work/walls/faces/profile.csv" >"$work/faces.txt" &&
        cut -d, -f3,7 "$work/walls/solids/profile.csv" >"$work/solids.txt" &&
        diff "$work/faces.txt" "$work/solids.txt"
}

# Velocity inlet to pressure outlet: what enters leaves, to round-off.
faces_conserve_mass() {
    run scenarios/poiseuille.lua H=8 L=24 drive=faces -o "$work/faces" &&
        within "$(value "$work/faces/balance.csv" rate_outlet)" \
            "$(value "$work/faces/balance.csv" rate_inlet | sed 's/^-//')" 1e-9
}

small_expansion_reattaches() {
    run scenarios/sudden_expansion.lua H=16 ramp=2000 -o "$work/expansion" &&
        within "$(tools/reattachment.sh "$work/expansion/floor.csv" 16)" 2.0 0.15
}

thesis_numbers_run() {
    run scenarios/sudden_expansion.lua as_thesis=true -o "$work/thesis" &&
        grep -q '"collision": "bgk"' "$work/thesis/run.json" &&
        [ "$(json "$work/thesis/run.json" steps)" = 3000 ]
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
    { where = sel.shape.face "y+", law = sel.law.wall { velocity = { 0.5, 0 } } },
  },
  stop = { steps = 100000 },
  output = { sel.out.vtk { fields = { "velocity" } } },
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

divergence_is_reported() {
    exits 3 run "$work/diverging.lua" -o "$work/diverging" >"$work/text" 2>&1 &&
        grep -E 'diverged: at step [0-9]+ .* cell' "$work/text" &&
        [ "$(json "$work/diverging/run.json" stopped_by)" = '"diverged"' ]
}

# The drag of the vortex street swings by 0.01 root mean square; by 0.2 when sound is let in.
example_reports_flow_not_sound() {
    run examples/09_forces.lua -o "$work/forces" && "${PYTHON:-/usr/bin/python3}" -c '
import json, sys
run = json.load(open(sys.argv[1]))
results = run["results"]
assert 0.005 < results["force.cd_rms"] < 0.03, results
assert abs(results["force.strouhal"] - 0.3) < 0.01, results
assert run["largest_mach"] < 0.3 and run["warnings"] == [], run' "$work/forces/run.json"
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
  stop = { steady = 1e-300 }, precision = "f64",
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

script_from_standard_input() {
    run - -o "$work/stdin" <examples/01_lid.lua && [ -s "$work/stdin/vtk.pvd" ]
}

list_of_simulations() {
    run examples/06_several.lua -o "$work/several" &&
        [ -s "$work/several/trt/profile.csv" ] && [ -s "$work/several/bgk/profile.csv" ]
}

check_prints_the_numbers() {
    "$selenite" check scenarios/cavity2d.lua N=32 Re=100 --regions >"$work/text" &&
        grep -E 'tau +0\.596' "$work/text" && grep -E 'lid.*32 sites of y\+' "$work/text" &&
        grep -E 'Reynolds number +100' "$work/text" &&
        grep -E 'cell types +9: 900 inside, 120 on a face, 4 in a corner' "$work/text" &&
        grep -E '^ +30 y\+ lid$' "$work/text" && grep -E '^ +1 x- walls, y\+ lid$' "$work/text"
}

# Two pillars as two regions of one name, and as two names: forces, flows and balances add up.
regions_of_one_name_count_together() {
    cat >"$work/pillars.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { names = "pillar pillar in in" }
local name = {}
for word in p.names:gmatch "%S+" do name[#name + 1] = word end
local output = { out.balance { every = 10 } }
for i = 1, 4 do
  if name[i] ~= name[i - 1] then
    output[#output + 1] = i < 3 and out.force { name = "force" .. i, region = name[i], every = 10 }
      or out.flux { name = "flux" .. i, region = name[i], every = 10 }
  end
end
local function disc(x, y) return shape.ball { centre = { x, y }, radius = 3 } end
local lower = shape.box { min = { -1, 0 }, max = { 1, 12 } }
return sel.lbm {
  lattice = "D2Q9", size = { 40, 24 }, nu = 0.1, precision = "f64", stop = { steps = 100 },
  regions = {
    { name = "walls", where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = name[1], where = disc(12, 8), law = law.wall {} },
    { name = name[2], where = disc(20, 17), law = law.wall {} },
    { name = name[3], where = shape.face "x-" * lower, law = law.velocity { 0.02, 0 } },
    { name = name[4], where = shape.face "x-" - lower, law = law.velocity { 0.03, 0 } },
    { name = "out", where = shape.face "x+", law = law.pressure { 0 } },
  },
  output = output,
}
END
    run "$work/pillars.lua" -o "$work/together" &&
        run "$work/pillars.lua" names='a b c d' -o "$work/apart" &&
        within "$(value "$work/together/force1.csv" force_x)" \
            "$(echo "$(value "$work/apart/force1.csv" force_x)" \
                "$(value "$work/apart/force2.csv" force_x)" | awk '{ printf "%.15g", $1 + $2 }')" \
            1e-12 &&
        within "$(value "$work/together/flux3.csv" flux)" \
            "$(echo "$(value "$work/apart/flux3.csv" flux)" \
                "$(value "$work/apart/flux4.csv" flux)" | awk '{ printf "%.15g", $1 + $2 }')" \
            1e-12 &&
        within "$(value "$work/together/balance.csv" out_in)" \
            "$(echo "$(value "$work/apart/balance.csv" out_c)" \
                "$(value "$work/apart/balance.csv" out_d)" | awk '{ printf "%.15g", $1 + $2 }')" \
            1e-9 && [ "$(head -1 "$work/together/balance.csv" | tr , '\n' | grep -c '^out_in$')" = 1 ]
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

every_example_runs() {
    for example in examples/*.lua; do
        run "$example" -o "$work/$(basename "$example" .lua)_example" || return 1
    done
}

embedding_from_c() {
    "$build/examples/c/embed" "$work/embed" && [ -s "$work/embed/vtk.pvd" ]
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
        grep -x 'check takes no --force; it is an option of run' "$work/text" &&
        exits 2 run scenarios/couette.lua --laws && exits 2 "$selenite" bench --precision f32 &&
        exits 2 "$selenite" validate --json && exits 2 "$selenite" check -o "$work/none" \
        scenarios/couette.lua && exits 2 run scenarios/couette.lua --only cavity &&
        exits 2 run scenarios/couette.lua --trust --script-limit 5
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
    if grep -E '^sel.lbm +cuda +(not in this build|cannot be used)' "$work/text"; then
        exits 5 "$selenite" run scenarios/couette.lua H=4 -o "$work/cuda" --backend cuda &&
            [ ! -e "$work/cuda" ] && exits 5 "$selenite" bench --backend cuda &&
            "$selenite" run scenarios/couette.lua H=4 -o "$work/any" --quiet --backend auto &&
            [ "$(json "$work/any/run.json" backend)" = '"cpu"' ]
    else
        "$selenite" run scenarios/couette.lua H=4 -o "$work/any" --backend auto 2>"$work/text" &&
            grep '^running on cuda: ' "$work/text" &&
            [ "$(json "$work/any/run.json" backend)" = '"cuda"' ]
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

json_report() {
    run scenarios/couette.lua H=4 -o "$work/json" --json >"$work/text" &&
        "${PYTHON:-/usr/bin/python3}" -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert report["stopped_by"] == "steady", report["stopped_by"]
assert report["parameters"]["H"] == 4 and report["size"] == [4, 4]
assert "profile.csv" in report["outputs"]' "$work/text"
}

ok "Couette flow is exact" couette_is_exact
ok "Poiseuille flow is exact" poiseuille_is_exact
ok "permeability of a square array" porous_square_array_has_its_permeability
ok "the square duct has its largest velocity" duct_has_its_largest_velocity
ok "a cube keeps mass and symmetry" cube_keeps_mass_and_symmetry
ok "a sphere has drag" sphere_has_drag
ok "a cube answers to its oscillating lid" oscillating_cube_answers
ok "ABC flow decays as it should" abc_flow_decays
ok "a pulse passes on a plane" a_pulse_passes_on_a_plane
ok "a bowl comes to its level" a_bowl_comes_to_its_level
ok "depressions fill to their brims" depressions_fill_to_their_brims
ok "the valley is what its program makes" the_valley_is_what_its_program_makes
ok "terrain is edited and keeps its gaps and its map" terrain_is_edited_and_keeps_its_gaps_and_its_map
ok "check sums up the rain" check_sums_up_the_rain
ok "a grid that looks like degrees is warned of" a_grid_that_looks_like_degrees_is_warned_of
ok "a storm runs on files beside the user" a_storm_runs_on_files_beside_the_user
valley=scenarios/valley.asc
ok "a storm's water is all there" aqua storm_balance "$work/storm" $valley scenarios/storm.csv
ok "a storm's flood comes and passes" aqua storm_hydrograph "$work/storm" 3000
ok "a storm fills its pond" aqua storm_pond "$work/storm" $valley
ok "a storm's grids lie on its valley" aqua storm_grids "$work/storm" $valley 0.1
ok "profiles meet solid walls as they meet faces" profiles_meet_solids_as_faces
ok "mass between an inlet and an outlet" faces_conserve_mass
ok "a small expansion reattaches" small_expansion_reattaches
ok "the lattice of the thesis" thesis_numbers_run
ok "another run gives the same bytes" another_run_gives_the_same_bytes
[ "$backend" = cuda ] || ok "the same bytes for 1, 2 and 3 threads" threads_do_not_matter
ok "waiting threads soon sleep" waiting_threads_soon_sleep
ok "an interrupt writes the last state" interrupt_writes_the_last_state
ok "an error writes the last state" an_error_writes_the_last_state
ok "a hook that never returns ends the run" a_hook_that_never_returns_ends_the_run
ok "a diverging run says step, cell and cause" divergence_is_reported
ok "an example of forces reports flow, not sound" example_reports_flow_not_sound
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
ok "a script from standard input" script_from_standard_input
ok "a list of simulations" list_of_simulations
ok "check prints the resolved numbers" check_prints_the_numbers
ok "regions of one name count together" regions_of_one_name_count_together
ok "check and run tell the same warnings" warnings_are_told_by_check_and_run
ok "check allows what a hook may end" check_allows_what_a_hook_may_end
ok "check tells when outputs are written" check_tells_when_outputs_are_written
ok "check tells the times of series" check_tells_the_times_of_series
ok "the parameters are listed" parameters_are_listed
ok "every example runs" every_example_runs
ok "the engine from C" embedding_from_c
ok "usage errors" usage_errors
ok "validate judges a case" validate_judges_a_case
ok "run.json is JSON" json_report
ok "options belong to commands" options_belong_to_commands
ok "words belong to commands" words_belong_to_commands
ok "help knows every name" help_knows_every_name
ok "the backend is chosen" backend_is_chosen
ok "bench measures a case" bench_measures_a_case
ok "bench measures run-off" bench_measures_run_off
