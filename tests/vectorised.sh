#!/bin/sh
# vectorised.sh -- the CPU's bulk loops must multiply whole vectors at every processor level.
# usage: BUILD=build tests/vectorised.sh   (prints TAP)
build=${BUILD:-build}
case $build in
*-address* | *-undefined* | *-thread*) echo "ok vectorised # SKIP a sanitizer's build is not optimised"; exit 0 ;;
esac
if [ "$(uname -m)" != x86_64 ] || ! command -v objdump >/dev/null; then
    echo "ok vectorised # SKIP needs x86-64 and objdump"
    exit 0
fi

failed=0
# check LEVEL REGISTER: the functions of one level use packed multiplications of that width.
check() {
    object=$build/engine/lbm/lbm_cpu_kernel.$1.o
    for real in f32 f64; do
        case $real in f32) multiply=mulps ;; f64) multiply=mulpd ;; esac
        for loop in bulk_trt bulk_trt_force bulk_trt_field bulk_trt_eddy bulk_bgk bulk_bgk_force \
            bulk_regularized bulk_regularized_force bulk_regularized_eddy; do
            count=$(objdump -d --no-show-raw-insn "$object" |
                awk -v f="<${loop}_$real>:" '/>:$/ { inside = $2 == f } inside' |
                grep "$multiply" | grep -c "%$2")
            if [ "$count" -ge 20 ]; then
                echo "ok ${loop}_$real $1: $count $multiply of $2"
            else
                echo "not ok ${loop}_$real $1: only $count $multiply of $2"
                failed=1
            fi
        done
    done
}
check v2 xmm
check v3 ymm
check v4 zmm
exit $failed
