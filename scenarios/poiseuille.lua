-- Plane Poiseuille flow, driven by an acceleration or by a velocity inlet and a pressure outlet.
--
-- Shows: with TRT and the magic number 3/16 half-way walls sit exactly half a cell outside, and
-- the parabola u = G y (H - y) / (2 nu) is exact to round-off in every cell. BGK slips by
-- (16 Lambda - 3) / 12 * G / (2 nu), Lambda = (tau - 1/2)^2.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  H         = { 32,   "cells across the channel", integer = true, min = 2 },
  L         = { 0,    "cells along it; 0: 1 with a force, 3 H between faces", integer = true,
                min = 0 },
  tau       = { 0.8,  "relaxation time", min = 0.501 },
  u_max     = { 0.05, "velocity on the centre line, lattice units", min = 0 },
  drive     = { "force", "what drives the flow", choices = { "force", "faces" } },
  collision = { "trt", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
}

local H, nu = p.H, (2 * p.tau - 1) / 6
local forced = p.drive == "force"
local L = p.L > 0 and p.L or forced and 1 or 3 * H
local G = 8 * nu * p.u_max / H ^ 2

local function parabola(y)
  return G * y * (H - y) / (2 * nu), 0
end

local regions = {
  { name = "walls", where = shape.face "y-" + shape.face "y+", law = law.wall {} },
}
if not forced then
  regions[2] = { name = "inlet", where = shape.face "x-", law = law.velocity { parabola } }
  regions[3] = { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } }
end

return sel.lbm {
  lattice      = "D2Q9",
  size         = { L, H },
  precision    = "f64",
  tau          = p.tau,
  collision    = p.collision,
  periodic     = forced and { "x" } or {},
  acceleration = forced and { G, 0 } or { 0, 0 },
  initial      = { velocity = { parabola } },
  reference    = { length = H, velocity = p.u_max },
  regions      = regions,
  stop         = { steps = 200000, steady = 1e-13, every = 1000 },
  output       = {
    out.profile { field = "velocity", from = { 0.5 * L, 0 }, to = { 0.5 * L, H }, every = 200000 },
    out.vtk     { fields = { "velocity", "pressure" } },
    out.balance { every = 1000 },
  },
}
