#!/bin/sh
# all.sh -- the tests of CUDA on a processor, each kernel once: what `make test-device` runs. Prints TAP.
# usage: DEVICE=build/device tests/device/all.sh [PATTERN]
set -u
device=${DEVICE:-build/device}
pattern=${1:-test_cuda}
LD_LIBRARY_PATH=$(cd "$device" && pwd)/lib
XDG_CACHE_HOME=$(mktemp -d)
export LD_LIBRARY_PATH XDG_CACHE_HOME RULES="${RULES:-8}"
failed=0
for test in "$device"/tests/test_cuda*; do
    name=$(basename "$test")
    case $name in
    *.d) continue ;;
    *"$pattern"*) ;;
    *) continue ;;
    esac
    if "$test" short >"$device/$name.log" 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name"
        grep -v '^\[ *RUN' "$device/$name.log" | sed 's/^/# /'
        failed=1
    fi
done
rm -rf "$XDG_CACHE_HOME" /tmp/device-??????
exit $failed
