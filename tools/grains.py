#!/usr/bin/python3
"""grains.py -- a stack of pictures of round grains that have grown together, as in a sandstone, dark
on white, periodic on all axes: a mask for porous3d.lua.

usage: tools/grains.py PATTERN.png SIZE SOLID RADIUS [SEED]
       PATTERN has the number of a picture as %02d; grains are added at random places until SOLID of
       the cube of SIZE pixels is dark; they have RADIUS pixels
"""
import math
import random
import sys

from discs import distance, write_png


def add_grain(dark, size, centre, radius):
    """Marks the cells of a cube whose centres lie in a ball. Returns the number of new ones."""
    square = [[distance(i + 0.5, c, size) ** 2 for i in range(size)] for c in centre]
    near = [[i for i in range(size) if square[a][i] <= radius * radius] for a in range(3)]
    count = 0
    for k in near[2]:
        for j in near[1]:
            left = radius * radius - square[2][k] - square[1][j]
            for i in near[0]:
                if square[0][i] <= left and not dark[k][j][i]:
                    dark[k][j][i] = 1
                    count += 1
    return count


def make_grains(size, solid, radius, seed):
    rng = random.Random(seed)
    dark = [[bytearray(size) for _ in range(size)] for _ in range(size)]
    missing = solid * size ** 3
    while missing > 0:
        centre = [rng.uniform(0, size) for _ in range(3)]
        missing -= add_grain(dark, size, centre, radius)
    return dark


def row_of_bits(row):
    """1 for white."""
    bits = bytearray(math.ceil(len(row) / 8))
    for i, black in enumerate(row):
        bits[i // 8] |= 0 if black else 128 >> i % 8
    return bytes(bits)


def main():
    pattern, size, solid, radius = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:5])
    dark = make_grains(size, solid, radius, sys.argv[5] if len(sys.argv) > 5 else "1")
    for k, plane in enumerate(dark):
        rows = [row_of_bits(row) for row in reversed(plane)]  # the first row is the top
        write_png(pattern % k, size, rows)


main()
