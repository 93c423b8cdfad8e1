#!/bin/sh
# run.sh -- the tutorial, the page on Python and the README's scenario do what they say. Prints TAP.
# usage: BUILD=build PYTHON=/usr/bin/python3 run.sh
# The commands and programs of the documents run one after the other in one empty folder; what they
# print is compared with the document.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
python=${PYTHON:-/usr/bin/python3}
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! "$python" -c 'import numpy, vtkmodules.vtkIOXML' 2>/dev/null; then
    echo "not ok - $python has no VTK or no numpy: install python3-vtk9 and python3-numpy (make test does)"
    exit 1
fi
cd "$work" || exit 1
PATH=$build:$PATH
PYTHONDONTWRITEBYTECODE=1 "$python" "$root/tests/docs/documents.py" "$root/README.md" \
    "$root/docs/tutorial.md" "$root/docs/python.md" || echo "not ok - all blocks are as they say"

# ok NAME COMMAND...: one test, passed when the command succeeds.
ok() {
    name=$1
    shift
    if "$@" >log 2>&1; then
        echo "ok - README.md: $name"
    else
        echo "not ok - README.md: $name"
        sed 's/^/# /' log
    fi
}

a_misspelt_field_has_the_message_shown() {
    shown=$(grep -o "channel.lua:[0-9]*: stop: unknown field 'stpes'.*" "$root/README.md")
    sed -i 's/steps = /stpes = /' channel.lua
    [ -n "$shown" ] || { echo "README.md shows no message"; return 1; }
    if selenite check channel.lua >said 2>&1; then
        echo "no error"
        return 1
    fi
    cat said
    grep -qFx "$shown" said
}

if "$python" "$root/tests/docs/read_layouts.py" "$root/docs/python.md" "$build/selenite" >log 2>&1; then
    echo "ok - python.md: read gives the places of cells and of nodes"
else
    echo "not ok - python.md: read gives the places of cells and of nodes"
    sed 's/^/# /' log
fi
ok "the scenario is right" selenite check channel.lua
ok "a misspelt field has the message shown" a_misspelt_field_has_the_message_shown
