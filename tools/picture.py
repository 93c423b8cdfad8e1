"""picture.py -- draw one field of a .vti file as a PNG: python3 tools/picture.py FILE.vti FIELD OUT.png [SCALE]

Needs python3-vtk9. Solid cells are grey. The colours run from dark blue over green to yellow and are
evenly spaced to the eye.
"""
import sys

from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

# Corners of the colour scale: position, red, green, blue.
COLOURS = [(0.0, 66, 10, 84), (0.25, 59, 82, 139), (0.5, 33, 144, 140), (0.75, 93, 201, 99),
           (1.0, 253, 231, 37)]
SOLID = (120, 120, 120)


def colour(value):
    for (a, *low), (b, *high) in zip(COLOURS, COLOURS[1:]):
        if value <= b:
            part = (value - a) / (b - a)
            return tuple(round(p + part * (q - p)) for p, q in zip(low, high))
    return COLOURS[-1][1:]


def main(path, field, out, scale=4):
    reader = vtkXMLImageDataReader()
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    nx, ny = (n - 1 for n in image.GetDimensions()[:2])
    array, kind = image.GetCellData().GetArray(field), image.GetCellData().GetArray("cell_type")
    if array is None:
        sys.exit(f"{path} has no field '{field}'")
    speed = [sum(c * c for c in array.GetTuple(i)) ** 0.5 for i in range(nx * ny)]
    solid = [kind.GetValue(i) != 0 and speed[i] == 0 for i in range(nx * ny)]
    top = max(speed)
    bytes_ = vtkUnsignedCharArray()
    bytes_.SetNumberOfComponents(3)
    for row in range(ny * scale):
        for column in range(nx * scale):
            cell = row // scale * nx + column // scale
            bytes_.InsertNextTuple(SOLID if solid[cell] else colour(speed[cell] / top))
    picture = vtkImageData()
    picture.SetDimensions(nx * scale, ny * scale, 1)
    picture.GetPointData().SetScalars(bytes_)
    writer = vtkPNGWriter()
    writer.SetFileName(out)
    writer.SetInputData(picture)
    writer.Write()


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:5]))
