#!/bin/sh
# toolkit.sh -- CUDA's runtime library and headers are found in every layout of the toolkit, also
# behind a launcher; without them the build stops and says what to do.
set -u
cd "$(dirname "$0")/.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# An nvcc that knows one architecture and answers --dryrun with $2. usage: toolkit FOLDER ANSWER
toolkit() {
    mkdir -p "$scratch/$1/bin"
    {
        echo '#!/bin/sh'
        # shellcheck disable=SC2016  # for the script that is written
        printf 'case "$*" in *--list-gpu-arch*) echo compute_75 ;; *--dryrun*) echo %s >&2 ;; esac\n' "'$2'"
    } >"$scratch/$1/bin/nvcc"
    chmod +x "$scratch/$1/bin/nvcc"
}

# Empty files, with their folders, below the scratch folder.
files() {
    for f in "$@"; do
        mkdir -p "$(dirname "$scratch/$f")"
        : >"$scratch/$f"
    done
}

# What make would do to build the program with this nvcc.
plan() {
    env -u CUDA_HOME -u CUDART -u CUDA_INCLUDE make -n V=1 CUDA=1 CUDA_ARCH=compute_75 NVCC="$1" \
        BUILD="$scratch/build" "$scratch/build/selenite" 2>&1
}

# usage: finds NAME NVCC LIBRARY HEADERS
finds() {
    if plan "$2" >"$scratch/plan" && grep -qF -- "$scratch/$3 -lrt" "$scratch/plan" &&
        grep -qF -- "-isystem $scratch/$4 " "$scratch/plan"; then
        echo "ok $1"
    else
        echo "not ok $1"
        tail -n 3 "$scratch/plan" >&2
    fi
}

library=libcudart_static.a header=cuda_runtime_api.h machine=$(uname -m | sed 's/aarch64/sbsa/')-linux

toolkit nvidia ''
files nvidia/lib64/$library nvidia/include/$header
finds 'lib64 and include beside bin' "$scratch/nvidia/bin/nvcc" nvidia/lib64/$library nvidia/include
finds 'behind a launcher' "env $scratch/nvidia/bin/nvcc" nvidia/lib64/$library nvidia/include

toolkit targets ''
files "targets/targets/$machine/lib/$library" "targets/targets/$machine/include/$header"
finds 'targets of this machine' "$scratch/targets/bin/nvcc" "targets/targets/$machine/lib/$library" \
    "targets/targets/$machine/include"

toolkit conda "#\$ INCLUDES=\"-I$scratch/elsewhere/include\"
#\$ LIBRARIES=  \"-L$scratch/elsewhere/stubs\" \"-L$scratch/elsewhere/lib\""
files elsewhere/lib/$library elsewhere/include/$header
finds 'where nvcc says' "$scratch/conda/bin/nvcc" elsewhere/lib/$library elsewhere/include

toolkit bare ''
files bare/include/$header
if [ "$(${CC:-cc} -print-file-name=$library)" != $library ]; then
    echo 'ok a missing library stops the build # SKIP this compiler finds one by itself'
elif ! plan "$scratch/bare/bin/nvcc" >"$scratch/plan" &&
    grep -q "is there, but not $library; .*CUDART=FILE.*make CUDA=0" "$scratch/plan"; then
    echo 'ok a missing library stops the build'
else
    echo 'not ok a missing library stops the build'
    tail -n 3 "$scratch/plan" >&2
fi

# ---- kernels, where there is nvcc ----

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
objects=$(find "${BUILD:-build}/cuda" -name '*.cu.o' 2>/dev/null)
if [ -z "$nvcc" ] || [ -z "$objects" ]; then
    echo 'ok what kernels share is assembled for the oldest GPU # SKIP no nvcc'
    echo 'ok launchers call no functions of the device # SKIP no nvcc'
    exit 0
fi

# A build without a GPU has text alone, which a driver would refuse only when a kernel is launched.
cat >"$scratch/shared.cu" <<'END'
#include <cstdint>
#include "cuda/early.cuh"
#include "cuda/wide.cuh"
__global__ void all(const int4 *from, uint32_t *to) {
    __shared__ int4 near[2];
    wide_ask(from, near);
    wide_ask(from + 1, near + 1, to[0] > 0);
    wide_end_group();
    wide_wait<0>();
    cuda_wait_for_last();
    to[threadIdx.x] = sum_of_lanes(near[0].x + near[1].y);
    cuda_let_next_begin();
}
END
oldest=$("$nvcc" --list-gpu-arch | sed 's/compute_//' | grep -v '^[3-6].$' | sort -n | head -n 1)
if "$nvcc" -std=c++17 -arch="sm_$oldest" -I. -cubin -o "$scratch/shared.cubin" "$scratch/shared.cu" \
    >"$scratch/said" 2>&1; then
    echo 'ok what kernels share is assembled for the oldest GPU'
else
    echo 'not ok what kernels share is assembled for the oldest GPU'
    head -n 5 "$scratch/said" >&2
fi

# nvcc gives functions of the device a body for the host, which ends the process; it does not always
# refuse a call of them. Launchers have C's names.
# shellcheck disable=SC2086
found=$(objdump -dr --no-show-raw-insn $objects 2>/dev/null | awk '
    /^[0-9a-f]+ <.*>:$/ { name = $2 }
    /R_X86_64_[A-Z0-9]*[ \t]+exit/ && name !~ /^<_Z/ { print name }' | sort -u)
if [ -z "$found" ]; then
    echo 'ok launchers call no functions of the device'
else
    echo 'not ok launchers call no functions of the device'
    echo "$found" >&2
fi
