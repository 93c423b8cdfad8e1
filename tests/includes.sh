#!/bin/sh
# includes.sh -- what a folder may include: app -> lua -> run -> output -> solvers -> machine -> scene ->
# io -> values -> physics, base. Prints TAP.
# usage: tests/includes.sh
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0

# verdict NAME FOUND: passed when nothing has been found.
verdict() {
    if [ -z "$2" ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        echo "$2" | sed 's/^/# /'
        failed=1
    fi
}

# only_in NAME PATTERN DIRECTORY...: outside of these, no file includes what matches.
only_in() {
    name=$1 pattern="^ *#include *[<\"]($2)" found=
    shift 2
    for directory in engine geometry cuda lua examples; do
        case " $* " in *" $directory "*) continue ;; esac
        found="$found$(grep -rnE "$pattern" "$directory" --include='*.c' --include='*.h' \
            --include='*.cu' --include='*.cuh' | grep -v '^engine/app/main\.c:')"
    done
    verdict "$name" "$found"
}

only_in "Lua's headers are included in lua/ only" 'lua(xlib|lib|conf)?\.h|lauxlib\.h' lua
only_in "CUDA's headers are included in cuda/ only" 'cuda(_runtime|_runtime_api)?\.h|(cu|nv)[a-z_]*\.h>' cuda

# not_in NAME PATTERN FOLDER...: no file in these has what matches.
not_in() {
    name=$1 pattern=$2
    shift 2
    found=$(grep -rnE "$pattern" "$@")
    verdict "$name" "$found"
}

mpi='mpi\.h|\bMPI_[A-Z]'
not_in "no solver knows MPI" "$mpi|ranks_plugin" engine/solvers engine/multigrid engine/physics
not_in "MPI is in its plug-in only" "$mpi" engine/machine engine/run engine/output engine/scene \
    engine/values engine/io engine/app lua geometry
not_in "no solver knows NCCL" 'nccl[A-Z]|libnccl|machine/link' engine cuda/*.* cuda/multigrid lua geometry
only_in "lua/ is included by itself and main.c only" 'lua/' lua
only_in "cuda/ is included by itself only" 'cuda/' cuda

# A folder may include itself and those before it in this list, so there is no circle.
order='engine/base engine/mpi engine/physics engine/values engine/io engine/scene engine/machine engine/multigrid cuda/machine cuda/multigrid
    engine/solvers/lbm engine/solvers/aqua engine/solvers/heat engine/solvers/poisson engine/solvers/rule cuda engine/solvers engine/output engine/run geometry engine lua
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
exit $failed
