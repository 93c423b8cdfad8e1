#!/usr/bin/python3
"""vessel.py -- an artery that divides into two, as an STL file in millimetres: see vessel.lua.

usage: tools/vessel.py FILE.stl [APART]   APART of the axes of the branches, mm, 8.8 when not given

The axes lie in z = 0. The trunk follows x, with a radius of 2 mm from x = -1 to 10. There its axis
divides into two curves that run along x again from x = 26 to 33. The radius of the branches is
that of Murray's law, R^3 = 2 r^3. A section across x is an ellipse about each axis, which is a
circle across the axis; where both overlap they are one. Where they part, the wall between them
begins with a round nose.
"""
import math
import struct
import sys

RADIUS, BRANCH, NOSE = 2.0, 2.0 / 2 ** (1 / 3), 0.4
START, DIVIDES, STRAIGHT, END = -1.0, 10.0, 26.0, 33.0
AROUND, ACROSS = 24, 4  # parts of a section: of its ellipse, and of what the nose cuts off it


def ellipse(x, apart):
    """How far its middle is from y = 0, and the half axes along y and z."""
    s = min(max((x - DIVIDES) / (STRAIGHT - DIVIDES), 0), 1)
    part = s * s * (3 - 2 * s)
    slope = 3 * apart * s * (1 - s) / (STRAIGHT - DIVIDES)
    radius = RADIUS + (BRANCH - RADIUS) * part
    return apart / 2 * part, radius * math.sqrt(1 + slope * slope), radius


def parting(apart, gap):
    """The x from which the ellipses are `gap` away from y = 0."""
    low, high = DIVIDES, STRAIGHT
    for _ in range(60):
        x = (low + high) / 2
        middle, along_y, _ = ellipse(x, apart)
        low, high = (x, high) if middle - along_y < gap else (low, x)
    return high


def section(x, apart, cut):
    """The section in y >= cut: a closed curve, first along the ellipse, then along the cut."""
    middle, along_y, along_z = ellipse(x, apart)
    turn = math.acos(min(max((cut - middle) / along_y, -1), 1))
    points = []
    for k in range(AROUND + 1):
        angle = turn * (2 * k / AROUND - 1)
        points.append((x, middle + along_y * math.cos(angle), along_z * math.sin(angle)))
    whole = middle - along_y >= cut
    end_y, end_z = (middle - along_y, 0.0) if whole else (cut, points[-1][2])
    points[0], points[-1] = (x, end_y, -end_z), (x, end_y, end_z)
    return points + [(x, end_y, end_z * (1 - 2 * k / ACROSS)) for k in range(1, ACROSS)]


def vessel(apart):
    nose = parting(apart, 0) - 2.5 * NOSE
    parted = parting(apart, NOSE)
    places = [(START, 0.0)]
    places += [(DIVIDES + (nose - DIVIDES) * math.sin(0.05 * math.pi * k), 0.0) for k in range(11)]
    for k in range(1, 7):
        turn = math.pi * k / 12
        places.append((nose + NOSE * (1 - math.cos(turn)), NOSE * math.sin(turn)))
    for k in range(1, 6):
        places.append((nose + NOSE + (parted - nose - NOSE) * k / 5, NOSE))
    places += [(parted + (STRAIGHT - parted) * k / 15, NOSE) for k in range(1, 16)] + [(END, NOSE)]
    sections = [section(x, apart, cut) for x, cut in places]
    half = []
    for one, further in zip(sections, sections[1:]):
        for k, a in enumerate(one):
            m = (k + 1) % len(one)
            half += [(a, one[m], further[m]), (a, further[m], further[k])]
    for points, (x, _) in ((sections[0], places[0]), (sections[-1][::-1], places[-1])):
        middle = (x, ellipse(x, apart)[0], 0.0)
        half += [(middle, b, a) for a, b in zip(points, points[1:] + points[:1])]
    # The plane y = 0 divides the vessel, not the blood.
    half = [t for t in half if len(set(t)) == 3 and any(corner[1] > 0 for corner in t)]
    return half + [tuple((x, -y, z) for x, y, z in reversed(t)) for t in half]


def main():
    file, apart = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 8.8
    triangles = vessel(apart)
    with open(file, "wb") as to:
        to.write(b"artery, mm".ljust(80) + struct.pack("<I", len(triangles)))
        for corners in triangles:
            to.write(struct.pack("<12fH", 0, 0, 0, *sum(corners, ()), 0))


main()
