#!/bin/sh
# run.sh -- several ranks give the same files as one, byte for byte, and share its memory. Prints TAP.
# usage: BUILD=build run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/ranks/common.sh
counts=${RANKS:-2 3 4}
most=$counts

# shared SCENARIO ARGUMENTS...: by one rank and by several, on one thread and on two, the same.
shared() {
    rm -rf "$work/one"
    run "$@" -o "$work/one" || return 1
    for ranks in $counts; do
        rm -rf "$work/many"
        run "$@" --ranks "$ranks" --threads $((1 + (ranks == 2))) -o "$work/many" || return 1
        same "$work/one" "$work/many" || { echo "in $ranks ranks"; return 1; }
    done
}

# boxes SCENARIO ARGUMENTS...: of a grid in 3-D, whose planes several ranks share.
boxes() {
    rm -rf "$work/one"
    run "$@" -o "$work/one" || return 1
    for way in '2 2' '3 3' '4 2'; do
        rm -rf "$work/many"
        cut_in "${way#* }" run "$@" --ranks "${way% *}" \
            --threads $((1 + (${way% *} == 2))) -o "$work/many" || return 1
        same "$work/one" "$work/many" || { echo "in $way ranks"; return 1; }
    done
}

# What four ranks have saved others go on with. across: ranks beside each other along y, empty: what
# fits.
across=
goes_on() {
    scenario=tests/checkpoint/$1.lua
    shift
    rm -rf "$work/one" "$work/four"
    run "$scenario" steps=150 save=77 "$@" -o "$work/one" &&
        cut_in "$across" run "$scenario" steps=77 save=77 "$@" --ranks 4 -o "$work/four" || return 1
    for ranks in 1 2 3; do
        rm -rf "$work/many"
        cp -r "$work/four" "$work/many"
        run "$scenario" steps=150 save=77 "$@" --ranks $ranks -o "$work/many" --resume || return 1
        same "$work/one" "$work/many" '*.sel' || { echo "in $ranks ranks"; return 1; }
    done
}

# A law that holds in some ranks alone: the others have no values of it, and save the same fields.
in_a_corner() {
    rm -rf "$work/one"
    run "$work/corner.lua" steps=20 -o "$work/one" || return 1
    for ranks in $counts; do
        rm -rf "$work/many"
        run "$work/corner.lua" steps=10 --ranks "$ranks" -o "$work/many" &&
            run "$work/corner.lua" steps=20 --ranks 2 -o "$work/many" --resume || return 1
        same "$work/one" "$work/many" '*.sel' || { echo "in $ranks ranks"; return 1; }
    done
}

# One number of ranks for what differs in its numbers only.
fewer=$(echo "$counts" | cut -d' ' -f2)

# On a processor tests/random has both.
precisions=f32
[ "$backend" = cpu ] || precisions='f32 f64'
for precision in $precisions; do
    [ "$precision" = f32 ] || counts=$fewer
    ok "a channel with laws in time, all outputs, $precision" \
        shared tests/checkpoint/channel.lua steps=150 --precision "$precision"
    ok "forces near tau 1/2, $precision" shared tests/checkpoint/foil.lua steps=100 --precision "$precision"
    ok "a box in 3-D with a body force and moving walls, $precision" \
        shared tests/checkpoint/box.lua steps=60 --precision "$precision"
    ok "a storm with open edges, levels and sources, all outputs, $precision" \
        shared tests/checkpoint/storm.lua steps=120 --precision "$precision"
    ok "a plate with laws and a source in time, all outputs, $precision" \
        shared tests/checkpoint/plate.lua steps=120 --precision "$precision"
    ok "a slab of nodes, periodic along z, $precision" \
        shared tests/checkpoint/plate.lua layout=node deep=9 steps=60 --precision "$precision"
    ok "rules with all that varies, $precision" \
        shared tests/checkpoint/rule.lua steps=90 --precision "$precision"
done
counts=$most
ok "a checkpoint of four ranks goes on in one, two and three: channel with a sponge" goes_on channel sponge=12
for scenario in storm rule; do
    ok "a checkpoint of four ranks goes on in one, two and three: $scenario" goes_on $scenario
done
ok "boxes of a flow, periodic in all axes" boxes scenarios/taylor_green3d.lua N=12 time=2 collision=trt
ok "boxes of a flow that stores moments" boxes scenarios/taylor_green3d.lua N=12 time=2
ok "boxes with a body force and moving walls, all outputs" boxes tests/checkpoint/box.lua steps=60
ok "boxes that store moments, with a body force and moving walls, all outputs" \
    boxes tests/checkpoint/box.lua steps=60 collision=hybrid
ok "boxes with interpolated walls, all outputs" boxes tests/checkpoint/rollers.lua steps=140
ok "boxes that store moments, with interpolated walls" \
    boxes tests/checkpoint/rollers.lua steps=140 collision=recursive
ok "boxes with parabolic walls that move" \
    boxes tests/checkpoint/box.lua steps=60 collision=hybrid scheme=parabolic
ok "boxes that store populations, with parabolic walls" \
    boxes tests/checkpoint/box.lua steps=60 collision=recursive scheme=parabolic --storage populations
ok "a channel that stores moments, with laws in time and a sponge, all outputs" \
    shared tests/checkpoint/channel.lua steps=150 collision=hybrid sponge=12
ok "boxes of a plate with laws and a source in time, all outputs" \
    boxes tests/checkpoint/plate.lua deep=24 steps=60
ok "boxes of nodes, f64" boxes tests/checkpoint/plate.lua layout=node deep=9 steps=60 --precision f64
ok "boxes of rules, all outputs" boxes tests/checkpoint/rule.lua deep=9 steps=60
ok "a checkpoint of four boxes goes on in one, two and three: plate" goes_on plate deep=9
across=2
ok "a checkpoint of four boxes goes on in one, two and three: box" goes_on box
ok "a checkpoint of four boxes goes on in one, two and three: rollers" goes_on rollers
across=
ok "a flow rate that is held" shared tests/checkpoint/drive.lua steps=150
ok "rules in 3-D, periodic along y" shared tests/checkpoint/rule.lua deep=9 steps=60
ending "steps = 20000, steady = 0.1, every = 500" scenarios/porous2d.lua \
    "picture = '$PWD/scenarios/porous2d_square.png'" >"$work/porous.lua"
ok "solids in most cells" shared "$work/porous.lua"
ok "run-off by scatter" shared tests/checkpoint/storm.lua steps=60 scheme=scatter
counts=2 ok "run-off between periodic edges, mindiff" \
    shared scenarios/aqua_wave.lua N=48 steps=200 equilibrium=mindiff
counts=$most
# Ground that stands high above 0, where what is left out shows.
cat >"$work/still.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { soil = false, sea = false, holes = false }
local function raise(run) run:set("level", 5.3 + 0.01 * run.step) end
local regions = {
  { name = "sea", where = shape.face "y-", law = law.level { function(x, level) return level + 0.01 * math.sin(x) end } },
  { name = "out", where = shape.face "y+", law = law.open {} },
}
local holes = { -- they touch the ends of y, where the first rank is beside the last
  { name = "left", where = shape.face "x-", law = law.open {} },
  { name = "right", where = shape.face "x+", law = law.level { function(y) return 5.5 + 0.1 * math.sin(y) end } },
  { name = "hole", where = shape.box { min = { 20, 88 }, max = { 30, 90 } }, law = law.open {} },
}
return sel.aqua {
  size = { 60, 90 }, dt = 0.5, alpha = 0.2, stop = { steps = 80 },
  periodic = p.sea and { "x" } or p.holes and { "y" } or { "x", "y" },
  ground = function(x, y) return 5 + 0.5 * math.sin(x / 5) * math.cos(y / 7) end,
  initial = { depth = function(x, y) return 0.4 + 0.3 * math.sin(0.7 * x + y) end }, infiltration = p.soil and 20 or nil,
  controls = p.sea and { level = 5.3 } or {}, regions = p.sea and regions or p.holes and holes or {},
  hooks = p.sea and { { every = 30, call = raise } } or {},
  output = { out.balance { every = 30 }, out.vtk { fields = { "depth" }, every = 7 } },
}
END
cat >"$work/river.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.aqua {
  ground = function(x, y) return 10 - 0.002 * x + 0.0001 * y end, size = { 100, 60 }, dx = 10, alpha = 0.2, dt = 2, depth_limit = 500, rain = 100,
  equilibrium = "mindiff", sources = { { name = "a", where = shape.box { min = { 0, 0 }, max = { 10, 600 } }, discharge = 30 }, { at = { 100, 500 }, discharge = 20 } },
  regions = { { name = "walls", where = shape.faces, law = law.wall {} }, { name = "outlet", where = shape.face "x+", law = law.open {} } },
  stop = { steps = 10 },
}
END
ok "run-off of more water than films carry, with its warnings" shared "$work/river.lua"
ok "run-off without rain around both axes, f32" shared "$work/still.lua" soil=true
ok "run-off without rain around both axes, f64" shared "$work/still.lua" --precision f64
ok "run-off without rain around one axis, above a sea" shared "$work/still.lua" sea=true
ok "run-off out of holes around one axis" shared "$work/still.lua" holes=true

ok "a plate that is periodic across the ranks" \
    shared tests/checkpoint/plate.lua around=1 laws=control steps=200
ok "a plate far from 0 degrees" shared tests/checkpoint/plate.lua base=300 steps=60
ok "a plate that stops by the change of its mean" \
    shared tests/checkpoint/plate.lua body=uniform laws=still mean=1.2e-3 steps=4000 --precision f64
cat >"$work/warm.lua" <<'END'
-- Nodes of given temperature on a face across the ranks: what enters through them, from the start on.
local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.heat {
  size = { 12, 24 }, layout = "node", dt = 0.05,
  conductivity = function(x) return 1 + 0.05 * x end, capacity = 1,
  initial = { temperature = function(x, y) return math.sin(0.7 * x) * math.cos(0.4 * y) end },
  regions = {
    { name = "rest", where = shape.faces, law = law.insulated {} },
    { name = "warm", where = shape.face "x-", law = law.fixed(function(y) return y * y end) },
  },
  stop = { steps = 2 },
  output = { sel.out.balance { every = 1 } },
}
END
ok "heat that enters through nodes before the first step" shared "$work/warm.lua"
ok "a plate that takes several steps in a pass" \
    shared scenarios/heat2d_plate.lua N=300 hot=spot epsilon=0 steps=40

cat >"$work/derived.lua" <<'END'
local sel = require "selenite"
return sel.rule {
  size = { 300, 40 }, periodic = { "x", "y" }, state = { u = "real", v = "real" }, main = "u", stop = { steps = 9 },
  initial = { u = function(x, y) return math.sin(x + y * y) end }, rule = function(c) return { u = c.u / 2, v = c.u } end,
  derived = { far = function(c) return c(0, 2).u - c(1, -2).v end }, output = { sel.out.vtk { fields = { "far" }, every = 2 } },
}
END
ok "rules with the coordinates of a map" shared tests/runs/map_coordinates.lua
ok "rules with a derived field that alone looks beside" shared "$work/derived.lua"

cat >"$work/corner.lua" <<'END'
local sel = require "selenite"
local p = sel.params { steps = 20 }
local pulse = sel.law.fixed { function(t) return math.sin(t) end }
return sel.rule {
  size = { 40, 36 }, periodic = { "x", "y" }, state = { u = "real", v = "real" }, main = "u", stop = { steps = p.steps },
  regions = { { where = sel.shape.box { min = { 2, 2 }, max = { 6, 6 } }, law = { u = pulse } } },
  rule = function(c) return { u = c.u + 0.2 * (c(1, 0).u + c(0, -1).u - 2 * c.u), v = c.v + c.u } end,
  output = { sel.out.vtk { fields = { "u", "v" }, every = 5 }, sel.out.checkpoint { every = 10 } },
}
END
ok "rules under a law in one corner go on from a checkpoint" in_a_corner

# Rules that take several steps in a pass on a device; `hole` and `parts`, a law that changes where
# one of three ranks begins, keep them from it in some ranks only; outputs in some steps.
cat >"$work/march.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { how = "periodic", bytes = false, ny = 200, steps = 52 }
local function spread(c, name)
  return c(1, 0)[name] + c(-1, 0)[name] + c(0, 1)[name] + c(0, -1)[name] - 4 * c[name]
end
local function react(c)
  local rate = c.u * c.v * c.v
  return { u = c.u + 0.16 * spread(c, "u") - rate + 0.03 * (1 - c.u), v = c.v + 0.08 * spread(c, "v") + rate - 0.09 * c.v }
end
local function life(c)
  local n = -c.u
  for dy = -1, 1 do for dx = -1, 1 do n = n + c(dx, dy).u end end
  return (n == 3 or n == 2 and c.u == 1) and 1 or 0
end
local function noise(x, y) return sel.noise(3, x / 5, y / 5) end
local regions = {
  { where = shape.faces, law = law.fixed { p.bytes and 1 or 0.5 } },
  { where = shape.face "y+", law = law.mirror {} },
}
if not p.bytes then
  regions[3] = { where = shape.face "x-", law = law.fixed { 0.25, at = "face" } }
  regions[4] = { where = shape.face "y-", law = law.gradient { 0.125 } }
end
if p.how == "parts" then
  regions[#regions + 1] = { where = shape.face "x+" * shape.box { min = { 0, 67 }, max = { 150, 300 } }, law = law.mirror {} }
elseif p.how == "hole" then
  regions[#regions + 1] = { where = shape.ball { centre = { 60, 180 }, radius = 5 }, law = law.wall {} }
end
return sel.rule {
  size = { 150, p.ny }, main = "u", stop = { steps = p.steps },
  periodic = p.how == "periodic" and { "x", "y" } or {}, regions = p.how ~= "periodic" and regions or {},
  state = p.bytes and { u = "u8" } or { u = "real", v = "real" }, rule = p.bytes and life or react,
  initial = p.bytes and { u = function(x, y) return noise(x, y) > 0 and 1 or 0 end } or
    { u = noise, v = function(x, y) return noise(y, x) end },
  output = { out.balance { every = 30 }, out.vtk { fields = p.bytes and { "u" } or { "u", "v" }, every = 49 } },
}
END
[ "$backend" = cuda ] || counts=2 # a processor takes one step after the other
ok "rules that march, periodic" shared "$work/march.lua" ny=580
ok "rules that march between laws" shared "$work/march.lua" how=laws --precision f64
ok "rules that march, of bytes" shared "$work/march.lua" bytes=true
ok "rules that march, of bytes between laws" shared "$work/march.lua" how=laws bytes=true

# One rank marches, three do not: beyond a gradient of 0 is the mirror image, of -0, too.
cat >"$work/zero.lua" <<'END'
local sel = require "selenite"
return sel.rule {
  size = { 150, 150 }, state = { u = "real" }, initial = { u = -0.0 }, stop = { steps = 40 },
  regions = { { where = sel.shape.faces, law = sel.law.gradient { 0 } } }, rule = function(c) return -c(-1, 0).u end,
  output = { sel.out.vtk { fields = { "u" }, every = 39 } },
}
END
ok "rules that march beside gradients of 0" shared "$work/zero.lua"
[ "$backend" = cuda ] && counts=$fewer
for how in parts hole; do
    ok "rules that march in some ranks: $how" shared "$work/march.lua" how=$how
done
counts=$most

# What shares the levels of multigrid, which two of these grids have several of.
potential=tests/checkpoint/potential.lua
for method in multigrid jacobi gauss_seidel sor conjugate_gradient; do
    ok "a potential, even: $method" shared $potential body=even method=$method tolerance=3e-2
    ok "a potential about a hole: $method" shared $potential method=$method tolerance=3e-2
    counts=$fewer
done
counts=$most
ok "a potential on many cells" shared $potential body=even times=7
counts=2
ok "a potential on tall cells, of which no level has fewer planes" shared $potential times=5 tall=2
ok "a potential on tall cells in 3-D" shared $potential body=even deep=40 tall=2
cat >"$work/large.lua" <<'END'
local sel = require "selenite"
return sel.poisson {
  size = { 160, 120, 120 }, rhs = function(x, y, z) return math.sin(0.2 * x + 0.1 * y) * math.cos(0.3 * z) end,
  regions = { { where = sel.shape.faces, law = sel.law.fixed { 0 } } }, tolerance = 1e-6,
  output = { sel.out.balance { every = 1 }, sel.out.vtk { fields = { "potential" }, stride = 8 } },
}
END
ok "a potential that is worth several devices" shared "$work/large.lua"
ok "boxes of a potential that are worth several devices" boxes "$work/large.lua"
ok "boxes of a potential, even" boxes $potential body=even deep=40
ok "boxes of nodes about a hole" boxes $potential layout=node deep=66
counts=$most
ok "a potential about a hole in many nodes" shared $potential layout=node times=7
ok "a potential that is periodic across the ranks" shared $potential body=even deep=64
ok "a potential about a hole, periodic across the ranks" shared $potential deep=65
ok "nodes that are periodic across the ranks" shared $potential layout=node deep=66
ok "a potential on fewer planes than ranks need of each other" shared $potential layout=node deep=9
ok "a potential in grains" shared $potential jump=1e4 times=3
ok "a potential in grains and nodes" shared $potential jump=1e4 layout=node deep=66
ok "a potential that nothing fixes" shared $potential body=even free=1 times=6
ok "a potential that nothing fixes, about a hole" shared $potential free=1
plate=tests/checkpoint/plate.lua
set -- $plate scheme=backward_euler laws=still
ok "implicit conduction, backward_euler" shared "$@" steps=60
ok "implicit conduction between even faces, backward_euler" shared "$@" steps=60 body=uniform
ok "implicit conduction across the ranks, backward_euler" \
    shared "$@" layout=node around=1 deep=65 steps=3
ok "boxes of implicit conduction, backward_euler" boxes "$@" layout=node around=1 deep=65 steps=3
counts=$fewer
ok "boxes that are periodic along z, and along y with an odd number of rows" \
    boxes $plate scheme=backward_euler laws=still layout=node around=1 deep=17 steps=5
counts=$most

# What three ranks have saved two go on with.
potential_goes_on() {
    rm -rf "$work/one" "$work/many"
    run $potential "$@" save=2 -o "$work/one" &&
        exits 3 run $potential "$@" most=4 save=2 --ranks 3 -o "$work/many" &&
        run $potential "$@" save=2 --ranks 2 -o "$work/many" --resume &&
        same "$work/one" "$work/many" '*.sel'
}
ok "cycles of three ranks go on in two" potential_goes_on body=even
ok "conjugate directions of three ranks go on in two" potential_goes_on

by_mpich() {
    rm -rf "$work/one" "$work/many"
    run tests/checkpoint/channel.lua steps=150 -o "$work/one" &&
        mpiexec.mpich -n 3 "$selenite" run tests/checkpoint/channel.lua steps=150 --threads 1 \
            --quiet --backend "$backend" -o "$work/many" && same "$work/one" "$work/many"
}
if [ -e "$build/selenite_mpich.so" ] && command -v mpiexec.mpich >/dev/null; then
    ok "MPICH" by_mpich
else
    echo 'ok MPICH # SKIP it is not here'
fi

# ---- images that all ranks write ----

image=$PWD/tests/ranks/image.lua
counts='2 3 4 7' ok "images, compressed, rounded, coarse and in part" shared "$image"
counts='2 3 4 7' ok "images of nodes" shared "$image" layout=node

# Ranks that do not see the directory of rank 0 have others write.
elsewhere() {
    rm -rf "$work/one" "$work/here" "$work/there"
    mkdir "$work/here" "$work/there"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    set -- "$selenite" run "$image" --threads 1 --quiet --backend "$backend" -o out
    run "$image" -o "$work/one" &&
        mpirun --oversubscribe -n 1 -wdir "$work/here" "$@" : -n 1 -wdir "$work/there" "$@" : \
            -n 1 -wdir "$work/here" "$@" : -n 1 -wdir "$work/there" "$@" &&
        same "$work/one" "$work/here/out" && [ -z "$(ls "$work/there")" ]
}
ok "ranks without the directory of the run" elsewhere

# ---- what there is ----

listed() {
    "$selenite" check tests/checkpoint/channel.lua --ranks 3 --backend cpu >"$work/said" &&
        grep -q '^  rank 2 .* y from 11 to 15, 240 free, memory .*, halos 13.8 kB per exchange' \
            "$work/said" && grep -qE '^  efficiency +[0-9]+ % on this machine, [0-9]+ % on 3 ' "$work/said"
}
ok "check says what ranks would have" listed

listed_boxes() {
    cut_in 2 "$selenite" check scenarios/cavity3d.lua N=20 --ranks 6 --backend cpu >"$work/said" &&
        grep -q '^  rank 3 .* z from 7 to 13, y from 10 to 19, 1400 free, memory .*, halos .* per exchange' \
            "$work/said"
}
ok "check says what boxes would have" listed_boxes

# Four ranks of a body with a source have a third of its memory each, or less.
memory_falls() {
    for ranks in 1 4; do
        "$selenite" check "$image" --ranks $ranks --backend cpu >"$work/said.$ranks" || return 1
    done
    one=$(sed -n 's/^  memory  *\([0-9.]*\) MB of.*/\1/p' "$work/said.1")
    four=$(sed -n 's/^  rank 3 .*memory \([0-9.]*\) kB.*/\1/p' "$work/said.4")
    echo "$one MB, $four kB"
    awk "BEGIN { exit !($four * 3 < $one * 1000) }"
}
ok "the memory of a rank falls with their number" memory_falls

# Moving walls at most links of a flow, with their forces and balance: four ranks have 0.3 of the
# memory each, or less.
links_are_divided() {
    cat >"$work/rods.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local rods = shape.inside(function(x, y) return math.floor(x) % 2 == 0 and math.floor(y) % 2 == 0 end)
return sel.lbm {
  lattice = "D3Q19", size = { 48, 48, 96 }, nu = 0.1, periodic = { "x", "y", "z" },
  regions = { { name = "rods", where = rods, law = law.wall { velocity = function(x) return 0, 0, 0.01 * math.sin(x) end } } },
  stop = { steps = 2 }, output = { out.force { region = "rods", every = 1 }, out.balance { every = 1 } },
}
END
    "$selenite" check "$work/rods.lua" --ranks 4 --backend cpu >"$work/said" || return 1
    one=$(sed -n 's/^ *memory  *\([0-9.]*\) MB of.*/\1/p' "$work/said")
    four=$(sed -n 's/^ *rank 0 .* memory \([0-9.]*\) MB,.*/\1/p' "$work/said")
    echo "$one MB, $four MB"
    awk "BEGIN { exit !($four < 0.3 * $one) }"
}
ok "the memory of a rank falls with their number: links" links_are_divided

# What a process takes, kB: the largest of those that a command starts.
takes() {
    "${PYTHON:-/usr/bin/python3}" - "$@" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}

# A ground of 72 MB: four ranks take a part of it each.
ground_is_divided() {
    cat >"$work/ground.lua" <<'END'
local sel = require "selenite"
return sel.aqua {
  size = { 3000, 3000 }, dt = 0.1, alpha = 0.1, ground = function(x, y) return 10 + 0.01 * x + math.sin(0.01 * y) end,
  regions = { { where = sel.shape.faces, law = sel.law.open {} } }, stop = { steps = 1 },
}
END
    one=$(takes "$selenite" run "$work/ground.lua" --threads 1 --quiet --backend cpu -o "$work/other") &&
        four=$(takes "$selenite" run "$work/ground.lua" --ranks 4 --threads 1 --quiet --backend cpu \
            -o "$work/other" --force) || return 1
    echo "$one kB, $four kB"
    [ $((four * 2)) -lt "$one" ]
}
ok "four ranks keep parts of a ground" ground_is_divided

# Of a body whose surfaces take as much memory as its cells do, and regions of which no page is free:
# four ranks take a third of it each, or less.
surfaces_are_divided() {
    cat >"$work/surfaces.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local slits = shape.box { min = { 50, 0, 0 }, max = { 60, 200, 200 } }
return sel.heat {
  size = { 200, 200, 200 }, diffusivity = 1, initial = { temperature = 0 }, precision = "f32",
  regions = {
    { name = "slits", where = slits, law = law.convective { ambient = 1, h = 1 } },
    { name = "faces", where = shape.faces, law = law.fixed { 0 } },
  },
  stop = { steps = 1 }, output = { out.balance { every = 1 } },
}
END
    one=$(takes "$selenite" run "$work/surfaces.lua" --threads 1 --quiet --backend cpu -o "$work/other" --force) &&
        four=$(takes "$selenite" run "$work/surfaces.lua" --ranks 4 --threads 1 --quiet --backend cpu \
            -o "$work/other" --force) || return 1
    echo "$one kB, $four kB"
    [ $((four * 3)) -lt "$one" ]
}
ok "four ranks keep parts of surfaces and regions" surfaces_are_divided

# Of a potential whose coefficient varies, with a solid column every four cells: four ranks take two
# fifths of it each, or less.
potential_is_divided() {
    cat >"$work/columns.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local columns = shape.inside(function(x, y) return x % 4 < 2 and y % 4 < 2 end)
return sel.poisson {
  size = { 96, 96, 96 }, coefficient = function(x) return 1 + x end, rhs = 1, tolerance = 0.9,
  regions = {
    { name = "columns", where = columns, law = law.convective { ambient = 1, h = 1 } },
    { name = "faces", where = shape.faces, law = law.fixed { 0 } },
  },
  output = { out.balance { every = 1 } },
}
END
    one=$(takes "$selenite" run "$work/columns.lua" --threads 1 --quiet --backend cpu -o "$work/other" --force) &&
        four=$(takes "$selenite" run "$work/columns.lua" --ranks 4 --threads 1 --quiet --backend cpu \
            -o "$work/other" --force) || return 1
    echo "$one kB, $four kB"
    [ $((four * 5)) -lt $((one * 2)) ]
}
ok "four ranks keep parts of the surfaces and the coefficient of a potential" potential_is_divided

# 268 MB of a device are the same for any grid, 168 MB of one of four; of the rest four ranks have a
# third each at most: a quarter of the cells with halos, and rank 0 the sums over each row of all.
memory_of_devices() {
    "$selenite" check "$@" --ranks 4 --backend cuda >"$work/said" || return 1
    one=$(sed -n 's/^ *memory  *\([0-9.]*\) MB of.*/\1/p' "$work/said")
    four=$(sed -n 's/^ *rank 0 .* memory \([0-9.]*\) MB,.*/\1/p' "$work/said")
    echo "$one MB, $four MB"
    awk "BEGIN { exit !(($four - 168) * 3 < $one - 268) }"
}
if [ "$backend" != cpu ]; then
    ok "the memory of a device falls with their number" memory_of_devices scenarios/cavity3d.lua N=128
    ok "the memory of a device falls with their number: run-off" \
        memory_of_devices scenarios/bowl.lua N=2048
    ok "the memory of a device falls with their number: heat" \
        memory_of_devices scenarios/heat3d_bell.lua nx=256 ny=256 nz=256
    ok "the memory of a device falls with their number: links" memory_of_devices "$work/rods.lua"
    cat >"$work/columns.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local columns = shape.inside(function(x, y) return x % 4 < 2 and y % 4 < 2 end)
return sel.heat {
  size = { 128, 128, 128 }, diffusivity = 1, stop = { steps = 1 },
  regions = {
    { where = shape.faces, law = law.fixed { 0 } }, { where = columns, law = law.fixed { 1 } },
  },
}
END
    ok "the memory of a device falls with their number: surfaces" \
        memory_of_devices "$work/columns.lua"
fi

lists_ranks() {
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        mpirun --oversubscribe -n 2 "$selenite" info >"$work/said" &&
        grep -q '^ranks  *2, by Open MPI' "$work/said" &&
        [ "$(grep -c '^rank ' "$work/said")" = 2 ] &&
        "$selenite" info >"$work/said" && grep -q '^mpi  *Open MPI' "$work/said"
}
ok "info lists ranks" lists_ranks

# Two ranks with the grid of one, and with twice as many cells.
bench_compares() {
    "$selenite" bench --ranks 2 --backend cpu --only 'D2Q9 f64 512*' --json >"$work/said" &&
        "${PYTHON:-/usr/bin/python3}" - "$work/said" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["ranks"] == report["ranks_of_machine"] == 2 and "Open MPI" in report["mpi"], report
more = 2 * report["threads"] / report["threads_of_one_rank"]
strong, weak = report["results"]
assert (strong["scaling"], weak["scaling"]) == ("strong", "weak"), report
assert strong["size"] == [512, 512] and weak["size"] == [512, 1024], report
for result in strong, weak:
    efficiency = result["updates_per_second"] / result["updates_per_second_of_one_rank"] / more
    assert abs(result["efficiency"] / efficiency - 1) < 1e-6 and 0.02 < efficiency < 20, result
END
}
ok "bench compares ranks with one" bench_compares
ok "bench in ranks refuses a pattern" exits 2 "$selenite" bench --ranks 2 --backend cpu --only nothing
