#!/bin/sh
# run.sh -- scenarios of which the right result is known, on one rank and on two. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
# Each scenario says in its first lines what is right.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

# last TABLE COLUMN VALUE TOLERANCE SCENARIO [PARAMETERS]: the last row of a table of a run.
last() {
    table=$1 column=$2 value=$3 tolerance=$4 scenario=tests/cases/$5.lua
    shift 5
    rm -rf "$work/case"
    # shellcheck disable=SC2086  # words
    run "$scenario" "$@" $ranks -o "$work/case" &&
        awk -F, -v column="$column" -v value="$value" -v tolerance="$tolerance" '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
            { found = at ? $at : "no such column" }
            END { print "found " found ", right " value
                  exit !(at && found - value <= tolerance && value - found <= tolerance) }' "$work/case/$table.csv"
}

copper_warms_alike_in_any_unit() {
    last reduce temperature 300.8696 0.002 copper &&
        last reduce temperature 27.8696 0.002 copper T0=27 &&
        last reduce temperature 300.8696 0.002 copper n=20 &&
        last balance error 0 1e-3 copper n=20
}

coordinates_of_maps_are_exact() {
    last u u 16 1e-5 map_coordinates && last k k 31.5 1e-5 map_coordinates
}

# fails TEXT SCENARIO: the run ends with an error, which says so.
fails() {
    rm -rf "$work/case"
    # shellcheck disable=SC2086
    ! run "tests/cases/$2.lua" $ranks -o "$work/case" >"$work/said" 2>&1 || { echo "the run ends well"; return 1; }
    echo "expected '$1', the run says '$(cat "$work/said")'"
    grep -qE "$1" "$work/said"
}

nan_is_in_every_reduction() {
    fails 'NaN or infinity in 1 cell, first in cell \{0, 0\}' nan_in_a_cell || return 1
    for op in max min mean l2; do
        [ "$(tail -n 1 "$work/case/$op.csv")" = 6,6,nan ] || { cat "$work/case/$op.csv"; return 1; }
    done
}

a_failed_step_leaves_no_row() {
    # A device has no Lua to go on with in the cell.
    fails 'divide by zero|divides a whole number by 0' division_by_zero || return 1
    [ "$(tail -n 1 "$work/case/reduce.csv")" = 0,0,224 ] || { cat "$work/case/reduce.csv"; return 1; }
}

# warns TEXT SCENARIO [PARAMETERS]
warns() {
    text=$1 scenario=tests/cases/$2.lua
    shift 2
    "$selenite" check "$scenario" --backend "$backend" "$@" >"$work/said" 2>&1 || return 1
    cat "$work/said"
    grep -q "warning: $scenario:[0-9]*: .*$text" "$work/said"
}

drifting_mass_is_warned_of() {
    warns 'let mass through' moving_wall_box && warns 'no face gives the pressure' two_velocities &&
        warns 'mass grows by' two_velocities ratio=2
}

# The axis of a duct whose flow is developed, 2.0963 times the mean of 4/9 of 0.05; towards the outlet
# the velocity stays and the pressure falls.
a_duct_keeps_its_flow_up_to_the_outlet() {
    for outlet in pressure outflow; do
        rm -rf "$work/case"
        # shellcheck disable=SC2086
        run tests/cases/duct_with_outlet.lua outlet=$outlet $ranks -o "$work/case" &&
            awk -F, '$1 == 8000 && $6 > 36 {
                         rows++
                         right = 2.0963 * 0.05 * 4 / 9
                         if ($7 < 0.97 * right || $7 > 1.03 * right) { print; bad = 1 }
                         if (rows > 1 && $8 >= before) { print; bad = 1 }
                         before = $8 }
                     END { exit bad || rows < 12 }' "$work/case/axis.csv" || return 1
    done
}

several='1'
if find_open_mpi; then
    several='1 2'
fi
for count in $several; do
    ranks="--ranks $count"
    ok "$count ranks: copper warms alike in any unit" copper_warms_alike_in_any_unit
    ok "$count ranks: coordinates of maps are exact" coordinates_of_maps_are_exact
    ok "$count ranks: NaN is in every reduction" nan_is_in_every_reduction
    ok "$count ranks: a failed step leaves no row" a_failed_step_leaves_no_row
    ok "$count ranks: a duct keeps its flow up to the outlet" a_duct_keeps_its_flow_up_to_the_outlet
done
ranks=
ok "a declared vector is named by its components" fails 'a vector: name its components, v_x, v_y' declared_vector
ok "drifting mass is warned of" drifting_mass_is_warned_of
ok "a river is no film" warns 'a film carries at most 0.015' river
