#!/bin/sh
# run.sh -- the tutorial and the page on Python do what they say. Prints TAP.
# usage: BUILD=build PYTHON=/usr/bin/python3 run.sh
# The commands and programs of both documents run one after the other in one empty folder; what they
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
PATH=$build:$PATH PYTHONDONTWRITEBYTECODE=1 "$python" "$root/tests/docs/documents.py" \
    "$root/docs/tutorial.md" "$root/docs/python.md"
