#!/bin/sh
# run.sh -- run every test program, show what fails, print the counts as the last line.
# usage: BUILD=build BACKEND=cpu|cuda tests/run.sh [PATTERN]
#   PATTERN   only test programs whose name contains it
#   BACKEND   what computes in scenarios; cuda: only what a GPU is concerned with
# Every program prints TAP: "ok NAME" or "not ok NAME", "# SKIP" behind what could not run.
set -u
build=${BUILD:-build}
backend=${BACKEND:-cpu}
pattern=${1:-}
log=$build/tests/logs
mkdir -p "$log"
passed=0 failed=0 skipped=0

# Runs one test program; a program that dies or prints no test counts as a failure.
run() {
    name=$1
    shift
    case $name in *"$pattern"*) ;; *) return ;; esac
    start=$(date +%s)
    BUILD=$build BACKEND=$backend CMOCKA_MESSAGE_OUTPUT=TAP "$@" >"$log/$name.tap" 2>"$log/$name.err"
    status=$?
    # cmocka marks a skipped test "not ok ... # SKIP", others "ok ... # SKIP".
    good=$(grep -ci '^\(not \)\?ok.*# skip\|^ok' "$log/$name.tap")
    bad=$(grep -i '^not ok' "$log/$name.tap" | grep -vci '# skip')
    skip=$(grep -ci '^\(not \)\?ok.*# skip' "$log/$name.tap")
    if [ "$bad" = 0 ] && { [ "$status" != 0 ] || [ "$good" = 0 ]; }; then
        bad=1
        echo "not ok $name: exit status $status after $good tests" >>"$log/$name.tap"
    fi
    passed=$((passed + good - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
    printf '%-28s %4d passed %3d failed %3d skipped  %3d s\n' "$name" $((good - skip)) "$bad" \
        "$skip" $(($(date +%s) - start))
    if [ "$bad" != 0 ]; then
        grep -A3 '^not ok' "$log/$name.tap"
        tail -n 20 "$log/$name.err"
    fi
}

programs=test_ scripts='tests/*/run.sh tests/annotations.sh tests/includes.sh tests/toolkit.sh tests/vectorised.sh'
if [ "$backend" = cuda ]; then
    programs=test_cuda
    scripts='tests/scenarios/run.sh tests/runs/run.sh tests/commands/run.sh tests/checkpoint/run.sh
        tests/blocks/run.sh tests/bad/run.sh tests/ranks/run.sh'
fi
for program in "$build/tests/$programs"*; do
    case $program in *.d) continue ;; esac
    run "$(basename "$program")" "$program"
done
for script in $scripts; do
    [ -x "$script" ] || continue
    run "$(echo "$script" | sed 's/^tests.//; s/.run.sh$//; s/.sh$//')" "$script"
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
