#!/bin/sh
# run.sh -- files of the VTK writer and of a run read back by the real VTK (python3-vtk9). Prints TAP.
# usage: BUILD=build CC=gcc CXX=g++ run.sh; a compiler may be several words, such as "ccache gcc".
set -eu
here=$(dirname "$0")
build=${BUILD:-build}
python=${PYTHON:-/usr/bin/python3}
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

mkdir -p "$build/tests/vtk"
${CC:-gcc} -std=c11 -pedantic -Wall -Wextra -Werror -O2 -I"$here/../.." \
    -o "$build/tests/vtk/write_files" "$here/write_files.c" -lz
"$build/tests/vtk/write_files" "$files"

if ! ${CXX:-g++} --version >/dev/null 2>&1; then
    echo "ok - the header is C++17 as well # SKIP no C++ compiler"
elif printf '#include "engine/io/vtk_writer.h"\n' |
    ${CXX:-g++} -std=c++17 -pedantic -Wall -Wextra -Werror -I"$here/../.." -x c++ -fsyntax-only -; then
    echo "ok - the header is C++17 as well"
else
    echo "not ok - the header is C++17 as well"
fi
if ! "$python" -c 'import vtkmodules.vtkIOXML' 2>/dev/null; then
    echo "not ok - $python has no VTK: install python3-vtk9 (make test does)"
    exit 1
fi
export PYTHONDONTWRITEBYTECODE=1
"$python" "$here/read_back.py" "$files"

"$build/selenite" run - -o "$files/run" --quiet --backend cpu <<'EOT'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 6, 4 }, nu = 0.1, stop = { steps = 1 },
  regions = {
    { where = shape.box { min = { 2, 0 }, max = { 4, 1 } }, law = law.wall {} },
    { where = shape.face "x-", law = law.velocity { 0.01, 0 } },
    { where = shape.face "x+", law = law.pressure { 0 } },
    { where = shape.rest, law = law.wall {} },
  },
  output = { sel.out.vtk { fields = "velocity" } },
}
EOT
"$python" "$here/threshold.py" "$files/run/vtk/vtk_00000001.vti"
