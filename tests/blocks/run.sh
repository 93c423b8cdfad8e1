#!/bin/sh
# run.sh -- a grid that is cut into blocks gives the same files, byte for byte. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
counts='2 3 5'
[ "$backend" = cuda ] && counts='2 3'

# cut SCENARIO ARGUMENTS...: in one block and in several, on one thread and on two, the same.
cut() {
    rm -rf "$work/one"
    run "$@" -o "$work/one" || return 1
    for blocks in $counts; do
        rm -rf "$work/cut"
        run "$@" --blocks "$blocks" --threads $((1 + blocks % 2)) -o "$work/cut" || return 1
        same "$work/one" "$work/cut" '*.sel' || { echo "in $blocks blocks"; return 1; }
    done
}

# threads SCENARIO ARGUMENTS...: on one thread, two and three the same.
threads() {
    rm -rf "$work/one"
    run "$@" --threads 1 -o "$work/one" || return 1
    for count in 2 3; do
        rm -rf "$work/cut"
        run "$@" --threads $count -o "$work/cut" || return 1
        same "$work/one" "$work/cut" '*.sel' || { echo "on $count threads"; return 1; }
    done
}

# What three blocks have saved two go on with.
goes_on() {
    scenario=tests/checkpoint/$1.lua
    shift
    rm -rf "$work/one" "$work/cut"
    run "$scenario" steps=150 "$@" -o "$work/one" &&
        run "$scenario" steps=77 save=100000 "$@" --blocks 3 -o "$work/cut" &&
        run "$scenario" steps=150 save=100000 "$@" --blocks 2 -o "$work/cut" --resume &&
        same "$work/one" "$work/cut" '*.sel'
}

for precision in f32 f64; do
    ok "a channel with laws in time, all outputs, $precision" \
        cut tests/checkpoint/channel.lua steps=150 --precision $precision
    ok "a box in 3-D with a body force and moving walls, $precision" \
        cut tests/checkpoint/box.lua steps=60 --precision $precision
    ok "a storm with open edges, levels and sources, all outputs, $precision" \
        cut tests/checkpoint/storm.lua steps=120 --precision $precision
    ok "run-off, mean, $precision" cut scenarios/storm.lua hours=0.2 equilibrium=mean --precision $precision
    ok "a plate with laws and a source in time, all outputs, $precision" \
        cut tests/checkpoint/plate.lua steps=120 --precision $precision
    ok "a slab of nodes, periodic along z, $precision" \
        cut tests/checkpoint/plate.lua layout=node deep=7 steps=60 --precision $precision
    ok "rules with all that varies, $precision" cut tests/checkpoint/rule.lua steps=90 --precision $precision
    ok "a checkpoint of three blocks goes on in two: rules, $precision" \
        goes_on rule --precision $precision
    ok "a checkpoint of three blocks goes on in two: plate, $precision" \
        goes_on plate --precision $precision
    ok "a checkpoint of three blocks goes on in two: flow, $precision" \
        goes_on channel --precision $precision
    ok "a checkpoint of three blocks goes on in two: storm, $precision" \
        goes_on storm --precision $precision
done
ok "rules in 3-D, periodic along y" cut tests/checkpoint/rule.lua deep=9 steps=60
ending "steps = 400" scenarios/forest_fire.lua "N = 64" >"$work/forest.lua"
ok "a forest on fire" cut "$work/forest.lua"
ok "periodic in all axes" cut scenarios/taylor_green3d.lua N=12 time=2
ok "a cylinder with forces and a steady stop" cut scenarios/cylinder2d.lua D=8 time=0.2
ending "steps = 20000, steady = 0.1, every = 500" scenarios/porous2d.lua \
    "picture = '$PWD/scenarios/porous2d_square.png'" >"$work/porous.lua"
ok "solids in most cells" cut "$work/porous.lua"
ok "run-off between periodic edges, mindiff" cut scenarios/aqua_wave.lua N=48 steps=200 equilibrium=mindiff
ok "run-off by scatter" cut tests/checkpoint/storm.lua steps=60 scheme=scatter
ending "time = 2 * 3600" examples/16_level.lua >"$work/level.lua"
ok "a moving level" cut "$work/level.lua"
ok "a uniform plate of nodes" cut tests/checkpoint/plate.lua body=uniform laws=still layout=node steps=60
ok "a plate that is periodic across the blocks" cut tests/checkpoint/plate.lua around=1 laws=control steps=200
ok "nodes that are periodic across the blocks, by Lua" \
    cut tests/checkpoint/plate.lua around=1 layout=node laws=lua steps=60
ok "a plate that stops by the change of its mean" \
    cut tests/checkpoint/plate.lua body=uniform laws=still mean=1.2e-3 steps=4000 --precision f64
ok "a potential, even" cut tests/checkpoint/potential.lua body=even
ok "a potential about a hole, of nodes" cut tests/checkpoint/potential.lua layout=node deep=7
ok "implicit conduction" cut tests/checkpoint/plate.lua scheme=crank_nicolson laws=still steps=60
if [ "$backend" = cpu ]; then
    ok "a plate on one thread, two and three" threads tests/checkpoint/plate.lua steps=120
    ok "a slab of nodes on one thread, two and three" \
        threads tests/checkpoint/plate.lua steps=60 layout=node deep=5 --precision f64
fi
