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
# multiplications OBJECT REGISTER: lists how many packed ones of that width each function has.
multiplications() {
    objdump -d --no-show-raw-insn "$build/engine/solvers/$1.o" |
        awk -v register="%$2" '/>:$/ { f = substr($2, 2, length($2) - 3) }
            /mulp[sd]/ && index($0, register) { count[f]++ }
            END { for (f in count) print f, count[f] }' >"$listing"
}

# check LEVEL REGISTER: the functions of one level use packed multiplications of that width.
check() {
    for lattice in d2q9 d3q19; do
        multiplications "lbm/lbm_${lattice}_kernel.$1" "$2"
        for real in f32 f64; do
            for loop in trt trt_force trt_field trt_eddy bgk bgk_force regularized \
                regularized_force regularized_eddy; do
                for part in cells stream; do # into the caches and past them
                    count=$(sed -n "s/^${part}_${loop}_$real //p" "$listing")
                    if [ "${count:-0}" -ge 20 ]; then
                        echo "ok $lattice $part $loop $real $1: $count multiplications of $2"
                    else
                        echo "not ok $lattice $part $loop $real $1: only ${count:-0} of $2"
                        failed=1
                    fi
                done
            done
        done
    done
    # Uniform bodies, uneven ones and those that vary, in 2-D and 3-D: six loops.
    multiplications "heat/heat_kernel.$1" "$2"
    for real in float double; do
        count=$(sed -n "s/^row_$real //p" "$listing")
        if [ "${count:-0}" -ge 23 ]; then
            echo "ok heat $real $1: $count multiplications of $2"
        else
            echo "not ok heat $real $1: only ${count:-0} of $2"
            failed=1
        fi
    done
    objdump -d --no-show-raw-insn "$build/engine/solvers/aqua/aqua_kernel.$1.o" |
        awk -v register="%$2" '/>:$/ { f = substr($2, 2, length($2) - 3) }
            /sqrtps/ && index($0, register) { count[f]++ }
            END { for (f in count) sum += count[f]; print sum + 0 }' >"$listing"
    count=$(cat "$listing")
    if [ "$count" -ge 4 ]; then
        echo "ok aqua $1: $count roots of $2"
    else
        echo "not ok aqua $1: only $count roots of $2"
        failed=1
    fi
}
listing=$(mktemp)
trap 'rm -f "$listing"' EXIT
check v2 xmm
check v3 ymm
check v4 zmm
exit $failed
