-- The lid-driven square cavity: the benchmark of Ghia, Ghia and Shin (1982) and of Botella and
-- Peyret (1998).
--
-- Shows: one large vortex and its corner eddies. The profiles through the centre agree with the
-- tables to their own accuracy; against Botella (Re 1000) the order of convergence is 2.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N         = { 129,  "cells along a side", integer = true, min = 8 },
  Re        = { 1000, "Reynolds number: U N / nu", min = 1 },
  U         = { 0.1,  "velocity of the lid, lattice units", min = 0.001, max = 0.3 },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
}

local N = p.N

return sel.lbm {
  lattice   = "D2Q9",
  size      = { N, N },
  precision = "f64",
  nu        = p.U * N / p.Re,
  collision = p.collision,
  reference = { length = N, velocity = p.U },
  regions   = {
    { name = "lid",   where = shape.face "y+", law = law.wall { velocity = { p.U, 0 } } },
    { name = "walls", where = shape.rest,      law = law.wall {} },
  },
  stop   = { steps = 2000000, steady = 1e-8, every = 1000 },
  output = {
    out.vtk     { fields = { "velocity", "pressure" } },
    out.profile { name = "vertical", field = "velocity", from = { N / 2, 0 }, to = { N / 2, N },
                  at = "end" },
    out.profile { name = "horizontal", field = "velocity", from = { 0, N / 2 }, to = { N, N / 2 },
                  at = "end" },
    out.balance { every = 10000 },
  },
}
