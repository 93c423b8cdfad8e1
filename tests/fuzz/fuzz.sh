#!/bin/sh
# fuzz.sh -- build the fuzz targets (scripts, and the files that they read) with clang and run them.
# usage: tests/fuzz/fuzz.sh [SECONDS]   (60 each when not given; seeds: scenarios, bad scripts, seeds/)
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
build='build-fuzz'
sanitizers=address,undefined
objects=$(for file in lua/*.c; do echo "$build/${file%.c}.o"; done)
# The names of the objects are words.
# shellcheck disable=SC2086
make CC=clang BUILD=$build DEBUG=1 CUDA=0 \
    CFLAGS="-fsanitize=$sanitizers,fuzzer-no-link -fno-sanitize-recover=all -Wno-pass-failed" \
    $build/libselenite.a $objects
for target in fuzz_script fuzz_csv fuzz_png fuzz_asc fuzz_tif; do
    # shellcheck disable=SC2086
    clang -std=c11 -D_GNU_SOURCE -g -O1 -I. -I/usr/include/lua5.4 -fsanitize=$sanitizers,fuzzer \
        -fno-sanitize-recover=all -o $build/$target tests/fuzz/$target.c $objects \
        $build/libselenite.a -llua5.4 -ltiff -lpng16 -lz -fopenmp -pthread -ldl -lm
    mkdir -p $build/corpus_$target
done
fuzz() {
    target=$1
    shift
    $build/"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=4096 \
        -close_fd_mask=2 -artifact_prefix=$build/ "$@"
}
fuzz fuzz_script -dict=tests/fuzz/script.dict $build/corpus_fuzz_script scenarios examples tests/bad
fuzz fuzz_csv $build/corpus_fuzz_csv tests/fuzz/seeds
fuzz fuzz_png $build/corpus_fuzz_png tests/fuzz/seeds
fuzz fuzz_asc $build/corpus_fuzz_asc tests/fuzz/seeds
fuzz fuzz_tif $build/corpus_fuzz_tif tests/fuzz/seeds
