"""read_in_paraview.py -- read what write_files.c wrote with ParaView; usage: pvpython read_in_paraview.py DIR."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import expected
from paraview import servermanager
from paraview.simple import PVDReader, XMLImageDataReader


def image_at(source, time=None):
    if time is None:
        source.UpdatePipeline()
    else:
        source.UpdatePipeline(time)
    return servermanager.Fetch(source)


def check_collection(directory, tap):
    reader = PVDReader(FileName=f"{directory}/steps.pvd")
    times = list(reader.TimestepValues)
    tap.check("ParaView finds the times of the collection",
              "" if times == [t for _, t in expected.STEPS] else f"times are {times}")
    for name, time in expected.STEPS:
        tap.check(f"ParaView reads the collection at time {time}",
                  expected.wrong_image(image_at(reader, time), expected.EXTENTS[name], time))


def main(directory):
    tap = expected.Tap()
    for name, extent in expected.EXTENTS.items():
        for level in expected.LEVELS:
            reader = XMLImageDataReader(FileName=[f"{directory}/{name}_{level}.vti"])
            tap.check(f"ParaView reads {name} at zlib level {level}",
                      expected.wrong_image(image_at(reader), extent, 0.1))
    check_collection(directory, tap)
    return tap.end()


sys.exit(main(sys.argv[1]))
