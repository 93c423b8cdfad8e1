#!/bin/sh
# run.sh -- simulations drawn by lot give the same files on threads and in ranks, as machine code, and
# when they resume. Prints TAP; `make fuzz` runs many more.
# usage: BUILD=build BACKEND=cpu|cuda SEEDS=N run.sh
#   SEEDS   how many of each solver; 4 when not given
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
export BUILD="$build" BACKEND="$backend"
ways='threads resume'
case $backend in cuda) ways="$ways cpu" ;; *) ways="$ways native" ;; esac
! find_open_mpi || ways="$ways ranks"

deep=
case $ways in *ranks*) deep='heat lbm poisson rule' ;; esac
for solver in $deep; do
    ok "some of $solver in boxes" "${PYTHON:-/usr/bin/python3}" tests/random/compare.py 1 $((${SEEDS:-4} + 1)) "$solver" boxes resume
done
for solver in aqua heat lbm poisson rule; do
    # shellcheck disable=SC2086  # words
    ok "some of $solver" "${PYTHON:-/usr/bin/python3}" tests/random/compare.py 1 $((${SEEDS:-4} + 1)) $solver $ways
done
