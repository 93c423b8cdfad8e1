-- The lid-driven cubic cavity: the benchmark of Albensoeder and Kuhlmann (2005), and chapter 6 of
-- Rinaldi (2011), "Uso de GPUs para la simulacion de fluidos".
--
-- Shows: a vortex that the end walls slow down. At Re 1000 the velocity on the centre lines is far
-- from that of the square cavity (smallest u: -0.28, not -0.39), so the two-dimensional tables are
-- no reference. The flow is steady up to Re 1900 or so.
--
-- as_thesis = true: 16, 64 and 128 cells for Re 100, 400 and 1000, BGK, and the thesis' steadiness:
-- a change of 1e-6 per step (eq. 6.2, printed as a sum over all cells of each one's relative
-- change, in words their mean; here the 2-norm of the field's change over 100 steps, 1e-4). The
-- chapter gives neither velocity nor relaxation time: tau = 0.6 is taken, the smallest of its
-- eq. 10.3, so that the velocity of the lid is Re / (30 N), Mach 0.36 to 0.45, and errors of
-- compressibility are several per cent. Its walls lie on nodes (a cube of N - 1 cells), with the
-- closures of its eqs. 4.23-4.27; here they are half-way walls (N cells). It compares with figures
-- of another paper; no numbers are printed, so none are compared here.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N         = { 64,    "cells along a side", integer = true, min = 8 },
  Re        = { 1000,  "Reynolds number: U N / nu", min = 1, max = 1900 },
  U         = { 0.1,   "velocity of the lid, lattice units", min = 0.001, max = 0.3 },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  precision = { "f32", "of the state", choices = { "f32", "f64" } },
  as_thesis = { false, "grid, velocity, operator and steadiness of the thesis, for its three Re" },
}

local N, U, collision = p.N, p.U, p.collision
local steady, every = 1e-5, math.floor(5 * N / U)
if p.as_thesis then
  local cells = { [100] = 16, [400] = 64, [1000] = 128 }
  N = assert(cells[p.Re], "as_thesis: Re must be 100, 400 or 1000")
  U, collision, steady, every = p.Re / (30 * N), "bgk", 1e-4, 100
end

local half = N / 2

return sel.lbm {
  lattice   = "D3Q19",
  size      = { N, N, N },
  nu        = U * N / p.Re,
  collision = collision,
  precision = p.precision,
  reference = { length = N, velocity = U },
  regions   = {
    { name = "lid",   where = shape.face "y+", law = law.wall { velocity = { U, 0, 0 } } },
    { name = "walls", where = shape.rest,      law = law.wall {} },
  },
  stop   = { steps = 2000000, steady = steady, every = every },
  output = {
    out.profile { name = "vertical", field = "velocity", from = { half, 0, half },
                  to = { half, N, half }, at = "end" },
    out.profile { name = "horizontal", field = "velocity", from = { 0, half, half },
                  to = { N, half, half }, at = "end" },
    out.picture { field = "velocity", slice = { z = half }, min = 0, max = U },
    out.vtk     { fields = { "velocity", "pressure" } },
    out.balance { every = 10000 },
  },
}
