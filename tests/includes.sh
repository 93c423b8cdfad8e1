#!/bin/sh
# includes.sh -- what a folder may include, and call: app and lua -> run -> output -> solvers -> cuda, core ->
# scene -> io -> values -> base. Prints TAP.
# usage: BUILD=build tests/includes.sh
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

# elsewhere PATTERN WHERE: includes that match in files whose path does not match WHERE.
elsewhere() {
    grep -rnE "^ *#include *[<\"]($1)" engine geometry cuda lua examples --include='*.c' --include='*.h' \
        --include='*.cu' --include='*.cuh' | grep -vE "^($2)"
}

device='cuda/|engine/solvers/[a-z]+/[a-z0-9_]+(\.cuh?|_cuda\.[ch]):'
verdict "Lua's headers are included in lua/ only" "$(elsewhere 'lua(xlib|lib|conf)?\.h|lauxlib\.h' lua/)"
verdict "lua/ is included by itself and main.c only" "$(elsewhere lua/ 'lua/|engine/app/main\.c:')"
verdict "CUDA's headers are included in .cu, .cuh, _cuda.c, _cuda.h and cuda/ only" \
    "$(elsewhere 'cuda(_runtime|_runtime_api)?\.h|(cu|nv)[a-z_]*\.h>|cuda/' "$device|engine/solvers/rule/rule_view\.h:")"

# not_in NAME PATTERN FOLDER...: no file in these has what matches.
not_in() {
    name=$1 pattern=$2
    shift 2
    found=$(grep -rnE "$pattern" "$@")
    verdict "$name" "$found"
}

mpi='mpi\.h|\bMPI_[A-Z]'
not_in "no solver knows MPI" "$mpi|ranks_plugin" engine/solvers
not_in "MPI is in its plug-in only" "$mpi" engine/core engine/run engine/output engine/scene \
    engine/values engine/io engine/app lua geometry
not_in "no solver knows NCCL" 'nccl[A-Z]|libnccl|cuda/link' engine lua geometry

# What a header of the run-time compiler includes outside of #ifndef __CUDACC__ has to be one, too.
run_time=$(make -s run-time-headers)
missing=$(for header in $run_time; do
    awk '/^#ifndef __CUDACC__/ { skips = 1; next }
         skips && /^#if/ { skips++ }
         skips && /^#(endif|else)/ { skips -= /^#endif/ || skips == 1; next }
         !skips && /^#include "/ { print $2 }' "$header" | tr -d '"' | while read -r other; do
        echo "$run_time" | grep -qx "$other" || echo "$header: $other"
    done
done)
verdict "kernels that are compiled at run time find what they include" "$missing"

# A folder may include itself and those before it in this list, so there is no circle.
order='engine/base engine/mpi engine/values engine/io engine/scene engine/core cuda engine/solvers/diffusion
    engine/solvers/multigrid
    engine/solvers/lbm engine/solvers/aqua engine/solvers/heat engine/solvers/poisson engine/solvers/rule
    engine/solvers geometry engine/output engine/run engine lua/script lua/functions lua/tables lua/commands
    engine/app'
upward=$(grep -rnE '^ *#include *"[^"]*/' engine geometry cuda lua --include='*.c' --include='*.h' \
    --include='*.cu' --include='*.cuh' | awk -v order="$order" '
    BEGIN { count = split(order, folder, " "); for (k = 1; k <= count; k++) place[folder[k]] = k }
    {
        from = $0; sub(/:.*/, "", from); sub(/\/[^\/]*$/, "", from)
        to = $0; sub(/^[^"]*"/, "", to); sub(/\/[^\/]*"[^"]*$/, "", to)
        if (!(from in place) || !(to in place) || place[to] > place[from]) print
    }')
verdict "folders include only those below them, and there is no circle" "$upward"

# Who defines a function stands as low as all who call it, pointers in tables aside. The exceptions:
exceptions='
engine/scene geometry           # scene/shape.h is the interface of shapes, which have a folder of their own
engine/solvers/lbm geometry     # the faces of a sponge are a shape
lua/commands engine/app         # the prompt of repl runs check and help'
upward=$({
    echo "$exceptions"
    # Objects of sources that are gone may lie there, too.
    find "$build/engine" "$build/cuda" "$build/geometry" "$build/lua" -name '*.o' 2>/dev/null |
        while read -r object; do
            from=${object#"$build"/}
            ls "${from%%.*}".c* >/dev/null 2>&1 && echo "$object"
        done | xargs nm -A 2>/dev/null | awk '$2 == "T" || $2 == "U" || $3 == "T"'
} | awk -v order="$order" -v build="$build/" '
    BEGIN { count = split(order, folder, " "); for (k = 1; k <= count; k++) place[folder[k]] = k }
    /#/ { allowed[$1 " " $2] = 1; next }
    NF < 3 { next }
    {
        path = $1; sub(/:.*/, "", path); sub(build, "", path); file = path; sub(/\/[^\/]*$/, "", path)
        if ($(NF - 1) == "T") home[$NF] = path
        else { calls++; caller[calls] = path; callee[calls] = $NF; of[calls] = file }
    }
    END {
        for (k = 1; k <= calls; k++) {
            to = home[callee[k]]
            if (to in place && caller[k] in place && place[to] > place[caller[k]] && !((caller[k] " " to) in allowed))
                print of[k] " calls " callee[k] " of " to
        }
    }' | sort -u)
verdict "functions are called from their own folder or from above" "$upward"
