#!/usr/bin/env python3
"""scenarios.py -- run random scenarios with a program that was built with sanitizers.

usage: scenarios.py PROGRAM DIRECTORY [COUNT [FIRST]]

Each scenario comes from its number. Any exit status of selenite help is right; a report of a
sanitizer, a signal or a hang is not: the script then stays in DIRECTORY.
"""
import random

import drawn

SPECIAL = ["0", "-0.0", "1", "-1", "0.5", "1e-300", "1e300", "-1e300", "1e19", "-1e19", "2^31",
           "2^53", "2^63", "1e-9", "1e9", "3.4e38", "1e39", "1e-45"]


class Writer:
    def __init__(self, number):
        self.r = random.Random(number)
        self.strange = self.r.choice([0, 0, 0.01, 0.03, 0.1])  # part of the numbers

    def number(self, low, high):
        if self.r.random() < self.strange:
            return self.r.choice(SPECIAL)
        value = self.r.uniform(low, high)
        return repr(round(value, 2)) if self.r.random() < 0.8 else str(round(value))

    def positive(self, low, high):
        if self.r.random() < self.strange:
            return self.r.choice([text for text in SPECIAL if text[0] not in "0-"] + ["0.25"])
        return repr(self.r.uniform(low, high))

    def whole(self, low, high):
        if self.r.random() < self.strange:
            return self.r.choice(["0", "-1", "1", "2^31 | 0", "math.maxinteger", "math.mininteger"])
        return str(self.r.randint(low, high))

    def maybe(self, probability, text):
        return text() if self.r.random() < probability else ""

    def point(self, n, beyond=0):
        return "{ " + ", ".join(self.number(-beyond, size + beyond) for size in n) + " }"

    def quantity(self, low, high, place=True, time=True, n=(1, 1)):
        kind = self.r.randrange(12)
        if kind < 6 or (kind in (6, 7) and not (place and time)) or \
                (kind in (8, 11) and not place) or (kind in (9, 10) and not time):
            return self.number(low, high)
        if kind == 6:
            return f"function(x) return {self.number(low, high)} + gain_of(x) end" \
                if place else self.number(low, high)
        if kind == 7:
            return f"function(x, y, t) return {self.number(low, high)} + " \
                   f"{self.number(low, high)} * math.sin(x + t) end"
        if kind == 8:
            return f"function(x, y) if x > {self.number(0, 8)} then return " \
                   f"{self.number(low, high)} end return {self.number(low, high)} end"
        if kind == 9:
            return f"function(t, gain) return gain * t * {self.number(low, high)} end"
        if kind == 10:
            return f"sel.series {{ t = {{ 0, {self.number(0, 20)} }}, value = " \
                   f"{{ {self.number(low, high)}, {self.number(low, high)} }}, outside = 'hold' }}"
        return f"sel.paint {{ {self.number(low, high)}, {{ shape.box {{ min = {{ " \
               f"{', '.join('0' for _ in n)} }}, max = {self.point(n, 1)} }}, " \
               f"{self.number(low, high)} }} }}"

    def vector(self, n, low, high):
        return "{ " + ", ".join(self.quantity(low, high, n=n) for _ in n) + " }"

    def box(self, n):
        low = [self.r.uniform(0, size - 1) for size in n]
        high = [self.r.uniform(a + 1, size) for a, size in zip(low, n)]
        corner = lambda values: "{ " + ", ".join(self.number(v, v) for v in values) + " }"
        return f"shape.box {{ min = {corner(low)}, max = {corner(high)} }}"

    def volume(self, n):
        kind = self.r.randrange(12)
        if kind < 4:
            return self.box(n)
        if kind == 8:
            radii = ", ".join(self.positive(0.6, 4) for _ in n)
            return f"shape.ellipsoid {{ centre = {self.point(n)}, radii = {{ {radii} }} }}"
        if kind == 9:
            return f"shape.cone {{ from = {self.point(n)}, to = {self.point(n)}, " \
                f"radii = {{ {self.positive(0.6, 4)}, {self.number(0, 4)} }} }}"
        if kind == 10:
            return f"shape.torus {{ centre = {self.point(n)}, radius = {self.positive(2, 4)}, " \
                f"tube = {self.positive(0.6, 2.2)} }}"
        if kind == 11:
            axis = f", axis = {{ 1, {self.number(-1, 1)}, 0.5 }}" if len(n) == 3 else ""
            return f"({self.volume(n)}):" + self.r.choice([
                f"moved {self.point(n)}", f"scaled({self.positive(0.4, 2)})",
                f"rotated {{ angle = {self.number(-4, 4)}, about = {self.point(n)}{axis} }}"])
        if kind == 4:
            return f"shape.ball {{ centre = {self.point(n)}, radius = {self.positive(0.6, 4)} }}"
        if kind == 5 and len(n) == 2:
            points = ", ".join(self.point(n, 1) for _ in range(self.r.randint(3, 6)))
            return f"shape.polygon {{ points = {{ {points} }} }}"
        if kind == 6:
            return f"shape.inside(function(x, y) return x * {self.number(-2, 2)} < y end)"
        return f"({self.volume(n)} {self.r.choice('++-*')} {self.volume(n)})"

    def outputs(self, n, fields):
        field = lambda: f"'{self.r.choice(fields)}'"
        when = lambda: self.r.choice(
            ["", f"every = {self.whole(1, 9)}, ", f"interval = {self.positive(0.5, 9)}, "]) + \
            self.maybe(0.2, lambda: f"from_step = {self.whole(0, 9)}, ") + \
            self.maybe(0.1, lambda: f"from_time = {self.number(0, 9)}, ")
        kinds = [
            lambda: f"out.vtk {{ {when()}fields = {{ {field()} }}"
                    + self.maybe(0.3, lambda: f", stride = {self.whole(1, 4)}")
                    + self.maybe(0.3, lambda: ", compression = 'zlib'"
                                 f", digits = {self.whole(1, 12)}")
                    + self.maybe(0.3, lambda: f", within = {self.box(n)}") + " }",
            lambda: f"out.probe {{ {when()}field = {field()}, at = {self.point(n)} }}",
            lambda: f"out.spectrum {{ {when()}field = {field()}, at = {self.point(n)}"
                    + self.maybe(0.5, lambda: f", windows = {self.whole(1, 9)}") + " }",
            lambda: f"out.profile {{ {when()}field = {field()}, from = {self.point(n)}, "
                    f"to = {self.point(n)}"
                    + self.maybe(0.5, lambda: f", points = {self.whole(1, 30)}") + " }",
            lambda: f"out.reduce {{ {when()}field = {field()}, op = "
                    f"'{self.r.choice(['sum', 'min', 'max', 'mean', 'l2'])}' }}",
            lambda: f"out.pores {{ {when()}axis = '{self.r.choice('xyz')}'"
                    + self.maybe(0.3, lambda: f", within = {self.box(n)}") + " }",
            lambda: f"out.balance {{ {when()} }}",
            lambda: f"out.force {{ {when()}region = 'body', centre = {self.point(n)} }}",
            lambda: f"out.wall {{ {when()}region = 'body', field = {{ {field()} }} }}",
            lambda: f"out.flux {{ {when()}region = 'body' }}",
            lambda: f"out.flux {{ {when()}across = {{ {self.point(n)}, {self.point(n)} }} }}",
            lambda: f"out.average {{ {when()}fields = {field()} }}",
            lambda: f"out.picture {{ {when()}field = {field()}"
                    + (f", slice = {{ z = {self.number(0, n[2])} }}" if len(n) == 3 else "")
                    + self.maybe(0.3, lambda: f", min = {self.number(-1, 1)}")
                    + self.maybe(0.3, lambda: f", max = {self.number(-1, 1)}")
                    + self.maybe(0.3, lambda: f", scale = {self.positive(0.1, 9)}") + " }",
            lambda: f"out.grid {{ {when()}field = {field()}, "
                    f"format = '{self.r.choice(['asc', 'tif'])}' }}",
        ]
        chosen = self.r.sample(kinds, self.r.randint(0, 3))
        return "{ " + ", ".join(kind() for kind in chosen) + " }"

    def hooks(self, fields, n):
        return "{ { every = " + self.whole(1, 9) + ", call = function(run)\n" \
               f"  run.state.n = (run.state.n or 0) + run:reduce('{self.r.choice(fields)}', 'max')\n" \
               f"  run:result('probe', (run:probe('{self.r.choice(fields)}', {self.point(n)})))\n" \
               f"  run:set('gain', {self.number(-2, 2)})\n" \
               "end } }"

    def common(self, n, fields):
        return f"""  size = {{ {", ".join(str(k) for k in n)} }},
  controls = {{ gain = {self.number(-2, 2)} }},
  stop = {{ steps = {self.r.randint(0, 25)}{self.maybe(0.3, lambda: f", time = {self.number(0, 30)}")}""" \
            f"""{self.maybe(0.3, lambda: f", steady = {self.positive(1e-4, 1)}, every = 5")} }},
  output = {self.outputs(n, fields)},
{self.maybe(0.3, lambda: f"  hooks = {self.hooks(fields, n)},")}
{self.maybe(0.5, lambda: "  precision = 'f64',")}
{self.maybe(0.3, lambda: f"  reference = {{ length = {self.positive(1, 9)}, velocity = {self.positive(0.01, 1)} }},")}
"""

    def flow(self):
        space = self.r.random() < 0.3
        n = [self.r.randint(self.r.choice([1, 6]), 12) for _ in range(3 if space else 2)]
        fields = ["velocity", "density", "pressure", "speed", "vorticity", "strain_rate", "stress", "dissipation",
                  "velocity_x", "q_criterion", "wall_shear", "y_plus", "wall_normal", "wall_area"]
        faces = ["x-", "x+", "y-", "y+"] + (["z-", "z+"] if space else [])
        laws = [lambda: f"law.velocity {self.vector(n, -0.2, 0.2)}",
                lambda: f"law.pressure {{ {self.quantity(-0.05, 0.05)} }}",
                lambda: "law.outflow {}", lambda: "law.slip {}",
                lambda: f"law.far_field {self.vector(n, -0.2, 0.2)}",
                lambda: f"law.pressure {{ {self.quantity(-0.05, 0.05)}, absorbing = true }}",
                lambda: f"law.wall {{ velocity = {self.vector(n, -0.2, 0.2)} }}",
                lambda: "law.wall { scheme = 'zou_he' }"]
        regions = ["{ where = shape.faces, law = law.wall {} }"]
        regions += [f"{{ where = shape.face '{self.r.choice(faces)}', law = {self.r.choice(laws)()} }}"
                    for _ in range(self.r.randint(0, 3))]
        regions.append(f"{{ name = 'body', where = {self.volume(n)}, law = law.wall {{}} }}")
        return f"""return sel.lbm {{
  lattice = "{'D3Q19' if space else 'D2Q9'}",
  {self.r.choice([f"tau = {self.positive(0.501, 2)}", f"nu = {self.positive(0.001, 0.5)}"])},
{self.maybe(0.3, lambda: f"  dx = {self.positive(0.5, 3)}, dt = {self.positive(0.1, 1)},")}
{self.maybe(0.5, lambda: f"  collision = '{self.r.choice(['trt', 'bgk', 'regularized'])}',")}
{self.maybe(0.2, lambda: f"  smagorinsky = {self.positive(0.01, 0.3)},")}
{self.maybe(0.2, lambda: f"  density = {self.positive(0.1, 1000)},")}
{self.maybe(0.3, lambda: f"  acceleration = {self.vector(n, -1e-3, 1e-3)},")}
{self.maybe(0.4, lambda: f"  initial = {{ velocity = {self.vector(n, -0.2, 0.2)} }},")}
{self.common(n, fields)}  regions = {{ {", ".join(regions)} }},
}}
"""

    def water(self):
        n = [self.r.randint(self.r.choice([1, 6]), 14) for _ in range(2)]
        fields = ["ground", "depth", "level", "max_depth", "max_level", "arrival_time"]
        laws = ["law.open {}", f"law.open {{ slope = {self.number(0, 1)} }}",
                f"law.level {{ {self.quantity(-1, 3)} }}", "law.wall {}"]
        regions = ["{ where = shape.faces, law = law.wall {} }"]
        regions += [f"{{ where = shape.face '{self.r.choice(['x-', 'x+', 'y-', 'y+'])}', "
                    f"law = {self.r.choice(laws)} }}" for _ in range(self.r.randint(0, 3))]
        regions.append(f"{{ name = 'body', where = {self.volume(n)}, law = {self.r.choice(laws)} }}")
        source = lambda: f"  sources = {{ {{ at = {self.point(n)}, " \
                         f"discharge = {self.quantity(0, 5, place=False)} }} }},"
        return f"""return sel.aqua {{
  ground = {self.quantity(-5, 50, time=False)}, alpha = {self.quantity(0.05, 1, time=False)}, dt = {self.positive(0.1, 60)},
{self.maybe(0.5, lambda: f"  dx = {self.positive(1, 1.5)},")}
{self.maybe(0.5, lambda: f"  rain = {self.quantity(0, 200)},")}
{self.maybe(0.3, lambda: f"  infiltration = {self.quantity(0, 50)},")}
{self.maybe(0.4, source)}
{self.maybe(0.4, lambda: f"  equilibrium = '{self.r.choice(['fill', 'mean', 'mindiff'])}',")}
{self.maybe(0.4, lambda: f"  scheme = '{self.r.choice(['gather', 'scatter'])}',")}
{self.maybe(0.2, lambda: f"  min_head = {self.number(0, 0.1)},")}
{self.maybe(0.3, lambda: f"  depth_limit = {self.positive(10, 500)},")}
{self.maybe(0.5, lambda: f"  initial = {{ depth = {self.quantity(0, 5, time=False)} }},")}
{self.common(n, fields)}  regions = {{ {", ".join(regions)} }},
}}
"""

    def scenario(self):
        head = "local sel = require 'selenite'\nlocal shape, law, out = sel.shape, sel.law, sel.out\n" \
               "local function gain_of(v) return v * 1e-3 end\n"
        return head + (self.flow() if self.r.random() < 0.6 else self.water())


drawn.main(Writer, "scenario", ["--quiet"], 5)
