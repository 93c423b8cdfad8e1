"""Writes a ball of triangles: ball.py FILE.stl RADIUS X Y Z [RINGS [LEFT OUT]]."""
import math
import struct
import sys

file, radius, x, y, z = sys.argv[1], *map(float, sys.argv[2:6])
rings = int(sys.argv[6]) if len(sys.argv) > 6 else 48
left_out = int(sys.argv[7]) if len(sys.argv) > 7 else 0
step = math.pi / rings


def corner(ring, column):
    polar, around = ring * step, column % (2 * rings) * step
    out = 0.0 if ring in (0, rings) else radius * math.sin(polar)
    return x + out * math.cos(around), y + out * math.sin(around), z + radius * math.cos(polar)


triangles = []
for i in range(rings):
    for j in range(2 * rings):
        a, b, c, d = corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)
        triangles += [(a, b, c)] * (i < rings - 1) + [(a, c, d)] * (i > 0)
triangles = triangles[left_out:]
with open(file, "wb") as to:
    to.write(b"ball".ljust(80) + struct.pack("<I", len(triangles)))
    for triangle in triangles:
        to.write(struct.pack("<12fH", 0, 0, 0, *sum(triangle, ()), 0))
