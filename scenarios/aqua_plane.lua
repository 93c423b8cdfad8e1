-- Run-off on an inclined plane, with a pulse of water along its upper edge (Rinaldi 2011, section
-- 3.4).
--
-- All cells start with the same depth, so that every one of them flows in every step. A film moves
-- alpha cells a step and spreads by sqrt(alpha (1 - alpha) n): in the 4,000 steps of the thesis,
-- with alpha = 0.005, the pulse comes 20 cells far. centre.csv has the depth of the central cell,
-- which stays as it was until then (steps = 80000 shows the pulse there), and behind it that of a
-- cell 16 rows from the edge.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N           = { 512,   "cells along a side", integer = true, min = 8 },
  alpha       = { 0.005, "relaxation" },
  slope       = { 0.01,  "fall of the plane towards y = 0" },
  depth       = { 1e-3,  "depth at the start, m" },
  pulse       = { 0.1,   "depth on the rows of the upper edge, m" },
  rows        = { 8,     "rows of the pulse", integer = true },
  steps       = { 4000,  "steps", integer = true },
  equilibrium = { "fill", "reading of the level of equilibrium",
                  choices = { "fill", "mean", "mindiff" } },
}

return sel.aqua {
  size        = { p.N, p.N },
  periodic    = { "x" },
  ground      = function(y) return p.slope * y end,
  alpha       = p.alpha,
  equilibrium = p.equilibrium,
  initial     = { depth = function(y)
    return p.depth + (p.pulse - p.depth) * sel.step(y - (p.N - p.rows))
  end },
  regions     = {
    { name = "top",  where = shape.face "y+", law = law.wall {} },
    { name = "foot", where = shape.face "y-", law = law.open { slope = p.slope } },
  },
  stop   = { steps = p.steps },
  output = {
    out.probe   { name = "centre", field = "depth", every = 20,
                  at = { { p.N / 2 + 0.5, p.N / 2 + 0.5 },
                         { p.N / 2 + 0.5, p.N - p.rows - 16 + 0.5 } } },
    out.flux    { name = "outflow", region = "foot" },
    out.profile { field = "depth", every = 1000,
                  from = { p.N / 2 + 0.5, 0 }, to = { p.N / 2 + 0.5, p.N } },
    out.balance {},
  },
}
