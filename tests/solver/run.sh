#!/bin/sh
# run.sh -- a program with a solver of three coupled fields (shallow.c) gets all that a run has from
# the engine: the script's table, laws and a source in time, outputs, checkpoints, ranks, a device.
# Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
here=tests/solver
selenite=$build/tests/shallow
for plugin in "$build"/selenite_*.so; do # plug-ins of MPI lie beside a program
    [ ! -e "$plugin" ] || ln -sf "../$(basename "$plugin")" "$build/tests/"
done

# last FILE COLUMN: a number of the last row.
last() { tail -n 1 "$1" | cut -d, -f"$2"; }

# near A B WITHIN
near() {
    awk -v a="$1" -v b="$2" -v within="$3" \
        'BEGIN { d = a - b; d = d < 0 ? -d : d; print a, b; exit !(d <= within) }'
}

# The depth h between the waves: what the rarefaction gives, 2 (1 - sqrt(h)), the shock takes,
# (h - 1/4) sqrt((h + 1/4) / (2 h / 4)).
depth_between() {
    awk 'BEGIN {
        low = 0.25; high = 1
        for (k = 0; k < 60; k++) {
            h = (low + high) / 2
            if (2 * (1 - sqrt(h)) > (h - 0.25) * sqrt((h + 0.25) / (0.5 * h))) low = h; else high = h
        }
        printf "%.12g", h
    }'
}

a_dam_breaks_as_theory_says() {
    h=$(depth_between)
    for axis in x y; do
        run $here/dam.lua axis=$axis -o "$work/dam_$axis" &&
            near "$(last "$work/dam_$axis/probe.csv" 3)" "$h" 0.002 || return 1
    done
    q=$(awk -v h="$h" 'BEGIN { print h * 2 * (1 - sqrt(h)) }')
    near "$(last "$work/dam_x/probe.csv" 4)" "$q" 0.002 && near "$(last "$work/dam_y/probe.csv" 5)" "$q" 0.002
}

# The depth grows by rain t^2 / 2, everywhere alike; 2 + 0.01 * 50 after a time of 10.
rain_fills_a_basin_and_moves_nothing() {
    run $here/rain.lua -o "$work/rain" || return 1
    for file in least most; do
        near "$(last "$work/rain/$file.csv" 3)" 2.5 1e-13 && near "$(last "$work/rain/$file.csv" 4)" 0 1e-13 &&
            near "$(last "$work/rain/$file.csv" 5)" 0 1e-13 || return 1
    done
    near "$(last "$work/rain/balance.csv" 3)" "$(awk 'BEGIN { print 2.5 * (600 - 25) }')" 1e-9
}

the_script_knows_its_tables() {
    "$selenite" help sel.shallow | grep -q 'Depth per time that appears' &&
        "$selenite" check $here/tide.lua >"$work/check" && grep -q gravity "$work/check"
}

a_depth_below_0_is_refused_with_its_place() {
    exits 1 "$selenite" run $here/tide.lua height=4 --quiet --backend "$backend" -o "$work/bad" >"$work/said" 2>&1
    cat "$work/said"
    grep -q 'tide.lua:11: law.sea: depth must not be negative' "$work/said"
}

threads_do_not_matter() {
    run $here/tide.lua -o "$work/one" --threads 1 && run $here/tide.lua -o "$work/three" --threads 3 &&
        same "$work/one" "$work/three"
}

a_tide_goes_on_from_a_checkpoint() {
    run $here/tide.lua steps=90 -o "$work/straight" &&
        run $here/tide.lua steps=41 save=1000 -o "$work/resumed" &&
        run $here/tide.lua steps=90 save=1000 -o "$work/resumed" --resume &&
        same "$work/straight" "$work/resumed" '*.sel'
}

ranks_do_not_matter() {
    for around in false true; do
        run $here/tide.lua around=$around --force -o "$work/alone" &&
            run $here/tide.lua around=$around --force -o "$work/ranks" --ranks "$1" &&
            same "$work/alone" "$work/ranks" || return 1
    done
}

# The rule is the same source, and compiled without contraction; sums of rows have another order.
a_device_makes_the_files_of_the_cpu() {
    run $here/tide.lua around=true --force -o "$work/device" &&
        "$selenite" run $here/tide.lua around=true --quiet --backend cpu -o "$work/cpu" &&
        diff -r -x run.json -x run.log -x balance.csv "$work/device" "$work/cpu" &&
        near "$(last "$work/device/balance.csv" 3)" "$(last "$work/cpu/balance.csv" 3)" 1e-9
}

ok "a dam breaks as theory says" a_dam_breaks_as_theory_says
ok "rain fills a basin and moves nothing" rain_fills_a_basin_and_moves_nothing
ok "the script knows the tables of the solver" the_script_knows_its_tables
ok "a depth below 0 is refused with its place" a_depth_below_0_is_refused_with_its_place
ok "threads do not matter" threads_do_not_matter
ok "a tide goes on from a checkpoint" a_tide_goes_on_from_a_checkpoint
[ "$backend" = cpu ] || ok "a device makes the files of the CPU" a_device_makes_the_files_of_the_cpu
if find_open_mpi; then
    for ranks in 2 3; do
        ok "$ranks ranks make the same files" ranks_do_not_matter $ranks
    done
else
    echo 'ok ranks make the same files # SKIP Open MPI is not here'
fi
