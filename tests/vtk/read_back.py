"""read_back.py -- read what write_files.c wrote with the real VTK; usage: read_back.py DIR."""
import sys

from vtkmodules.vtkIOXML import vtkXMLImageDataReader

import expected

PAGE, ATTRIBUTES = 4096, 32
TAG = b"<AppendedData"


def read(path):
    reader = vtkXMLImageDataReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def wrong_padding(path):
    """The header as old readers with a new expat need it: see vtk_writer.h."""
    with open(path, "rb") as file:
        data = file.read()
    end = data.index(TAG) + len(TAG)
    if end % PAGE:
        return f"{TAG.decode()} ends at byte {end}"
    attributes = data[end:data.index(b">", end)]
    if attributes != b' encoding="raw"'.ljust(ATTRIBUTES):
        return f"attributes {attributes!r}"
    return ""


def wrong_when_cut(path):
    """A reader that finds no arrays must not pass for one that finds the right ones."""
    with open(path, "rb") as file:
        data = file.read()
    cut = path + ".cut.vti"
    with open(cut, "wb") as file:
        file.write(data[:len(data) // 2])
    found = expected.wrong_image(read(cut), expected.EXTENTS["blocks"], 0.1)
    return "" if found else "half a file compared equal"


def main(directory):
    tap = expected.Tap()
    for name, extent in expected.EXTENTS.items():
        for level in expected.LEVELS:
            path = f"{directory}/{name}_{level}.vti"
            tap.check(f"VTK reads {name} at zlib level {level}",
                      expected.wrong_image(read(path), extent, 0.1))
            tap.check(f"header of {name} at zlib level {level} is padded", wrong_padding(path))
    print("# the reader's complaints about a cut file are expected", file=sys.stderr)
    tap.check("a cut file does not compare equal", wrong_when_cut(f"{directory}/blocks_0.vti"))
    return tap.end()


sys.exit(main(sys.argv[1]))
