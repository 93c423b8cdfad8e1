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
