#!/bin/sh
# run.sh -- bodies of triangles and masks from the command line. Prints TAP.
# usage: BUILD=build BACKEND=cpu|cuda run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
python=${PYTHON:-/usr/bin/python3}
cp tests/meshes/ball.lua "$work"

# A ball in thousandths about the origin.
"$python" tests/meshes/ball.py "$work/ball.stl" 5300 0 0 0
"$python" tests/meshes/ball.py "$work/open.stl" 5300 0 0 0 48 3

# sizes ARGUMENTS: what check says of the cells and areas.
sizes() {
    "$selenite" check "$work/ball.lua" --regions "$@" >"$work/text" && grep -A1 'ball: law.wall' "$work/text"
}

a_ball_of_triangles_has_the_cells_of_a_ball() {
    sizes >"$work/exact" && sizes mesh=ball.stl scale=0.001 >"$work/of_mesh" && diff "$work/exact" "$work/of_mesh" &&
        ! grep 'warning: .*mesh' "$work/text"
}

a_ball_of_triangles_has_the_forces_of_a_ball() {
    run "$work/ball.lua" -o "$work/of_ball" && run "$work/ball.lua" mesh=ball.stl scale=0.001 -o "$work/of_triangles" &&
        "$python" - "$work/of_ball/force.csv" "$work/of_triangles/force.csv" <<'END'
import csv
import sys

exact, mesh = ([float(x) for x in list(csv.reader(open(name)))[-1]] for name in sys.argv[1:])
print(exact, mesh)
assert exact[2] > 0 and abs(mesh[2] / exact[2] - 1) < 0.005
END
}

an_open_mesh_is_closed_and_told() {
    sizes >"$work/exact" && sizes mesh=open.stl scale=0.001 >"$work/of_mesh" && diff "$work/exact" "$work/of_mesh" &&
        grep 'warning: .*ball.lua:9: shape.mesh: .*open.stl is open: 5 edges have no second triangle' "$work/text"
}

# A mask by every way: written by numpy and VTK, and by out.vtk itself.
masks_of_all_files_are_the_same() {
    cat >"$work/mask.lua" <<'END'
local sel = require "selenite"
local p = sel.params { file = "", array = "", invert = true, raw = false }
local image = { file = p.file, invert = p.invert, array = p.array ~= "" and p.array or nil }
if p.raw then image.size, image.type = { 7, 5, 6 }, "uint16" end
return sel.lbm {
  lattice = "D3Q19", size = { 7, 5, 6 }, tau = 0.8, periodic = { "x", "y", "z" },
  regions = { { name = "rock", where = sel.shape.image(image), law = sel.law.wall {} } },
  stop = { steps = 1 }, output = { sel.out.vtk { fields = "pressure", compression = "zlib" } },
}
END
    (cd "$work" && "$python" - <<'END') || return 1
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOXML import vtkXMLImageDataWriter

solid = np.random.default_rng(1).random((6, 5, 7)) < 0.3
np.save("c.npy", solid)
np.save("f.npy", np.asfortranarray(solid.astype(">f4")))
solid.astype("<u2").tofile("r.raw")
for kind, type, points in (("cell", np.uint8, 0), ("point", np.float64, 1)):
    image = vtkImageData()
    image.SetDimensions(8 - points, 6 - points, 7 - points)
    array = numpy_to_vtk(solid.astype(type).ravel(), deep=True)
    array.SetName("rock")
    (image.GetPointData() if points else image.GetCellData()).AddArray(array)
    for mode, packed, header, encode in (
            ("Ascii", "None", 32, 0), ("Binary", "None", 32, 0), ("Binary", "ZLib", 64, 0),
            ("Binary", "ZLib", 32, 0), ("Appended", "None", 32, 1), ("Appended", "None", 64, 0),
            ("Appended", "ZLib", 32, 0), ("Appended", "ZLib", 64, 1)):
        writer = vtkXMLImageDataWriter()
        writer.SetInputData(image)
        getattr(writer, f"SetDataModeTo{mode}")()
        getattr(writer, f"SetCompressorTypeTo{packed}")()
        getattr(writer, f"SetHeaderTypeToUInt{header}")()
        writer.SetBlockSize(64)
        writer.SetEncodeAppendedData(encode)
        writer.SetFileName(f"{kind}_{mode}_{packed}_{header}_{encode}.vti")
        assert writer.Write()
END
    "$selenite" check "$work/mask.lua" --regions file=c.npy | grep -A1 'rock: law.wall' >"$work/first" || return 1
    run "$work/mask.lua" -o "$work/marked" file=c.npy || return 1
    cp "$work"/marked/vtk/vtk_*.vti "$work/own.vti"
    for mask in f.npy 'r.raw raw=true' 'own.vti array=solid' $(cd "$work" && echo cell_*.vti point_*.vti); do
        # The words of a mask are to be split.
        # shellcheck disable=SC2086
        "$selenite" check "$work/mask.lua" --regions file=$mask | grep -A1 'rock: law.wall' | diff "$work/first" - ||
            { echo "$mask"; return 1; }
    done
}

ok "a ball of triangles has the cells of a ball" a_ball_of_triangles_has_the_cells_of_a_ball
ok "a ball of triangles has the forces of a ball" a_ball_of_triangles_has_the_forces_of_a_ball
ok "an open mesh is closed, and told" an_open_mesh_is_closed_and_told
if "$python" -c 'import numpy, vtkmodules.vtkIOXML' 2>/dev/null; then
    ok "masks of all files are the same" masks_of_all_files_are_the_same
else
    echo "ok masks of all files are the same # SKIP needs VTK (python3-vtk9) and numpy"
fi
