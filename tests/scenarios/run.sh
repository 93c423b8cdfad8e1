#!/bin/sh
# run.sh -- flows and run-off from the command line against what is known of them. Prints TAP.
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

# 20 mm/h for two hours: 890 m down a slope of 5 % the depth is (r x n / sqrt(S))^(3/5).
film_has_mannings_depth() {
    for max in 10 3 0.5; do
        run scenarios/flood_channel.lua case=rain dx=10 slope=0.05 n=0.05 "max=$max" -o "$work/film" --force &&
            within "$(awk -F, '$4 == 885 { depth = $7 } END { print depth }' "$work/film/axis.csv")" \
                0.016833 0.00003 || return 1
    done
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

# Half a wave, D = 1/4: each step multiplies it by cos(pi / 16).
a_plate_decays_as_its_grid_says() {
    run scenarios/heat2d_plate.lua N=17 hot=sine epsilon=0 steps=200 precision=f64 \
        -o "$work/plate_sine" &&
        within "$(result "$work/plate_sine/run.json" centre)" 2.0643715673 1e-9
}

# With 33 nodes a step changes the mean by 1e-5 when the centre is 0.005 below 25.
a_plate_stops_when_its_mean_stands_still() {
    run scenarios/heat2d_plate.lua N=33 precision=f64 -o "$work/plate_edge" &&
        grep -q '"stopped_by": "mean_change"' "$work/plate_edge/run.json" &&
        within "$(result "$work/plate_edge/run.json" centre)" 25 0.01 &&
        within "$(result "$work/plate_edge/run.json" balance.error)" 0 1e-9
}

# 16 wide; 4.5 of the conductivity 0.225 and 11.5 of 0.025 between 100 and 0: 16 * 100 / 480.
a_wall_of_two_materials_is_two_layers() {
    run scenarios/heat2d_two_materials.lua N=17 boundary_row=5 differ=conductivity sides=insulated \
        -o "$work/wall" &&
        within "$(result "$work/wall/run.json" balance.in_top)" 3.3333333333 1e-9
}

a_bell_spreads_as_its_grid_says() {
    run scenarios/heat3d_bell.lua nx=16 ny=12 nz=8 -o "$work/bell" &&
        within "$(result "$work/bell/run.json" error_discrete)" 0 1e-13 &&
        within "$(result "$work/bell/run.json" drift)" 0 1e-15
}

a_heat_sink_gives_off_what_its_chip_gives() {
    run scenarios/heat_sink.lua fins=3 height=15 h=500 -o "$work/sink" &&
        within "$(result "$work/sink/run.json" balance.rate)" 0 0.1 &&
        within "$(result "$work/sink/run.json" efficiency)" \
            "$(result "$work/sink/run.json" efficiency_formula)" 0.002
}

# In SI units: inner radius 32 cells.
a_coaxial_line_has_its_capacitance() {
    run scenarios/electrodes.lua -o "$work/line" &&
        awk -v q="$(result "$work/line/run.json" balance.in_inner)" \
            -v c="$(result "$work/line/run.json" exact_capacitance)" \
            'BEGIN { print q / 100, c; d = q / 100 / c - 1; exit !(c > 0 && d * d < 0.02 ^ 2) }'
}

# Sums of sines: the odd image of the right-hand side makes of it a periodic problem.
a_potential_is_that_of_numpy_fft() {
    cat >"$work/square.lua" <<'LUA'
local sel = require "selenite"
return sel.poisson {
  size = { 33, 33 }, dx = 1 / 32, layout = "node", tolerance = 1e-12,
  rhs = function(x, y) return math.sin(40 * x * x) * math.cos(50 * y) end,
  regions = { { name = "edge", where = sel.shape.faces, law = sel.law.fixed { 0 } } },
  output = { sel.out.profile { field = "potential", from = { 0, 0.40625 }, to = { 1, 0.40625 } } },
}
LUA
    run "$work/square.lua" -o "$work/square" && "${PYTHON:-/usr/bin/python3}" - "$work/square" <<'END'
import csv, sys
import numpy as np
N = 32
x = np.arange(1, N) / N
f = np.zeros((2 * N, 2 * N))
f[1:N, 1:N] = np.sin(40 * x * x)[None, :] * np.cos(50 * x)[:, None]
f[N + 1:, :] = -f[N - 1:0:-1, :]
f[:, N + 1:] = -f[:, N - 1:0:-1]
k = (2 * np.cos(np.pi * np.arange(2 * N) / N) - 2) * N * N
k = k[None, :] + k[:, None]
k[0, 0] = 1
phi = np.fft.ifft2(np.fft.fft2(f) / k).real[13, :N + 1]
rows = list(csv.DictReader(open(sys.argv[1] + "/profile.csv")))
found = np.array([float(row["potential"]) for row in rows])
worst = abs(found - phi).max() / abs(phi).max()
print("difference", worst)
assert len(found) == N + 1 and worst < 1e-9
END
}

# Grey from 20 (black) to 80 (white): a rod held at 80 is white, and no solid, which are (150, 150, 150).
conductors_are_drawn_at_their_temperature() {
    cat >"$work/rod.lua" <<'END' || return
local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.heat { size = { 32, 16 }, diffusivity = 0.1, stop = { steps = 5 },
  initial = { temperature = 20 },
  regions = { { where = shape.faces, law = law.fixed { 20 } },
    { where = shape.ball { centre = { 16, 8 }, radius = 3 }, law = law.fixed { 80 } } },
  output = { sel.out.picture { field = "temperature", colours = "grey", min = 20, max = 80 } } }
END
    run "$work/rod.lua" -o "$work/rod" &&
        "${PYTHON:-/usr/bin/python3}" - "$work/rod/picture/picture_00000005.png" <<'END'
import sys
from vtkmodules.vtkIOImage import vtkPNGReader
reader = vtkPNGReader()
reader.SetFileName(sys.argv[1])
reader.Update()
image = reader.GetOutput()
width, height, _ = image.GetDimensions()
colours = [image.GetScalarComponentAsDouble(width * part // 4, height // 2, 0, 0) for part in (1, 2)]
assert colours[0] < 100 and colours[1] == 255, colours
END
}

# A mark at each row of balance.csv: iterations to the right, powers of ten upwards.
residuals_are_drawn_over_the_iterations() {
    run scenarios/poisson2d.lua N=100 -o "$work/history" &&
        grep -q '"balance.png"' "$work/history/run.json" &&
        "${PYTHON:-/usr/bin/python3}" - "$work/history" <<'END'
import csv, math, sys
from vtkmodules.vtkIOImage import vtkPNGReader
reader = vtkPNGReader()
reader.SetFileName(sys.argv[1] + "/balance.png")
reader.Update()
image = reader.GetOutput()
rows = list(csv.DictReader(open(sys.argv[1] + "/balance.csv")))
end, low = int(rows[-1]["step"]), 10
assert image.GetDimensions() == (960, 640, 1) and 4 <= end <= 8 and len(rows) == end + 1
for row in rows:
    x = 110 + 820 * int(row["step"]) / end
    y = 570 - 530 * (math.log10(float(row["residual"])) + low) / low
    colour = [image.GetScalarComponentAsDouble(round(x), 639 - round(y), 0, c) for c in range(3)]
    print(row["step"], row["residual"], round(x), round(y), colour)
    assert colour == [0, 90, 160]
END
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

# A discharge or rain that is more than a film carries, of 3/4 alpha dx^2/dt times the slope, piles up.
deep_water_in_run_off_is_warned_of() {
    cat >"$work/river.lua" <<'LUA'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local p = sel.params { dx = 10, q = 0, rain = 0, slope = 0.002, ny = 3, point = false, out = "open", soil = 0 }
local dx, width = p.dx, p.ny * p.dx
local laws = { open = law.open {}, level = law.level { 8 }, wall = law.wall {} }
return sel.aqua {
  ground = function(x) return 10 - p.slope * x end, size = { 1000 // dx, p.ny }, dx = dx, alpha = 0.2, dt = 0.2 * dx,
  depth_limit = 500, equilibrium = "mindiff", rain = p.rain, infiltration = p.soil,
  sources = p.q > 0 and { p.point and { name = "spring", at = { dx / 2, width / 2 }, discharge = p.q * width }
    or { where = shape.box { min = { 0, 0 }, max = { dx, width } }, discharge = p.q * width } } or nil,
  regions = { { name = "walls", where = shape.faces, law = law.wall {} },
              { name = "outlet", where = shape.face "x+", law = laws[p.out] } },
  stop = { steps = 10 },
}
LUA
    while read -r told arguments; do
        # shellcheck disable=SC2086  # words
        "$selenite" check "$work/river.lua" $arguments --backend "$backend" >"$work/river.txt" || return 1
        if [ "$told" = nothing ]; then
            ! grep warning "$work/river.txt" || { echo "$arguments"; return 1; }
        else
            grep "warning.*would stand about $told.*flood.lua has roughness" "$work/river.txt" ||
                { echo "$arguments"; cat "$work/river.txt"; return 1; }
        fi
    done <<'END'
265.m.deep.in.the.end.(after.37.h) q=2
131.m.deep.in.the.end.(after.18.5.h) q=2 dx=20
265.m.deep.in.the.end.(after.37.h) q=2 out=level
1.33.m.deep q=0.025
nothing q=0.014
nothing q=2 out=wall
nothing q=2 slope=-0.01
1.2.m.deep rain=100 slope=0.0025
nothing rain=100 slope=0.01
nothing rain=100 slope=0.0025 soil=60
nothing q=0.014 ny=30 point=true slope=0.02
89.m.deep q=0.5 ny=30 point=true
nothing q=5e-5 slope=0
0.133.m.deep q=0.001 slope=0
END
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
