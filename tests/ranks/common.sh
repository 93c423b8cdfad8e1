# shellcheck shell=sh
# common.sh -- what the two suites of ranks share. Sourced in the root of the repository, after tap.sh.
# With BACKEND=cuda ranks share the GPU, or have one each if there are several.

if ! find_open_mpi; then
    echo 'ok several ranks # SKIP Open MPI is not here'
    exit 0
fi

# cut_in N COMMAND...: with N ranks beside each other along y; empty: as many as fit best.
cut_in() {
    [ -z "$1" ] || { SELENITE_ACROSS=$1 && export SELENITE_ACROSS; }
    shift
    "$@"
    got=$?
    unset SELENITE_ACROSS
    return $got
}
