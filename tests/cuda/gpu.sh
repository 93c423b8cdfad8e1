#!/bin/sh
# gpu.sh -- all tests of the CUDA backend on a machine with a GPU. Builds nothing; prints TAP.
# usage: BUILD=build tests/cuda/gpu.sh [short | sanitizer [PROGRAM...]]
#   short       without compute-sanitizer
#   sanitizer   compute-sanitizer alone, on all programs or on those named
# `make gpu-tests` gathers a small BUILD to carry.
# Needs the programs of `make unit-tests` or `make gpu-tests`, and compute-sanitizer for what it
# checks. The parts run side by side, a quarter of an hour with all; the last line has the counts.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
PYTHON=${PYTHON:-$(command -v python3)}
export BUILD PYTHON
logs=$BUILD/tests/gpu
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
parts=${1:-all}
[ $# = 0 ] || shift
programs=$*
if [ -z "$programs" ]; then
    for program in "$BUILD"/tests/test_cuda* "$BUILD"/tests/test_machine; do
        [ ! -x "$program" ] || programs="$programs ${program##*/}"
    done
fi
rm -rf "$logs"
mkdir -p "$logs"
if ! "$BUILD/selenite" info | grep -E '^sel\.lbm +cuda' >"$logs/info" ||
    grep -E 'not in this build|cannot be used' "$logs/info"; then
    echo "not ok a GPU that can be used"
    exit 1
fi

# sanitize TOOL PROGRAM: the short mode of a test program under compute-sanitizer.
sanitize() {
    name="$2 under $1"
    log=$logs/$1_$2.log
    if [ -z "$sanitizer" ]; then
        echo "ok $name # SKIP no compute-sanitizer"
        return
    fi
    timeout 450 "$sanitizer" --tool "$1" --error-exitcode 99 --print-limit 20 \
        "$BUILD/tests/$2" short >"$log" 2>&1
    status=$?
    if grep -qi 'device not supported\|unable to find' "$log"; then
        echo "ok $name # SKIP compute-sanitizer does not work on this machine"
    elif [ $status != 0 ]; then
        echo "not ok $name: exit status $status"
        grep '^=========\|disagree\|^ERROR\|FAILED\|: .*differs' "$log" | head -40 | sed 's/^/# /'
    elif grep -q '# SKIP' "$log"; then
        echo "ok $name # SKIP no device"
    elif ! grep -q '========= ERROR SUMMARY: 0 errors\|RACECHECK SUMMARY: 0 hazards' "$log"; then
        echo "not ok $name: no summary"
        tail -n 20 "$log" | sed 's/^/# /'
    else
        echo "ok $name"
    fi
}

# in_background NAME COMMAND...: its output goes to a file of that name.
names=
in_background() {
    names="$names $1"
    output=$logs/$1.out
    shift
    "$@" >"$output" 2>&1 &
}

# The suites with their own counts as TAP: a line for each test.
suite() {
    BACKEND=cuda tests/run.sh "$1" >"$logs/suite_$1.log" 2>&1
    status=$?
    cat "$BUILD"/tests/logs/"$1"*.tap 2>/dev/null
    [ $status = 0 ] || sed 's/^/# /' "$logs/suite_$1.log"
}

if [ "$parts" != sanitizer ]; then
    for name in $programs; do
        in_background "$name" sh -c "CMOCKA_MESSAGE_OUTPUT=TAP '$BUILD/tests/$name' 2>'$logs/$name.err' ||
            { echo \"not ok $name ends with status \$?\"; sed 's/^/# /' '$logs/$name.err'; }"
    done
    for name in scenarios runs commands checkpoint bad cases solver ranks rank_failures; do
        in_background "$name" suite "$name"
    done
fi
if [ "$parts" != short ]; then
    for tool in memcheck racecheck; do
        for name in $programs; do
            in_background "${tool}_$name" sanitize "$tool" "$name"
        done
    done
fi
wait

passed=0 failed=0 skipped=0
for name in $names; do
    output=$logs/$name.out
    echo "# $name"
    cat "$output"
    good=$(grep -c '^ok' "$output")
    skip=$(grep -c '^ok.*# SKIP' "$output")
    bad=$(grep -c '^not ok' "$output")
    if [ $((good + bad)) = 0 ]; then
        echo "not ok $name: no test"
        bad=1
    fi
    passed=$((passed + good - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
