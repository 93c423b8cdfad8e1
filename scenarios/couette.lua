-- Couette flow: a channel whose upper wall moves, from rest to the straight profile u = U y / H.
--
-- Shows: moving half-way walls are exact to round-off for a straight profile, whatever tau.
-- The start follows u / U = y/H + sum 2 (-1)^n / (n pi) sin(n pi y/H) exp(-n^2 pi^2 nu t / H^2).
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  H         = { 32,   "cells across the channel", integer = true, min = 2 },
  U         = { 0.1,  "velocity of the upper wall, lattice units" },
  tau       = { 0.8,  "relaxation time", min = 0.501 },
  collision = { "trt", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
}

return sel.lbm {
  lattice   = "D2Q9",
  size      = { 4, p.H },
  precision = "f64",
  tau       = p.tau,
  collision = p.collision,
  periodic  = { "x" },
  reference = { length = p.H, velocity = math.abs(p.U) },
  regions   = {
    { name = "floor", where = shape.face "y-", law = law.wall {} },
    { name = "lid",   where = shape.face "y+", law = law.wall { velocity = { p.U, 0 } } },
  },
  stop   = { steps = 400000, steady = 1e-14, every = 1000 },
  output = {
    out.profile { field = "velocity", from = { 2, 0 }, to = { 2, p.H }, every = 1000 },
    out.balance {},
  },
}
