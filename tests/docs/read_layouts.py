"""read_layouts.py -- `read` of docs/python.md gives the places of cells and of nodes.

usage: read_layouts.py PYTHON.md PROGRAM; runs in an empty folder.
A potential that equals x says by itself where a value stands.
"""

import json
import subprocess
import sys

import numpy as np

SCENARIO = """
local sel = require "selenite"
return sel.poisson { layout = "%s", size = { %s }, dx = 0.25, rhs = 0, origin = { %s },
  regions = { { where = sel.shape.faces, law = sel.law.fixed { function(x) return x end } } },
  output = { sel.out.vtk { fields = { "potential" } } } }
"""


def reader(document):
    """The function `read`, as the document has it."""
    text = open(document, encoding="utf-8").read()
    block = next(b.split("```")[0] for b in text.split("```python\n") if "def read(" in b)
    names = {"np": np}
    exec(block.split("\nimage, ")[0], names)
    return names["read"]


def main(document, program):
    read = reader(document)
    for layout, shift in ("cell", 0.5), ("node", 0):
        for counts in (6, 5), (6, 5, 4):
            name = f"{layout}{len(counts)}"
            origin = (1, -2, 3)[: len(counts)]
            with open(name + ".lua", "w", encoding="utf-8") as file:
                file.write(SCENARIO % (layout, ", ".join(map(str, counts)),
                                   ", ".join(map(str, origin))))
            subprocess.run([program, "run", name + ".lua", "-o", name, "--quiet"], check=True)
            _, arrays, places = read(f"{name}/vtk/vtk_{steps(name):08d}.vti")
            assert arrays["potential"].shape == counts[::-1], (name, arrays["potential"].shape)
            for axis, start in enumerate(origin):
                expected = start + 0.25 * (np.arange(counts[axis]) + shift)
                assert np.allclose(places[axis], expected), (name, axis, places[axis])
            assert np.allclose(arrays["potential"], places[0], atol=1e-6), (name, arrays)


def steps(folder):
    with open(folder + "/run.json", encoding="utf-8") as file:
        return json.load(file)["steps"]


main(*sys.argv[1:])
