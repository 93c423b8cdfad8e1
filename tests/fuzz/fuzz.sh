#!/bin/sh
# fuzz.sh -- build the fuzz target of the script layer with clang and run it.
# usage: tests/fuzz/fuzz.sh [SECONDS]   (60 when not given; seeds are the scenarios and bad scripts)
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
build='build-fuzz'
sanitizers=address,undefined
objects=$(for file in lua/*.c; do echo "$build/${file%.c}.o"; done)
# The names of the objects are words.
# shellcheck disable=SC2086
make CC=clang BUILD=$build DEBUG=1 \
    CFLAGS="-fsanitize=$sanitizers,fuzzer-no-link -fno-sanitize-recover=all -Wno-pass-failed" \
    $build/libselenite.a $objects
# shellcheck disable=SC2086
clang -std=c11 -D_GNU_SOURCE -g -O1 -I. -fsanitize=$sanitizers,fuzzer -fno-sanitize-recover=all \
    -o $build/fuzz_script tests/fuzz/fuzz_script.c $objects $build/libselenite.a \
    -llua5.4 -lz -fopenmp -pthread -ldl -lm
mkdir -p $build/corpus
$build/fuzz_script -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=4096 \
    -dict=tests/fuzz/script.dict -close_fd_mask=2 -artifact_prefix=$build/ \
    $build/corpus scenarios examples tests/bad
