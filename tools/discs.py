#!/usr/bin/python3
"""discs.py -- a picture of black discs on white, periodic on both axes: a mask for porous2d.lua.

usage: tools/discs.py FILE.png SIZE SOLID RADIUS [SEED]   discs at random until SOLID is covered
       tools/discs.py FILE.png SIZE SOLID                 one disc in the middle: a square array
"""
import math
import random
import struct
import sys
import zlib


def distance(a, b, size):
    """The shortest way between two numbers on a circle of length `size`."""
    return min(abs(a - b) % size, size - abs(a - b) % size)


def place_at_random(size, solid, radius, seed):
    """Centres of discs that leave gaps of four pixels, enough of them to cover `solid`."""
    rng = random.Random(seed)
    count = round(solid * size * size / (math.pi * radius * radius))
    centres = []
    while len(centres) < count:
        x, y = rng.uniform(0, size), rng.uniform(0, size)
        if all(math.hypot(distance(x, a, size), distance(y, b, size)) > 2 * radius + 4
               for a, b in centres):
            centres.append((x, y))
    return centres


def draw(size, centres, radius):
    """Rows of bits, 1 for white: a pixel is black when its centre lies in a disc."""
    rows = []
    for j in range(size):
        row = bytearray((size + 7) // 8)
        for i in range(size):
            black = any(math.hypot(distance(i + 0.5, x, size), distance(j + 0.5, y, size)) <= radius
                        for x, y in centres)
            row[i // 8] |= 0 if black else 128 >> i % 8
        rows.append(bytes(row))
    return rows


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, size, rows):
    header = struct.pack(">IIBBBBB", size, size, 1, 0, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels)
                   + chunk(b"IEND", b""))


def main():
    path, size, solid = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    if len(sys.argv) > 4:
        radius = float(sys.argv[4])
        centres = place_at_random(size, solid, radius, sys.argv[5] if len(sys.argv) > 5 else "1")
    else:
        radius = size * math.sqrt(solid / math.pi)
        centres = [(size / 2, size / 2)]
    write_png(path, size, draw(size, centres, radius))


if __name__ == "__main__":
    main()
