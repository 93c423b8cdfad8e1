#!/bin/sh
# includes.sh -- what a part may include: main -> lua -> engine -> backends -> physics. Prints TAP.
# usage: tests/includes.sh
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0

# only_in NAME PATTERN DIRECTORY...: outside of these, no file includes what matches.
only_in() {
    name=$1 pattern="^ *#include *[<\"]($2)" found=
    shift 2
    for directory in engine geometry cuda lua examples; do
        case " $* " in *" $directory "*) continue ;; esac
        found="$found$(grep -rnE "$pattern" "$directory" --include='*.c' --include='*.h' \
            --include='*.cu' --include='*.cuh' | grep -v '^engine/main\.c:')"
    done
    if [ -z "$found" ]; then
        echo "ok $name"
    else
        echo "not ok $name"
        echo "$found" | sed 's/^/# /'
        failed=1
    fi
}

only_in "Lua's headers are included in lua/ only" 'lua(xlib|lib|conf)?\.h|lauxlib\.h' lua
only_in "CUDA's headers are included in cuda/ only" 'cuda(_runtime|_runtime_api)?\.h|(cu|nv)[a-z_]*\.h>' cuda
only_in "lua/ is included by itself and main.c only" 'lua/' lua
only_in "cuda/ is included by itself only" 'cuda/' cuda
exit $failed
