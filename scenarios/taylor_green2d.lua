-- The decaying Taylor-Green vortices in a periodic box: an exact solution of the Navier-Stokes
-- equations.
--
-- Shows: second order in the cell size when velocity falls with it (U ~ 1/N at fixed tau), and no
-- transient at the start, since the initial populations carry the stress of the initial velocity.
local sel = require "selenite"
local out = sel.out

local p = sel.params {
  N         = { 64,    "cells along a side", integer = true, min = 8 },
  tau       = { 0.8,   "relaxation time", min = 0.501 },
  U         = { 0.02,  "velocity at 64 cells; U 64 / N is used, lattice units", min = 0 },
  periods   = { 0.5,   "length of the run over 1 / (2 nu k^2)", min = 0 },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
}

local N, U = p.N, p.U * 64 / p.N
local row = math.floor(0.3 * N) + 0.5
local nu, k = (2 * p.tau - 1) / 6, 2 * math.pi / p.N

return sel.lbm {
  lattice   = "D2Q9",
  size      = { N, N },
  precision = "f64",
  tau       = p.tau,
  collision = p.collision,
  periodic  = { "x", "y" },
  reference = { length = N, velocity = U },
  initial   = {
    velocity = function(x, y)
      return -U * math.cos(k * x) * math.sin(k * y), U * math.sin(k * x) * math.cos(k * y)
    end,
    pressure = function(x, y)
      return -U * U / 4 * (math.cos(2 * k * x) + math.cos(2 * k * y))
    end,
  },
  stop   = { steps = math.floor(p.periods / (2 * nu * k * k) + 0.5) },
  output = {
    -- Through cell centres, so that no interpolation adds an error of its own.
    out.profile { field = { "velocity", "pressure" }, from = { 0, row }, to = { N, row },
                  at = "end" },
    out.reduce  { field = "speed", op = "l2", every = 10 },
    out.vtk     { fields = { "velocity", "pressure" } },
  },
}
