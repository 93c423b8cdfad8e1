-- Flow along a square duct, driven by an acceleration G and periodic along x: the plane Poiseuille
-- flow's companion with four walls.
--
-- Shows: with half width a, u_max = 0.294685 G a^2 / nu and u_max / mean = 2.0963. The exact
-- solution is a series, u = 16 G a^2 / (nu pi^3) sum over odd n of (-1)^((n-1)/2) / n^3 (1 -
-- cosh(n pi z / 2a) / cosh(n pi / 2)) cos(n pi y / 2a), with y and z from the middle. Nothing
-- changes along x, so one cell is enough; more make a picture.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N         = { 64,    "cells along a side of the square", integer = true, min = 4 },
  L         = { 1,     "cells along the duct", integer = true, min = 1 },
  tau       = { 0.8,   "relaxation time", min = 0.501 },
  u_max     = { 0.05,  "largest velocity, lattice units", min = 0 },
  collision = { "trt", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
}

local N, a, nu = p.N, p.N / 2, (2 * p.tau - 1) / 6
local G = p.u_max * nu / (0.294685 * a ^ 2)
-- Through the cells next to the middle, so that no interpolation adds an error of its own.
local row = math.floor(a) + 0.5

-- Starts from a product of two parabolas, a few per cent off.
local function start(y, z)
  local s, r = y / N, z / N
  return 16 * p.u_max * s * (1 - s) * r * (1 - r), 0, 0
end

local function report(run)
  local mean, most = run:reduce("velocity_x", "mean"), run:reduce("velocity_x", "max")
  run:result("u_max", most * nu / (G * a ^ 2))
  run:result("u_max_over_mean", most / mean)
  run:result("Re", mean * N / nu)
  run:result("friction_factor", 2 * G * N / mean ^ 2) -- of Darcy: 56.91 / Re in a laminar flow
end

return sel.lbm {
  lattice      = "D3Q19",
  size         = { p.L, N, N },
  precision    = "f64",
  tau          = p.tau,
  collision    = p.collision,
  periodic     = { "x" },
  acceleration = { G, 0, 0 },
  initial      = { velocity = { start } },
  reference    = { length = N, velocity = p.u_max },
  regions      = { { name = "walls", where = shape.rest, law = law.wall {} } },
  stop         = { steps = 1000000, steady = 1e-8, every = 1000 },
  hooks        = { { at = "end", call = report } },
  output       = {
    out.profile { field = "velocity", from = { p.L / 2, 0, row }, to = { p.L / 2, N, row },
                  at = "end" },
    out.picture { field = "velocity", slice = { x = p.L / 2 } },
    out.vtk     { fields = { "velocity", "pressure" } },
  },
}
