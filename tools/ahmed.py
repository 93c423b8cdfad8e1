#!/usr/bin/python3
"""ahmed.py -- the body of Ahmed, a simple car, as an STL file in millimetres: see windtunnel.lua.

usage: tools/ahmed.py FILE.stl [SLANT]   SLANT of the rear window, degrees, 25 when not given

S. R. Ahmed, G. Ramm, G. Faltin, Some salient features of the time-averaged ground vehicle wake,
SAE Technical Paper 840300 (1984), without its stilts. A box of 1044 x 389 x 288 mm; its front
edges are rounded with 100 mm, the upper edge of its back is cut off by a window 222 mm long. x is
along the body, from its nose, z upwards from its floor; y = 0 is its middle.
"""
import math
import struct
import sys

LENGTH, WIDTH, HEIGHT = 1044.0, 389.0, 288.0
ROUND, WINDOW = 100.0, 222.0
ARC = 12  # parts of the rounding


def quad(a, b, c, d):
    return [(a, b, c), (a, c, d)]


def loft(sections):
    """The surface through rectangles, each counter-clockwise seen from behind; both ends are
    flat."""
    triangles = quad(*reversed(sections[0])) + quad(*sections[-1])
    for before, after in zip(sections, sections[1:]):
        for k in range(4):
            m = (k + 1) % 4
            triangles += quad(before[k], before[m], after[m], after[k])
    return triangles


def section(x, inset, top):
    """A rectangle across x, `inset` smaller on all sides."""
    y, high = WIDTH / 2 - inset, top - inset
    return [(x, -y, inset), (x, y, inset), (x, y, high), (x, -y, high)]


def body(slant):
    angle = math.radians(slant)
    sections = []
    for k in range(ARC + 1):
        turn = 0.5 * math.pi * k / ARC
        sections.append(section(ROUND * (1 - math.cos(turn)), ROUND * (1 - math.sin(turn)), HEIGHT))
    sections.append(section(LENGTH - WINDOW * math.cos(angle), 0, HEIGHT))
    sections.append(section(LENGTH, 0, HEIGHT - WINDOW * math.sin(angle)))
    return loft(sections)


def main():
    file, slant = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 25.0
    triangles = body(slant)
    with open(file, "wb") as to:
        to.write(b"Ahmed body, mm".ljust(80) + struct.pack("<I", len(triangles)))
        for corners in triangles:
            to.write(struct.pack("<12fH", 0, 0, 0, *sum(corners, ()), 0))


main()
