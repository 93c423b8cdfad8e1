# shellcheck shell=sh disable=SC2154
# fields.sh -- heat, potentials and diffusion against what is known of them.
# Read by run.sh, whose functions these use.

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
