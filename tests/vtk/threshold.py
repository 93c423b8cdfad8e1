"""threshold.py -- the guide's Threshold on a frame of a run, with the real VTK; usage: threshold.py FILE.vti."""
import sys

from vtkmodules.vtkCommonDataModel import vtkDataObject
from vtkmodules.vtkFiltersCore import vtkThreshold
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

import expected

# What run.sh writes: a channel of 6 x 4 cells between walls, region 1 a block of 2 x 1 cells at the floor.
NX, NY = 6, 4
BLOCK = {2, 3}
INLET, OUTLET, WALLS = 2, 3, 4


def region_of_face(cell):
    """Of the faces that a cell touches, the region painted last."""
    x, y = cell % NX, cell // NX
    if y in (0, NY - 1):
        return WALLS
    return INLET if x == 0 else OUTLET if x == NX - 1 else 0


def values(attributes, name):
    array = attributes.GetArray(name)
    return [int(array.GetValue(k)) for k in range(array.GetNumberOfTuples())]


def fluid(reader):
    """The cells that Threshold keeps with `solid` from 0 to 0."""
    threshold = vtkThreshold()
    threshold.SetInputConnection(reader.GetOutputPort())
    threshold.SetInputArrayToProcess(0, 0, 0, vtkDataObject.FIELD_ASSOCIATION_CELLS, "solid")
    threshold.SetLowerThreshold(0)
    threshold.SetUpperThreshold(0)
    threshold.SetThresholdFunction(vtkThreshold.THRESHOLD_BETWEEN)
    threshold.Update()
    return threshold.GetOutput()


def wrong(found, wanted):
    return "" if found == wanted else f"{found}, not {wanted}"


def main(path):
    tap = expected.Tap()
    reader = vtkXMLImageDataReader()
    reader.SetFileName(path)
    reader.Update()
    cells = reader.GetOutput().GetCellData()
    free = [cell for cell in range(NX * NY) if cell not in BLOCK]
    tap.check("solid is 1 in the block alone",
              wrong(values(cells, "solid"), [int(k in BLOCK) for k in range(NX * NY)]))
    tap.check("cell_type is the region of the block there alone",
              wrong(values(cells, "cell_type"), [int(k in BLOCK) for k in range(NX * NY)]))
    kept = fluid(reader)
    tap.check("Threshold on solid keeps all of the fluid, at walls and open faces too",
              wrong(values(kept.GetCellData(), "boundary"), [region_of_face(k) for k in free]))
    return tap.end()


sys.exit(main(sys.argv[1]))
