#!/bin/sh
# run.sh -- boxes of one layer, row, column or cell give what the grid of one dimension fewer gives, for
# every solver and scheme, along each axis, periodic or not. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

# value ARGUMENTS...: the last value that thin.lua writes; what is said where it cannot run.
value() {
    rm -rf "$work/out"
    run tests/thin/thin.lua "$@" --threads 2 -o "$work/out" >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
    tail -qn 1 "$work/out"/*.csv | sed 's/.*,//'
}

# thin ARGUMENTS...: the same to eleven digits (solvers that iterate: to seven) as in two dimensions.
thin() {
    flat=$(value "$@") || { echo "$flat"; return 1; }
    for axis in x y z; do
        for periodic in no yes; do
            box=$(value "$@" axis=$axis periodic=$periodic) || { echo "axis=$axis periodic=$periodic: $box"; return 1; }
            echo "$flat $box" | awk -v most="$most" '{ d = $1 - $2; s = $1 < 0 ? -$1 : $1
                exit !(d * d <= (most * s) ^ 2 && d == d && s < 1e300) }' ||
                { echo "axis=$axis periodic=$periodic: $box, not $flat"; return 1; }
        done
    done
}

for cells in 'n=8 m=6' 'n=8 m=1' 'n=1 m=6' 'n=1 m=1'; do
    for along in no yes; do
        most=1e-11
        for solver in rule lbm heat; do
            # shellcheck disable=SC2086  # words
            ok "$solver, $cells, periodic along it: $along" thin solver=$solver $cells along=$along
        done
        most=1e-7
        for scheme in backward_euler crank_nicolson; do
            # shellcheck disable=SC2086
            ok "heat, $scheme, $cells, periodic along it: $along" thin $cells along=$along scheme=$scheme
        done
        for method in multigrid jacobi gauss_seidel sor conjugate_gradient; do
            # shellcheck disable=SC2086
            ok "poisson, $method, $cells, periodic along it: $along" \
                thin solver=poisson $cells along=$along method=$method
        done
    done
done
