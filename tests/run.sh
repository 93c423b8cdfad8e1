#!/bin/sh
# run.sh -- run every test program, show what fails, print the counts as the last line.
# usage: BUILD=build BACKEND=cpu|cuda JOBS=N tests/run.sh [PATTERN]
#   PATTERN   only test programs whose name contains it
#   BACKEND   what computes in scenarios; cuda: only what a GPU is concerned with
#   JOBS      how many programs run at a time; without it, as many as there are processors, at most
#             four: with more, the longest program would still be running when the others have ended
# Every program prints TAP: "ok NAME" or "not ok NAME", "# SKIP" behind what could not run.
set -u
BUILD=${BUILD:-build}
BACKEND=${BACKEND:-cpu}
CMOCKA_MESSAGE_OUTPUT=TAP
export BUILD BACKEND CMOCKA_MESSAGE_OUTPUT
pattern=${1:-}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)}
[ "${JOBS:-}" ] || [ "$jobs" -le 4 ] || jobs=4
log=$BUILD/tests/logs
mkdir -p "$log"

# first: begin before the others, since they take longest. alone: run one by one after the others,
# since they measure short times.
first='ranks|rank_failures'
alone='test_backend|test_rule_read|process'

programs=test_ scripts='tests/*/run.sh tests/annotations.sh tests/includes.sh tests/toolkit.sh tests/vectorised.sh
    tests/words.sh'
if [ "$BACKEND" = cuda ]; then
    programs=test_cuda
    scripts='tests/scenarios/run.sh tests/runs/run.sh tests/commands/run.sh tests/checkpoint/run.sh
        tests/bad/run.sh tests/cases/run.sh tests/solver/run.sh tests/ranks/run.sh tests/rank_failures/run.sh'
fi

# A line with name and file of each program that matches: "ranks tests/ranks/run.sh".
list() {
    for program in $scripts "$BUILD/tests/$programs"*; do
        name=$(echo "${program#"$BUILD/"}" | sed 's/^tests.//; s/.run.sh$//; s/.sh$//')
        case $program in *.d) continue ;; esac
        case $name in *"$pattern"*) [ ! -x "$program" ] || echo "$name $program" ;; esac
    done
}
together=$(list | grep -vE "^($alone) ")
apart=$(list | grep -E "^($alone) ")

# Runs the program of a line; prints NAME:STATUS:SECONDS when it has ended.
# shellcheck disable=SC2016  # the inner shell expands it
one='name=${1%% *} begun=$(date +%s)
"${1#* }" >"$0/$name.tap" 2>"$0/$name.err"
echo "$name:$?:$(($(date +%s) - begun))"'

# Not in the background, where a shell has its commands ignore Ctrl-C.
run_all() {
    {
        echo "$together" | grep -E "^($first) "
        echo "$together" | grep -vE "^($first) "
    } | xargs -P "$jobs" -I {} sh -c "$one" "$log" {}
    echo "$apart" | xargs -I {} sh -c "$one" "$log" {}
}

# show NAME STATUS SECONDS: a program that dies or prints no test counts as a failure.
show() {
    tap=$log/$1.tap
    # cmocka marks a skipped test "not ok ... # SKIP", others "ok ... # SKIP".
    good=$(grep -ci '^\(not \)\?ok.*# skip\|^ok' "$tap")
    bad=$(grep -i '^not ok' "$tap" | grep -vci '# skip')
    skip=$(grep -ci '^\(not \)\?ok.*# skip' "$tap")
    if [ "$bad" = 0 ] && { [ "$2" != 0 ] || [ "$good" = 0 ]; }; then
        bad=1
        echo "not ok $1: exit status $2 after $good tests" >>"$tap"
    fi
    passed=$((passed + good - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
    printf '%-28s %4d passed %3d failed %3d skipped  %3d s\n' "$1" $((good - skip)) "$bad" "$skip" "$3"
    if [ "$bad" != 0 ]; then
        grep -A3 '^not ok' "$tap"
        tail -n 20 "$log/$1.err"
    fi
}

# Reads what has ended, and shows it in the order of the lists.
show_all() {
    passed=0 failed=0 skipped=0 ended=' '
    # shellcheck disable=SC2046  # names are words
    set -- $(printf '%s\n' "$together" "$apart" | cut -d' ' -f1)
    while read -r end; do
        ended="$ended$end "
        while [ $# != 0 ]; do
            case $ended in *" $1:"*) ;; *) break ;; esac
            end=${ended#*" $1:"} end=${end%% *}
            show "$1" "${end%:*}" "${end#*:}"
            shift
        done
    done
    for name; do # without an end
        : >"$log/$name.tap"
        show "$name" unknown 0
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}

run_all | show_all
