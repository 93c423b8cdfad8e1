-- The backward-facing step of Erturk (2008): a channel that doubles its height over a step, with
-- three heights of channel before it. Re = mean inlet velocity * 2 * inlet height / nu.
--
-- Shows: the bubble behind the step is 2.92 step heights long at Re 100 and 4.98 at Re 200. The
-- step needs a channel before it: an inlet at its edge lengthens the bubble by 6 per cent.
local sel = require "selenite"

local p = sel.params {
  H     = { 64,    "cells across the wide channel; even", integer = true, min = 8 },
  Re    = { 100,   "Reynolds number, by the mean velocity and twice the inlet height", min = 1 },
  u_max = { 0.1,   "centre-line inlet velocity, lattice units", min = 0.001, max = 0.2 },
  tail  = { 5,     "length of the wide channel over H", min = 1 },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
}

-- The parabola's maximum is 3/2 of its mean.
return sel.load("sudden_expansion.lua", {
  H = p.H, Re = 1.5 * p.Re, u_max = p.u_max, ramp = 300 * p.H,
  upstream = 3, length = 3 + p.tail,
  collision = p.collision,
})
