#!/bin/sh
# run.sh -- several ranks give the same files as one, byte for byte; and what happens when one of
# them fails. Prints TAP.
# usage: BUILD=build run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
python=${PYTHON:-/usr/bin/python3}
counts='2 3 4'

if [ ! -e "$BUILD/selenite_openmpi.so" ] || ! command -v mpirun >/dev/null; then
    echo 'ok several ranks # SKIP Open MPI is not here'
    exit 0
fi

# same A B [EXCEPT]: all files, but for what tells of the run; and all that run.json says of the result.
same() {
    diff -r -x run.json -x run.log -x run.lua ${3:+-x "$3"} "$1" "$2" && "$python" - "$1" "$2" <<'END'
import json, sys
one, other = (json.load(open(d + "/run.json")) for d in sys.argv[1:])
for key in ("steps", "time", "stopped_by", "stop_reason", "steady_measure", "mean_change", "largest_mach",
            "results", "outputs", "warnings"):
    assert one[key] == other[key], (key, one[key], other[key])
END
}

# shared SCENARIO ARGUMENTS...: by one rank and by several, on one thread and on two, the same.
shared() {
    rm -rf "$work/one"
    run "$@" -o "$work/one" || return 1
    for ranks in $counts; do
        rm -rf "$work/many"
        run "$@" --ranks "$ranks" --threads $((1 + ranks % 2)) -o "$work/many" || return 1
        same "$work/one" "$work/many" || { echo "in $ranks ranks"; return 1; }
    done
}

# What four ranks have saved others go on with.
goes_on() {
    scenario=tests/checkpoint/$1.lua
    shift
    rm -rf "$work/one" "$work/four"
    run "$scenario" steps=150 save=77 "$@" -o "$work/one" &&
        run "$scenario" steps=77 save=77 "$@" --ranks 4 -o "$work/four" || return 1
    for ranks in 1 2 3; do
        rm -rf "$work/many"
        cp -r "$work/four" "$work/many"
        run "$scenario" steps=150 save=77 "$@" --ranks $ranks -o "$work/many" --resume &&
            same "$work/one" "$work/many" '*.sel' || { echo "in $ranks ranks"; return 1; }
    done
}

for precision in f32 f64; do
    ok "a channel with laws in time, all outputs, $precision" \
        shared tests/checkpoint/channel.lua steps=150 --precision $precision
    ok "a box in 3-D with a body force and moving walls, $precision" \
        shared tests/checkpoint/box.lua steps=60 --precision $precision
    ok "a storm with open edges, levels and sources, all outputs, $precision" \
        shared tests/checkpoint/storm.lua steps=120 --precision $precision
    ok "a plate with laws and a source in time, all outputs, $precision" \
        shared tests/checkpoint/plate.lua steps=120 --precision $precision
    ok "a slab of nodes, periodic along z, $precision" \
        shared tests/checkpoint/plate.lua layout=node deep=9 steps=60 --precision $precision
    ok "rules with all that varies, $precision" \
        shared tests/checkpoint/rule.lua steps=90 --precision $precision
done
for scenario in channel storm plate rule; do
    ok "a checkpoint of four ranks goes on in one, two and three: $scenario" goes_on $scenario
done
ok "rules in 3-D, periodic along y" shared tests/checkpoint/rule.lua deep=9 steps=60
ok "a forest on fire" shared scenarios/forest_fire.lua N=64
ok "periodic in all axes" shared scenarios/taylor_green3d.lua N=12 time=2
ok "a cylinder with forces and a steady stop" shared scenarios/cylinder2d.lua D=8 time=0.2
ok "solids in most cells" shared scenarios/porous2d.lua picture=scenarios/porous2d_square.png
ok "a bowl of water, mindiff" shared scenarios/bowl.lua N=24 equilibrium=mindiff
counts=2 ok "run-off between periodic edges, mindiff" \
    shared scenarios/aqua_wave.lua N=48 steps=200 equilibrium=mindiff
counts='2 3 4'
ok "a moving level" shared examples/16_level.lua
ok "a plate that is periodic across the ranks" \
    shared tests/checkpoint/plate.lua around=1 laws=control steps=200
ok "nodes that are periodic across the ranks, by Lua" \
    shared tests/checkpoint/plate.lua around=1 layout=node laws=lua steps=60
ok "a plate that stops by the change of its mean" \
    shared tests/checkpoint/plate.lua body=uniform laws=still mean=1.2e-3 steps=4000 --precision f64
ok "implicit conduction" shared tests/checkpoint/plate.lua scheme=crank_nicolson laws=still steps=60
ok "a potential, even" shared tests/checkpoint/potential.lua body=even
ok "a potential about a hole, of nodes" shared tests/checkpoint/potential.lua layout=node deep=9
