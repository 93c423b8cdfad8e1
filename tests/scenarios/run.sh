#!/bin/sh
# run.sh -- flows from the command line against what is known of them, and with fields.sh and runoff.sh
# all other scenarios. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

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

. tests/scenarios/fields.sh
. tests/scenarios/runoff.sh

# Before its outputs and hooks have seen what they wait for. Potentials have no steps.
every_scenario_may_end_after_its_first_step() {
    for script in scenarios/*.lua; do
        grep -q 'sel.poisson {' "$script" || ending 'steps = 1' "$script" | run - -o "$work/first" --force ||
            { echo "$script"; return 1; }
    done
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
        within "$(sed -n 's/.*"pores.permeability": \([^,}]*\).*/\1/p' "$work/porous/run.json")" \
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

# On the middle plane nothing flows across it, the mass stays, and u_min is -0.2157 (16 cells: 5 %
# less with trt, 2 % with the default).
cube_keeps_mass_and_symmetry() {
    cube_has_its_least_velocity trt -0.0195 -0.0216 &&
        cube_has_its_least_velocity hybrid -0.02114 -0.02200
}

# cube_has_its_least_velocity COLLISION HIGH LOW
cube_has_its_least_velocity() {
    run scenarios/cavity3d.lua N=16 Re=100 "collision=$1" -o "$work/cube" --force &&
        within "$(value "$work/cube/balance.csv" mass)" 4096 0.01 &&
        awk -F, -v high="$2" -v low="$3" 'NR > 1 && $1 > 0 { w = $9 < 0 ? -$9 : $9; if (w > across) across = w
            if ($7 < least) least = $7; n++ }
            END { print n, across, least
                exit !(n == 16 && across < 1e-6 && least < high && least > low) }' \
            "$work/cube/vertical.csv"
}

# Blocked by a twentieth and with five cells per diameter: a fifth above Schiller and Naumann.
sphere_has_drag() {
    run scenarios/sphere.lua D=5 Re=20 width=4 length=6 time=15 -o "$work/sphere" &&
        within "$(result "$work/sphere/run.json" drag.cd_mean)" \
            "$(result "$work/sphere/run.json" schiller_naumann)" 0.8 &&
        within "$(result "$work/sphere/run.json" drag.force_y_mean)" 0 1e-4
}

# Six cells per diameter, in a narrow domain that lets sound and vortices out on all sides.
a_cylinder_in_a_free_stream_sheds_vortices() {
    run scenarios/free_cylinder.lua D=6 width=12 before=5 behind=12 U=0.08 periods=25 last=5 -o "$work/street" &&
        within "$(result "$work/street/run.json" drag.strouhal)" 0.166 0.01 &&
        within "$(result "$work/street/run.json" drag.cl_mean)" 0 0.02
}

# Eight cells per diameter; stairs of cells have 6 % too much.
spheres_in_an_array_have_the_drag_of_the_series() {
    run scenarios/spheres_bcc.lua D=8 -o "$work/spheres" &&
        within "$(result "$work/spheres/run.json" drag_error)" 0 0.02 &&
        within "$(result "$work/spheres/run.json" pores.permeability)" 2.5642 0.05 &&
        within "$(result "$work/spheres/run.json" pores.porosity)" 0.8 0.01
}

# Eight cells per radius; stairs of cells have 4 % too little. Womersley's flow lags by 65.6 degrees.
a_round_pipe_has_its_flow_rate() {
    run scenarios/pipe.lua R=8 -o "$work/pipe" &&
        within "$(result "$work/pipe/run.json" flow)" 1 0.003 &&
        within "$(result "$work/pipe/run.json" velocity_error)" 0 0.01 &&
        run scenarios/pipe.lua R=8 Wo=4 -o "$work/pipe" --force &&
        within "$(result "$work/pipe/run.json" flow)" 1 0.003 &&
        within "$(result "$work/pipe/run.json" phase)" 65.568 0.1
}

# most FILE COLUMN: the largest value of the column in a CSV file.
most() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        NR == 2 || $c > most { most = $c } END { print most }' "$1"
}

# The mass flow of the pulse's peak (1060 kg/m3, 0.1192 m/s, radius 2 mm) leaves; in the throat, of
# a quarter of the section, the jet is faster than four times that; the pressure before it is high.
a_narrowed_vessel_makes_a_jet() {
    run scenarios/stenosis.lua D=10 length=6 beats=0.1 -o "$work/stenosis" &&
        ! grep warning "$work/stenosis/run.log" &&
        within "$(most "$work/stenosis/flow.csv" flux)" 0.001588 0.00008 &&
        within "$(most "$work/stenosis/throat.csv" velocity_x)" 0.84 0.05 &&
        within "$(most "$work/stenosis/pressure.csv" pressure_1)" 257 20 &&
        within "$(result "$work/stenosis/run.json" wall.force_x_max)" 0.00298 0.0003
}

# The exact flow between any two open faces on coarse cells (a cell's Reynolds number of 30): what is
# unstable is far off or ends the run.
all_pairs_of_open_faces_hold() {
    for inlet in velocity "absorbing velocity" far_field pressure "absorbing pressure"; do
        for outlet in pressure "absorbing pressure" outflow; do
            run scenarios/open_duct.lua collision=hybrid cell=30 H=12 L=24 steps=1000 \
                inlet="$inlet" outlet="$outlet" -o "$work/pair" --force &&
                within "$(result "$work/pair/run.json" axis)" 0 0.05 || return 1
        done
    done
}

# In a round pipe the inlet swings by half. Where it gives the velocity it begins at once, with the
# fluid at rest.
open_faces_hold_in_a_pulsating_pipe() {
    while IFS=: read -r inlet outlet rest; do
        run scenarios/open_duct.lua collision=hybrid round=true cell=30 H=12 L=24 steps=1000 pulse=0.5 period=250 \
            inlet="$inlet" outlet="$outlet" "rest=$rest" -o "$work/pipe" --force </dev/null &&
            within "$(result "$work/pipe/run.json" fastest)" 1 0.1 || return 1
    done <<'END'
velocity:pressure:true
absorbing velocity:absorbing pressure:true
far_field:outflow:true
pressure:absorbing pressure:false
absorbing pressure:outflow:false
END
}

# 36 cells along the body have 3.595, and its front is 0.389 x 0.288 m.
a_car_has_drag() {
    run scenarios/windtunnel.lua cells=18 Re=200 time=4 width=1 height=0.8 length=3 -o "$work/car" &&
        within "$(result "$work/car/run.json" car.cd_mean)" 3.595 0.02 &&
        within "$(result "$work/car/run.json" car.force_y_mean)" 0 0.001 &&
        ! grep -q warning "$work/car/run.log" &&
        "$selenite" check scenarios/windtunnel.lua cells=87 width=0.8 height=0.6 length=3 --regions >"$work/regions" &&
        within "$(sed -n 's/.*frontal area \([0-9.]*\) x.*/\1/p' "$work/regions")" 0.112032 0.0025
}

# Eight cells from plate to middle. After the start, friction and gain of momentum are what the
# acceleration gives: 4.5e-6 in 5,408 cells.
a_channel_stays_turbulent_and_balances_momentum() {
    run scenarios/channel_turbulent.lua cells=8 time=12 from=4 -o "$work/channel" &&
        within "$(result "$work/channel/run.json" shear.force_x_mean)" 0.0142 0.003 &&
        within "$(awk -F, '$2 < 1340 || FNR == 1 { next } NR > FNR { if (!rows++) first = $3; last = $3; next }
            n++ { sum += (force + $3) / 2 * ($2 - time) } { force = $3; time = $2 } n == 1 { start = $2 }
            END { print (sum / 5408 + last - first) / (time - start) / 4.5e-6 }' \
            "$work/channel/shear.csv" "$work/channel/mean.csv")" 1 0.02
}

# Grains of 14 pixels have 19.54e-12 m2; Carman's law with c = 5: 30e-12.
a_stone_has_a_permeability() {
    mkdir "$work/stone" && "${PYTHON:-/usr/bin/python3}" tools/grains.py "$work/stone/%02d.png" 24 0.5 3.5 &&
        run scenarios/porous3d.lua "stack=$work/stone/%02d.png" nx=24 ny=24 nz=24 pixel=1e-5 -o "$work/flow" &&
        within "$(result "$work/flow/run.json" pores.permeability)" 19.54e-12 1e-12 &&
        within "$(result "$work/flow/run.json" pores.porosity)" 0.5 0.005 &&
        within "$(result "$work/flow/run.json" pores.tortuosity)" 1.21 0.02 &&
        within "$(result "$work/flow/run.json" pores.pore_velocity)" 1.4286e-4 2e-7
}

the_stone_is_what_its_program_makes() {
    mkdir "$work/planes" && "${PYTHON:-/usr/bin/python3}" tools/grains.py "$work/planes/plane_%02d.png" 48 0.5 7 &&
        diff -r "$work/planes" scenarios/porous3d
}

meshes_are_what_their_programs_make() {
    for mesh in ahmed vessel; do
        "${PYTHON:-/usr/bin/python3}" "tools/$mesh.py" "$work/$mesh.stl" &&
            cmp "$work/$mesh.stl" "scenarios/$mesh.stl" || return 1
    done
}

# Eight cells across; after a beat as much has come out as has gone in, the same through either
# branch. The steady flow between two beats has in the trunk the shear stress 4 mu Q / (pi R^3) and
# Poiseuille's fall of the pressure: with 20 cells 1.004 and 1.027 of them.
a_vessel_divides_its_flow() {
    run scenarios/vessel.lua D=8 u=0.1 -o "$work/vessel" &&
        ! grep warning "$work/vessel/run.log" &&
        within "$(awk -F, 'FNR == 1 { n++; next } { flow[n] += $3 } END { print -(flow[1] + flow[2]) / flow[3] }' \
            "$work/vessel/left.csv" "$work/vessel/right.csv" "$work/vessel/inlet.csv")" 1 0.02 &&
        within "$(awk "BEGIN { print $(result "$work/vessel/run.json" left.flux) / $(result "$work/vessel/run.json" right.flux) }")" 1 1e-5 &&
        within "$(result "$work/vessel/run.json" poiseuille)" 1.115 0.03 &&
        within "$(awk -F, -v flow="$(result "$work/vessel/run.json" inlet.flux)" '$1 != step { step = $1; area = force = 0 }
            $3 > 0.002 && $3 < 0.008 { area += $10; force += $7 * $10 }
            END { print force / area / (4 * 3.3e-6 * -flow / (3.14159265 * 0.002 ^ 3)) }' "$work/vessel/wall.csv")" 1.064 0.02
}

# shared_rows A B: rows of the same steps in two CSV files are the same.
shared_rows() {
    awk -F, 'NR == FNR { row[$1] = $0; next } !($1 in row) || $0 != row[$1] { print; bad = 1 }
        END { exit bad || FNR < 10 }' "$1" "$2"
}

# The force of a step alone changes by half of itself, and its sign with every step.
forces_do_not_depend_on_every() {
    run tests/checkpoint/foil.lua steps=800 from=400 -o "$work/foil" &&
        shared_rows "$work/foil/every_1.csv" "$work/foil/every_7.csv" &&
        shared_rows "$work/foil/every_1.csv" "$work/foil/every_20.csv" &&
        within "$(result "$work/foil/run.json" every_1.cd_mean)" \
            "$(result "$work/foil/run.json" every_20.cd_mean)" 0.01 &&
        [ "$(grep -c "warning: the force on 'foil' alternates: from one step to the next it changes by [0-9.]* %" \
            "$work/foil/run.log")" = 1 ] &&
        run tests/checkpoint/foil.lua steps=800 from=400 nu=0.02 -o "$work/viscous" &&
        ! grep alternates "$work/viscous/run.log"
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

# A row of cylinders in a force: what pressure and shear do to the surface of one, cell by cell, is the
# force on it.
pressure_and_shear_along_a_wall_add_up_to_its_force() {
    cat >"$work/along.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", size = { 48, 40 }, tau = 0.8, precision = "f64", periodic = { "x", "y" }, acceleration = { 1e-6, 0 },
  regions = { { name = "body", where = shape.ball { centre = { 20.3, 20.2 }, radius = 9.4 },
                law = law.wall { scheme = "interpolated" } } },
  stop = { steps = 6000 },
  output = { out.force { region = "body", every = 6000 },
             out.wall { region = "body", every = 6000,
                        field = { "pressure", "wall_shear", "wall_normal", "wall_area", "y_plus" } } },
}
END
    run "$work/along.lua" -o "$work/along" &&
        head -1 "$work/along/wall.csv" | grep -qx "step,time,x,y,z,pressure,wall_shear_x,wall_shear_y,\
wall_normal_x,wall_normal_y,wall_area,y_plus" &&
        friction=$(awk -F, '$1 == 6000 { sum += $7 * $11 } END { print sum }' "$work/along/wall.csv") &&
        all=$(awk -F, '$1 == 6000 { sum += ($7 - $6 * $9) * $11 } END { print sum }' "$work/along/wall.csv") &&
        force=$(value "$work/along/force.csv" force_x) && echo "friction $friction" &&
        within "$(awk -v a="$all" -v b="$force" 'BEGIN { print a / b }')" 1 0.05 &&
        awk -v a="$friction" -v b="$force" 'BEGIN { exit !(a > 0.2 * b && a < 0.8 * b) }'
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

every_example_runs() {
    for example in examples/*.lua; do
        run "$example" -o "$work/$(basename "$example" .lua)_example" || return 1
    done
}

embedding_from_c() {
    "$build/examples/c/embed" "$work/embed" && [ -s "$work/embed/vtk.pvd" ]
}

ok "every scenario may end after its first step" every_scenario_may_end_after_its_first_step
ok "Couette flow is exact" couette_is_exact
ok "Poiseuille flow is exact" poiseuille_is_exact
ok "permeability of a square array" porous_square_array_has_its_permeability
ok "the square duct has its largest velocity" duct_has_its_largest_velocity
ok "a cube keeps mass and symmetry" cube_keeps_mass_and_symmetry
ok "a sphere has drag" sphere_has_drag
ok "a cylinder in a free stream sheds vortices" a_cylinder_in_a_free_stream_sheds_vortices
ok "spheres in an array have the drag of the series" spheres_in_an_array_have_the_drag_of_the_series
ok "a round pipe has its flow rate" a_round_pipe_has_its_flow_rate
ok "a narrowed vessel makes a jet" a_narrowed_vessel_makes_a_jet
ok "all pairs of open faces hold" all_pairs_of_open_faces_hold
ok "open faces hold in a pulsating pipe" open_faces_hold_in_a_pulsating_pipe
ok "a car has drag" a_car_has_drag
ok "a stone has a permeability" a_stone_has_a_permeability
ok "a channel stays turbulent and balances momentum" a_channel_stays_turbulent_and_balances_momentum
ok "meshes are what their programs make" meshes_are_what_their_programs_make
ok "the stone is what its program makes" the_stone_is_what_its_program_makes
ok "a vessel divides its flow" a_vessel_divides_its_flow
ok "a cube answers to its oscillating lid" oscillating_cube_answers
ok "ABC flow decays as it should" abc_flow_decays
ok "a plate decays as its grid says" a_plate_decays_as_its_grid_says
ok "a plate stops when its mean stands still" a_plate_stops_when_its_mean_stands_still
ok "a wall of two materials is two layers" a_wall_of_two_materials_is_two_layers
ok "a bell spreads as its grid says" a_bell_spreads_as_its_grid_says
ok "a heat sink gives off what its chip gives" a_heat_sink_gives_off_what_its_chip_gives
ok "a coaxial line has its capacitance" a_coaxial_line_has_its_capacitance
if "${PYTHON:-/usr/bin/python3}" -c 'import numpy' 2>/dev/null; then
    ok "a potential is that of numpy.fft" a_potential_is_that_of_numpy_fft
else
    echo "ok a potential is that of numpy.fft # SKIP needs numpy (python3-numpy)"
fi
if "${PYTHON:-/usr/bin/python3}" -c 'import vtkmodules.vtkIOImage' 2>/dev/null; then
    ok "residuals are drawn over the iterations" residuals_are_drawn_over_the_iterations
    ok "conductors are drawn at their temperature" conductors_are_drawn_at_their_temperature
else
    echo "ok residuals are drawn over the iterations # SKIP needs VTK (python3-vtk9)"
fi
ok "a pulse passes on a plane" a_pulse_passes_on_a_plane
ok "a bowl comes to its level" a_bowl_comes_to_its_level
ok "depressions fill to their brims" depressions_fill_to_their_brims
ok "the valley is what its program makes" the_valley_is_what_its_program_makes
ok "terrain is edited and keeps its gaps and its map" terrain_is_edited_and_keeps_its_gaps_and_its_map
ok "check sums up the rain" check_sums_up_the_rain
ok "a grid that looks like degrees is warned of" a_grid_that_looks_like_degrees_is_warned_of
ok "deep water in run-off is warned of" deep_water_in_run_off_is_warned_of
ok "a storm runs on files beside the user" a_storm_runs_on_files_beside_the_user
valley=scenarios/valley.asc
ok "a storm's water is all there" aqua storm_balance "$work/storm" $valley scenarios/storm.csv
ok "a storm's flood comes and passes" aqua storm_hydrograph "$work/storm" 3000
ok "a storm fills its pond" aqua storm_pond "$work/storm" $valley
ok "a storm's grids lie on its valley" aqua storm_grids "$work/storm" $valley 0.1
ok "rain on a slope is as deep as Manning's formula says, at any time step" film_has_mannings_depth
ok "forces do not depend on every, and alternation is warned of" forces_do_not_depend_on_every
ok "profiles meet solid walls as they meet faces" profiles_meet_solids_as_faces
ok "mass between an inlet and an outlet" faces_conserve_mass
ok "pressure and shear along a wall add up to its force" pressure_and_shear_along_a_wall_add_up_to_its_force
ok "a small expansion reattaches" small_expansion_reattaches
ok "the lattice of the thesis" thesis_numbers_run
ok "regions of one name count together" regions_of_one_name_count_together
ok "every example runs" every_example_runs
ok "the engine from C" embedding_from_c
