-- A charged ball inside a grounded hollow sphere: Laplace's equation between two surfaces that cut
-- through a cubic grid. The radii are R and `ratio` R; N cells lie along R.
--
-- Shows: solids of any shape, on whose surfaces the potential is fixed, slow multigrid little: its
-- cycles then are directions of conjugate gradients. Between the spheres phi is (a / r - a / R) /
-- (1 - a / R). The charge of the ball is the flux through its surface, balance.in_ball in run.json;
-- exactly it is 4 pi a R / (R - a).
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N     = { 32, "cells along the outer radius", integer = true, min = 4 },
  ratio = { 0.4, "inner radius over outer", min = 0.05, max = 0.9 },
}

local n, dx, a = 2 * p.N + 2, 1 / p.N, p.ratio
local middle = n * dx / 2
local centre = { middle, middle, middle }
local everything = shape.box { min = { 0, 0, 0 }, max = { n * dx, n * dx, n * dx } }

return sel.poisson {
  size = { n, n, n }, dx = dx, rhs = 0,
  regions = {
    { name = "faces", where = shape.faces, law = law.fixed { 0 } },
    { name = "shell", where = everything - shape.ball { centre = centre, radius = 1 },
      law = law.fixed { 0 } },
    { name = "ball", where = shape.ball { centre = centre, radius = a }, law = law.fixed { 1 } },
  },
  output = {
    out.balance { every = 1 },
    out.profile { name = "radius", field = "potential", from = { middle + a, middle, middle },
      to = { middle + 1, middle, middle } },
    out.vtk { fields = { "potential", "gradient" } },
  },
  hooks = { { at = "end", call = function(run)
    run:result("exact_charge", 4 * math.pi * a / (1 - a))
  end } },
}
