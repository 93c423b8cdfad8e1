#!/usr/bin/python3
"""aqua.py -- checks what run-off scenarios have written against what must come out.

usage: aqua.py CHECK DIRECTORY [ARGUMENT...]   one of the functions below; fails by assertion
"""
import csv
import heapq
import json
import math
import sys


def columns(directory, name):
    """The columns of a CSV file, as lists of numbers."""
    with open(f"{directory}/{name}.csv", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    return {key: [float(row[key]) for row in rows] for key in rows[0]}


def results(directory):
    with open(f"{directory}/run.json", encoding="utf-8") as file:
        return json.load(file)["results"]


def close(what, got, expected, tolerance):
    """Within a relative tolerance."""
    print(what, got, "against", expected)
    assert abs(got - expected) <= tolerance * abs(expected), what


def read_grid(path):
    """The header of an ESRI ASCII grid, and its rows from the south; NODATA is None."""
    with open(path, encoding="ascii") as file:
        words = file.read().split()
    header = {words[i].lower(): float(words[i + 1]) for i in range(0, 12, 2)}
    nx, ny = int(header["ncols"]), int(header["nrows"])
    values = [None if v == header["nodata_value"] else v for v in map(float, words[12:])]
    assert len(values) == nx * ny
    return header, [values[(ny - 1 - j) * nx:(ny - j) * nx] for j in range(ny)]


def spill_levels(ground, is_outlet):
    """The level from which water leaves each cell for an outlet: ground filled from there inwards.
    ground[j][i] and is_outlet(i, j); cells that cannot reach one have none."""
    ny, nx = len(ground), len(ground[0])
    level, queue = {}, []
    for j in range(ny):
        for i in range(nx):
            if ground[j][i] is not None and is_outlet(i, j):
                level[i, j] = ground[j][i]
                queue.append((ground[j][i], i, j))
    heapq.heapify(queue)
    while queue:
        z, i, j = heapq.heappop(queue)
        for dj in (-1, 0, 1):
            for di in (-1, 0, 1):
                near = i + di, j + dj
                inside = 0 <= near[0] < nx and 0 <= near[1] < ny
                if inside and near not in level and ground[near[1]][near[0]] is not None:
                    level[near] = max(z, ground[near[1]][near[0]])
                    heapq.heappush(queue, (level[near], *near))
    return level


def integral(times, values):
    """Of what is linear between times."""
    return sum((b - a) * (u + w) / 2
               for a, b, u, w in zip(times, times[1:], values, values[1:]))


# ---- checks


def plane(directory, alpha, depth, pulse, below):
    """The history of the observed cell is the binomial law, and it has risen and fallen."""
    alpha, depth, pulse, below = float(alpha), float(depth), float(pulse), int(below)
    found = columns(directory, "passing")
    for n, w in zip(found["step"], found["depth"]):
        n = int(n)
        law = [math.comb(n, k) * alpha ** k * (1 - alpha) ** (n - k) for k in range(below + 1)]
        exact = depth * sum(law) + (pulse - depth) * law[below]
        assert abs(w - exact) < 1e-14 * pulse, (n, w, exact)
    peak = max(range(len(found["depth"])), key=found["depth"].__getitem__)
    assert 0 < peak < len(found["depth"]) - 1 and found["depth"][peak] > 4 * depth
    balance = columns(directory, "balance")
    assert abs(balance["error"][-1]) < 1e-12
    assert balance["out_foot"][-1] > 0.5 * depth


def bowl(directory, cells, rim, depth):
    """The highest and the lowest level of the deep part are that of the volume."""
    cells, rim, depth = int(cells), float(rim), float(depth)
    places = [(k + 0.5) * 2 / cells - 1 for k in range(cells)]
    ground = [rim * (u * u + 1.5 * v * v) for v in places for u in places]
    low, high = 0.0, 10.0
    for _ in range(100):
        middle = (low + high) / 2
        above = sum(max(0.0, middle - h) for h in ground) > depth * cells * cells / 4
        low, high = (low, middle) if above else (middle, high)
    found = results(directory)
    assert abs(found["level.level"] - low) < 1e-8, (found["level.level"], low)
    assert abs(found["lowest.level"] - low) < 1e-8, (found["lowest.level"], low)
    assert abs(found["balance.error"]) < 1e-12


def depressions(directory, dx):
    """All of the inflow is there; the western pits are full to their brims, those beside them fill,
    and no water has come to the east."""
    dx, size = float(dx), 2000
    n = round(size / dx)
    balance = columns(directory, "balance")
    # To the part of a step by which the corners of the hydrograph lie between steps.
    close("volume", balance["volume"][-1], 20 * (3300 + (600 + 1200) / 2), 2e-5)
    assert balance["error"][-1] == 0

    def height(x, y):
        pit = math.sin(4 * math.pi * x / size) * math.sin(4 * math.pi * y / size)
        return y / 1500 + (size - x) / 3000 - 0.5 * pit * pit

    ground = [[height((i + 0.5) * dx, (j + 0.5) * dx) for i in range(n)] for j in range(n)]
    spill = spill_levels(ground, lambda i, j: i == n - 1 and j == 0)
    last = {key: values[-1] for key, values in columns(directory, "pits").items()}
    depths = [last[f"depth_{k}"] for k in range(1, 17)]
    full = []
    for k, depth in enumerate(depths):
        # Probes are linear between the centres of cells.
        x, y = (k % 4 + 0.5) * n / 4 - 0.5, (3 - k // 4 + 0.5) * n / 4 - 0.5
        brim = 0
        for i in (int(x), int(x) + 1):
            for j in (int(y), int(y) + 1):
                part = (1 - abs(x - i)) * (1 - abs(y - j))
                brim += part * (spill[i, j] - ground[j][i])
        print("pit", k + 1, depth, "of", brim)
        assert depth < brim + 1e-4, (k, depth, brim)
        full += [k + 1] if depth > brim - 5e-3 else []
    assert full == [1, 2, 5, 6, 9, 10, 13, 14], full  # the western ones
    assert depths[6] > 0.1 and depths[10] > 0.1 and depths[3] == depths[15] == 0


def storm_balance(directory, dem, rain):
    """What has fallen is what the file says, and it is in the valley, the soil or gone."""
    header, ground = read_grid(dem)
    with open(rain, encoding="ascii") as file:
        lines = [line.split(",") for line in file if line[0].isdigit()]
    times, rates = zip(*[(float(t), float(r)) for t, r in lines])
    cells = sum(h is not None for row in ground for h in row)
    area = cells * header["cellsize"] ** 2
    last = {key: values[-1] for key, values in columns(directory, "balance").items()}
    close("rain", last["rain"], area * integral(times, rates) / 3.6e6, 1e-6)
    held = last["volume"] + last["infiltration"] + last["out_mouth"]
    close("in and out", held, last["rain"], 1e-12)
    assert last["error"] == 0
    assert min(last["volume"], last["infiltration"], last["out_mouth"]) > 0.05 * last["rain"]


def storm_hydrograph(directory, peak_of_rain):
    """The flood comes after the rain, has passed at the end, and its volume is what left."""
    found, balance = columns(directory, "discharge"), columns(directory, "balance")
    times, flux = found["time"], found["flux"]
    peak = max(flux)
    print("peak", peak, "at", times[flux.index(peak)], "last", flux[-1])
    assert times[flux.index(peak)] > float(peak_of_rain)
    assert min(flux) >= 0 and flux[-1] < 0.02 * peak
    close("volume through the section", integral(times, flux), balance["out_mouth"][-1], 0.08)
    assert integral(times, flux) < balance["out_mouth"][-1]  # the rain below the section


def storm_pond(directory, dem):
    """The deepest hollow is full when the rain has gone, and loses only what the soil takes."""
    header, ground = read_grid(dem)
    nx = len(ground[0])
    spill = spill_levels(ground, lambda i, j: i == nx - 1)
    levels, depths = columns(directory, "levels"), columns(directory, "gauges")
    bed = levels["level_4"][0]
    brims = [spill[i, j] for j, row in enumerate(ground) for i, h in enumerate(row)
             if h is not None and abs(h - bed) < 1e-6 and (i, j) in spill]
    assert brims, "no cell has the elevation of the gauge"
    print("level", levels["level_4"][-1], "brims", brims)
    assert any(-0.03 < levels["level_4"][-1] - brim < 0.001 for brim in brims)
    assert depths["depth_4"][-1] > 1
    # 4 mm/h over the last hour
    hour = [d for t, d in zip(depths["time"], depths["depth_4"]) if t >= depths["time"][-1] - 3600]
    assert abs(hour[0] - hour[-1] - 0.004) < 1e-4, hour[0] - hour[-1]
    assert header["nodata_value"] == -9999


def storm_grids(directory, dem, arrival_depth):
    """The grids lie where the ground does; water has arrived where it was deep enough."""
    header, ground = read_grid(dem)
    step = json.load(open(f"{directory}/run.json", encoding="utf-8"))["steps"]
    grids = [read_grid(f"{directory}/{name}/{name}_{step:08d}.asc")
             for name in ("max_depth", "arrival_time")]
    for found, _ in grids:
        for key in ("ncols", "nrows", "xllcorner", "yllcorner", "cellsize"):
            assert found[key] == header[key], (key, found[key])
    arrived = 0
    for j, row in enumerate(ground):
        for i, height in enumerate(row):
            deepest, arrival = grids[0][1][j][i], grids[1][1][j][i]
            assert (height is None) == (deepest is None) == (arrival is None), (i, j)
            if height is not None:
                assert (arrival >= 0) == (deepest >= float(arrival_depth)), (i, j, deepest, arrival)
                arrived += arrival >= 0
    print(arrived, "cells were flooded")
    assert 100 < arrived < 5000


def edited(directory, dem, prj):
    """Each run has the terrain that its script makes, the gaps of the file and its map."""
    header, rows = read_grid(dem)
    changed = {"raster": lambda i, j, h: h,
               "painted": lambda i, j, h: 30 if i in (1, 2, 3) and j in (6, 7, 8) else
               h - 2 if i in (5, 6, 7) and j in (1, 2, 3) else h,
               "function": lambda i, j, h: h and h + 1,
               "by_lua": lambda i, j, h: h and h + 1}
    for name, change in changed.items():
        stem = f"{directory}/{name}/grid/grid_00000100"
        found, ground = read_grid(stem + ".asc")
        for key in ("ncols", "nrows", "xllcorner", "yllcorner", "cellsize"):
            assert found[key] == header[key], (name, key, found[key])
        for j, row in enumerate(rows):
            for i, height in enumerate(row):
                wanted = change(i, j, height)
                assert (ground[j][i] is None) == (wanted is None), (name, i, j, ground[j][i])
                assert wanted is None or abs(ground[j][i] - wanted) < 1e-6, (name, i, j)
        with open(prj, encoding="ascii") as ours, open(stem + ".prj", encoding="ascii") as theirs:
            assert ours.read() == theirs.read(), name
        files = json.load(open(f"{directory}/{name}/run.json", encoding="utf-8"))["outputs"]
        assert "grid/grid_00000100.prj" in files, files


def main():
    globals()[sys.argv[1]](*sys.argv[2:])


main()
