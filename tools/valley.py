#!/usr/bin/python3
"""valley.py -- a valley that does not exist, as an ESRI ASCII grid: the ground of storm.lua.

usage: tools/valley.py FILE.asc [CELLS]   CELLS from west to east, 192 when not given

A river winds through 1920 x 1280 m to its mouth in the east; side valleys join it, hollows hold
water, and noise gives the hills detail down to the size of two cells. What does not drain through
the mouth is NODATA. The same CELLS give the same bytes on every machine; more cells give the same
valley with finer detail.
"""
import heapq
import math
import sys

WIDTH, HEIGHT = 1920.0, 1280.0  # m
CORNER = (342000.0, 5881000.0)  # m, of the lower left corner: as in a UTM zone
NODATA = -9999
SEED = 20111

# Side valleys: where they join the river (part of the width), where their heads lie (parts of
# width and height), how far they wind (m).
SIDES = ((0.80, 0.66, 0.88, 34), (0.62, 0.52, 0.11, 42), (0.46, 0.37, 0.90, 38),
         (0.33, 0.17, 0.20, 30))

# Hollows: part of the width, metres north of the river, radius and depth below their rim (m).
HOLLOWS = ((0.235, -70, 46, 1.0), (0.405, 84, 60, 2.2), (0.555, -76, 54, 1.2), (0.715, 80, 60, 1.5),
           (0.865, -70, 46, 0.9), (0.49, 395, 44, 0.5))
SOURCE = 0.1  # part of the width where the river begins


def smooth(t):
    """0 below 0, 1 above 1, and a smooth way between."""
    t = min(max(t, 0.0), 1.0)
    return t * t * (3 - 2 * t)


# ---- noise


def lattice_value(seed, i, j):
    """A number in [-1, 1) for a point of the lattice: its coordinates, mixed."""
    mask = 0xFFFFFFFF
    h = (i * 0x9E3779B1 ^ j * 0x85EBCA77 ^ seed * 0xC2B2AE3D) & mask
    h = (h ^ h >> 15) * 0x2C1B3C6D & mask
    h = (h ^ h >> 12) * 0x297A2D39 & mask
    return (h ^ h >> 15) / 2.0 ** 31 - 1


def noise(seed, x, y):
    """Smooth, in [-1, 1], with features of the size 1."""
    i, j = math.floor(x), math.floor(y)
    s, t = smooth(x - i), smooth(y - j)
    below = lattice_value(seed, i, j) * (1 - s) + lattice_value(seed, i + 1, j) * s
    above = lattice_value(seed, i, j + 1) * (1 - s) + lattice_value(seed, i + 1, j + 1) * s
    return below * (1 - t) + above * t


def detail(x, y, finest):
    """Noise of sizes from 320 m down to `finest`, each half as large and 0.52 as high as the one
    before; turned from one to the next, so that no lattice shows."""
    size, height, total, octave = 320.0, 1.0, 0.0, 0
    while size >= finest:
        total += height * noise(SEED + octave, x / size, y / size)
        x, y = 0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y
        size, height, octave = size / 2, height * 0.52, octave + 1
    return total


# ---- the ground


def river(x):
    """y of the river at x, and its slope dy/dx."""
    u = x / WIDTH
    waves = ((105, 5.4, 0.9), (38, 17.0, 2.1), (17, 39.0, 0.4))
    y = 0.5 * HEIGHT + sum(a * math.sin(k * u + phase) for a, k, phase in waves)
    return y, sum(a * k / WIDTH * math.cos(k * u + phase) for a, k, phase in waves)


def bed(x):
    """Elevation of the river's bed, m: steep at the source, 1.5 % at the mouth."""
    u = 1 - x / WIDTH
    return 182 + 28 * u + 26 * u ** 3


def river_distance(x, y):
    middle, slope = river(x)
    return abs(y - middle) / math.hypot(1, slope)


def side_distance(side, x, y):
    """Distance from the line of a side valley, and how far from the river (0 to 1) it is there."""
    joins, head_u, head_v, winds = side
    x0, x1, y1 = joins * WIDTH, head_u * WIDTH, head_v * HEIGHT
    y0 = river(x0)[0]
    length = math.hypot(x1 - x0, y1 - y0)
    ax, ay = (x1 - x0) / length, (y1 - y0) / length
    along, across = (x - x0) * ax + (y - y0) * ay, (y - y0) * ax - (x - x0) * ay
    part = min(max(along / length, 0.0), 1.0)
    across -= winds * math.sin(9 * part + joins * 40) * part * (1 - part) * 3
    return math.hypot(across, along - part * length), part


def slopes(distance, floor, width, height):
    """The hill beside a valley's floor: gentle at its foot, steeper, and round on top."""
    t = max(0.0, distance - floor) / width
    return height * t * t / (1 + t * t)


def rough_ground(x, y, finest):
    """The ground without hollows, m."""
    d = river_distance(x, y)
    rise = 1.2 * smooth(d / 30) + 0.006 * d + slopes(d, 60, 270, 60)
    ground = bed(x) + rise
    stream = bed(x) if d < 9 and x > SOURCE * WIDTH else math.inf
    gully = smooth(1 - d / 190) * smooth(x / WIDTH / SOURCE - 0.4)
    for side in SIDES:
        d, part = side_distance(side, x, y)
        floor = bed(side[0] * WIDTH) + 46 * part ** 1.25
        side_rise = 0.8 * smooth(d / 18) + slopes(d, 6, 140, 58)
        # The lower of the two, rounded on the ridges where they meet.
        width = 0.05 + 0.15 * min(rise, side_rise)
        gap = (ground - floor - side_rise) / width
        ground = floor + side_rise if gap > 30 else ground - width * math.log(1 + math.exp(gap))
        rise = min(rise, side_rise)
        stream = min(stream, floor - 0.3 * smooth(9 * part)) if d < 7 and part < 0.97 else stream
        gully = max(gully, smooth(1 - d / 90))
    ground += 5.5 * (1 - 0.93 * gully) * detail(x, y, finest)
    u = x / WIDTH + 0.05 * noise(SEED + 90, x / 170, y / 170)
    v = y / HEIGHT + 0.07 * noise(SEED + 91, x / 210, y / 210)
    edge = min(u / 0.17, v / 0.15, (1 - v) / 0.15, max((1 - u) / 0.07, 3 * gully))
    ground -= 34 * max(0.0, 1 - edge) ** 1.5 * (1 - gully)
    return min(ground, stream)


def make_hollows(finest):
    """(x, y, radius, bottom) of each: so deep that its depth holds below the lowest of its rim."""
    made = []
    for u, north, radius, depth in HOLLOWS:
        x, y = u * WIDTH, river(u * WIDTH)[0] + north
        rim = min(rough_ground(x + radius * math.cos(0.1 * k), y + radius * math.sin(0.1 * k),
                               finest) for k in range(63))
        made.append((x, y, radius, rim - depth))
    return made


def make_ground(nx, ny, dx):
    """Rows from the south to the north."""
    finest, hollows, rows = 2 * dx, make_hollows(2 * dx), []
    for j in range(ny):
        row = []
        for i in range(nx):
            x, y = (i + 0.5) * dx, (j + 0.5) * dx
            ground = rough_ground(x, y, finest)
            for centre_x, centre_y, radius, bottom in hollows:
                part = math.hypot(x - centre_x, y - centre_y) / radius
                if part > 1:
                    continue
                part = smooth((part - 0.32 - 0.3 * noise(SEED + 92, x / 36, y / 36)) / 0.36)
                ground = ground if part == 1 else part * ground + (1 - part) * bottom
            row.append(round(ground, 2))
        rows.append(row)
    return rows


# ---- the catchment


def catchment(rows, dx):
    """Whether a cell drains through the mouth, by filling the ground from its border inwards:
    a cell goes where the cell goes over which it spills first."""
    ny, nx = len(rows), len(rows[0])
    mouth, drains, queue = river(WIDTH)[0], {}, []
    for j in range(ny):
        for i in range(nx):
            if i in (0, nx - 1) or j in (0, ny - 1):
                drains[i, j] = i == nx - 1 and abs((j + 0.5) * dx - mouth) < 90
                queue.append((rows[j][i], i, j))
    heapq.heapify(queue)
    while queue:
        level, i, j = heapq.heappop(queue)
        for di, dj in ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)):
            near = i + di, j + dj
            if 0 <= near[0] < nx and 0 <= near[1] < ny and near not in drains:
                drains[near] = drains[i, j]
                heapq.heappush(queue, (max(level, rows[near[1]][near[0]]), *near))
    return drains


def main():
    nx = int(sys.argv[2]) if len(sys.argv) > 2 else 192
    ny, dx = round(nx * HEIGHT / WIDTH), WIDTH / nx
    rows = make_ground(nx, ny, dx)
    drains = catchment(rows, dx)
    with open(sys.argv[1], "w", encoding="ascii", newline="\n") as file:
        file.write(f"ncols {nx}\nnrows {ny}\nxllcorner {CORNER[0]:.0f}\n"
                   f"yllcorner {CORNER[1]:.0f}\ncellsize {dx:.10g}\nNODATA_value {NODATA}\n")
        for j in reversed(range(ny)):
            file.write(" ".join(f"{rows[j][i]:.2f}" if drains[i, j] else str(NODATA)
                                for i in range(nx)) + "\n")


main()
