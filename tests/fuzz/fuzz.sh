#!/bin/sh
# fuzz.sh -- build the fuzz targets (scripts, and the files that they read) with clang and run them;
# then compare random laws and rules with Lua, run random scenarios and those that attack the reader of
# functions under sanitizers, and right ones in all ways (tests/random).
# usage: tests/fuzz/fuzz.sh [SECONDS [LAWS [SCENARIOS]]]   (60 each, 2000000 and 2000 when not given)
# FIRST=N: laws and scenarios from number N on. Seeds of the others: scenarios, bad scripts, seeds/.
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60} laws=${2:-2000000} scenarios=${3:-2000}
first=${FIRST:-1000000} python=${PYTHON:-/usr/bin/python3}
build='build-fuzz'
sanitizers=address,undefined
objects=$(for file in lua/*/*.c; do echo "$build/${file%.c}.o"; done)
# The names of the objects are words.
# shellcheck disable=SC2086
make CC=clang BUILD=$build DEBUG=1 CUDA=0 \
    CFLAGS="-fsanitize=$sanitizers,fuzzer-no-link -fno-sanitize-recover=all -Wno-pass-failed" \
    $build/libselenite.a $objects
for target in fuzz_script fuzz_csv fuzz_png fuzz_asc fuzz_tif fuzz_mesh fuzz_mask fuzz_checkpoint; do
    # shellcheck disable=SC2086
    clang -std=c11 -D_GNU_SOURCE -g -O1 -I. -I/usr/include/lua5.4 -fsanitize=$sanitizers,fuzzer \
        -fno-sanitize-recover=all -o $build/$target tests/fuzz/$target.c $objects \
        $build/libselenite.a -llua5.4 -ltiff -lpng16 -lz -fopenmp -pthread -ldl -lm
    mkdir -p $build/corpus_$target
done
# A script that does not stop at its limit ends the process, as it should: fuzz_script.c then exits
# with 77, and the next one goes on.
fuzz() {
    target=$1 end=$(($(date +%s) + seconds))
    shift
    while [ "$(date +%s)" -lt "$end" ]; do
        $build/"$target" -max_total_time=$((end - $(date +%s))) -timeout=20 -rss_limit_mb=4096 \
            -max_len=4096 -close_fd_mask=2 -artifact_prefix=$build/ "$@" && return
        [ $? = 77 ] || return 1
    done
}
tests/bad/split.sh $build/bad_scripts
fuzz fuzz_script -dict=tests/fuzz/script.dict $build/corpus_fuzz_script scenarios examples \
    $build/bad_scripts
fuzz fuzz_csv $build/corpus_fuzz_csv tests/fuzz/seeds
fuzz fuzz_png $build/corpus_fuzz_png tests/fuzz/seeds
fuzz fuzz_asc $build/corpus_fuzz_asc tests/fuzz/seeds
fuzz fuzz_tif $build/corpus_fuzz_tif tests/fuzz/seeds
fuzz fuzz_mesh $build/corpus_fuzz_mesh tests/fuzz/seeds
fuzz fuzz_mask $build/corpus_fuzz_mask tests/fuzz/seeds
fuzz fuzz_checkpoint $build/corpus_fuzz_checkpoint tests/fuzz/seeds

make CUDA=0 build/tests/test_script_program build/tests/test_rule_read build/tests/test_rule_closures
LAWS=$laws FIRST=$first build/tests/test_script_program
RULES=$((laws / 1000)) FIRST=$first build/tests/test_rule_read
RULES=$((laws / 1000)) FIRST=$first build/tests/test_rule_closures
checked=address,undefined,float-cast-overflow
make CUDA=0 SANITIZE=$checked all
$python tests/fuzz/scenarios.py "build-$(echo $checked | tr , -)/selenite" $build/scenarios "$scenarios" \
    "$first"
$python tests/fuzz/attacks.py "build-$(echo $checked | tr , -)/selenite" $build/attacks "$scenarios" "$first"
make CUDA=0 all
SEEDS=${SEEDS:-60} BUILD=build tests/random/run.sh
