#!/bin/sh
# all.sh -- the tests of CUDA on a processor, each kernel once: what `make test-device` runs. Prints TAP.
# usage: DEVICE=build/device tests/device/all.sh [PATTERN]     (`short`: the programs that end within seconds)
set -u
device=${DEVICE:-build/device}
pattern=${1:-test_cuda} long=none
[ "$pattern" != short ] || pattern=test_cuda_ long='test_cuda_aqua_dry|test_cuda_poisson|test_cuda_requests'
LD_LIBRARY_PATH=$(cd "$device" && pwd)/lib
XDG_CACHE_HOME=$(mktemp -d)
TMPDIR=$XDG_CACHE_HOME
export LD_LIBRARY_PATH XDG_CACHE_HOME TMPDIR RULES="${RULES:-8}"
export NAMES='^(a channel|a storm|run-off without|a plate (with|that takes)|rules (with|in 3|that)|a law).*[^4]$'
failed=0
for test in "$device"/tests/test_cuda*; do
    name=$(basename "$test")
    case $name in
    *.d) continue ;;
    *"$pattern"*) ;;
    *) continue ;;
    esac
    ! echo "$name" | grep -qE "^($long)$" || continue
    if "$test" short >"$device/$name.log" 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name"
        grep -v '^\[ *RUN' "$device/$name.log" | sed 's/^/# /'
        failed=1
    fi
done
case $pattern in
test_cuda | test_cuda_ranks)
    # Staged, by MPI from device to device, by NCCL, into each other's memory.
    for way in DEVICES=1 'DEVICES=1 CUDA_AWARE=1' 'DEVICES=3 SELENITE_DIRECT=0' DEVICES=3; do
        name="three ranks, $way"
        # shellcheck disable=SC2086
        env $way RANKS=3 BUILD=$device BACKEND=cuda \
            sh -c 'tests/ranks/run.sh; tests/rank_failures/run.sh' >"$device/ranks.log" 2>&1
        if grep -q '^ok' "$device/ranks.log" && ! grep -q '^not ok' "$device/ranks.log"; then
            echo "ok $name"
        else
            echo "not ok $name"
            sed 's/^/# /' "$device/ranks.log"
            failed=1
        fi
    done
    ;;
esac
# suite NAME FOLDER VARIABLE=VALUE...: a suite of scripts as one test.
suite() {
    name=$1 folder=$2
    shift 2
    if env "$@" BUILD="$device" BACKEND=cuda "tests/$folder/run.sh" >"$device/$folder.log" 2>&1 &&
        grep -q '^ok' "$device/$folder.log" && ! grep -q '^not ok' "$device/$folder.log"; then
        echo "ok $name"
    else
        echo "not ok $name"
        sed 's/^/# /' "$device/$folder.log"
        failed=1
    fi
}
case $pattern in
test_cuda | test_cuda_ | test_cuda_moments)
    if SHARED_MEMORY=64 "$device/tests/test_cuda_moments" short >"$device/moments.log" 2>&1; then
        echo "ok moments with little shared memory"
    else
        echo "not ok moments with little shared memory"
        sed 's/^/# /' "$device/moments.log"
        failed=1
    fi
    ;;
esac
case $pattern in
test_cuda | test_cuda_cases) suite 'cases with known results' cases NAMES='1 ranks: [^ad]' ;;
esac
case $pattern in
test_cuda | test_cuda_solver) suite 'a solver beside those of the engine' solver NAMES= DEVICES=3 ;;
esac
rm -rf "$XDG_CACHE_HOME"
exit $failed
