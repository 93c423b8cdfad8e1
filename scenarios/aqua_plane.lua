-- Runoff on an inclined plane, with a pulse of water on its upper edge (Rinaldi 2011, section 3.4
-- and figure 3.8): 512 x 512 cells, all of which hold the same water at the start, so that every
-- one of them flows in every step; alpha = 0.005; 4,000 steps.
--
-- Figure 3.8 is the history of the central cell; the text gives no slope and no depths. Whatever
-- they are, the pulse does not reach that cell, 255 rows from the edge: a cell gives at most the
-- part alpha of its water in a step, so in 4,000 steps water comes 20 rows far, with a standard
-- deviation of 4.5 rows, and the part 10^-184 of the pulse comes 255 rows far. Deeper water is
-- slower, and its level spreads by diffusion, 5.5 rows. Therefore passing.csv has the history of a
-- cell of the central column `below` rows from the edge, which the pulse passes within these steps,
-- and centre.csv that of the central cell, which stays as it was: the pulse comes there after
-- 51,000 steps.
--
-- Depths stay below 3/4 of the fall from cell to cell: then all water of a cell is free to run, and
-- after n steps a row i from the edge, 0 the first, holds exactly
--   depth P(B <= i) + (pulse - depth) P(B = i),    B binomial of n steps with probability alpha.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N           = { 512,   "cells along a side", integer = true, min = 8 },
  alpha       = { 0.005, "relaxation" },
  slope       = { 0.05,  "fall of the plane towards y = 0" },
  depth       = { 1e-3,  "depth at the start, m" },
  pulse       = { 0.03,  "depth on the row of the upper edge, m" },
  below       = { 10,    "rows from the edge to the observed cell", integer = true, min = 0 },
  rain        = { 0,     "rain, mm/h; a step is a second" },
  steps       = { 4000,  "steps", integer = true },
  equilibrium = { "fill", "reading of the level of equilibrium",
                  choices = { "fill", "mean", "mindiff" } },
}
local middle = p.N // 2 + 0.5

return sel.aqua {
  size        = { p.N, p.N },
  dt          = 1,
  precision   = "f64",
  periodic    = { "x" },
  ground      = function(y) return p.slope * y end,
  alpha       = p.alpha,
  equilibrium = p.equilibrium,
  initial     = { depth = function(y)
    return p.depth + (p.pulse - p.depth) * sel.step(y - (p.N - 1))
  end },
  rain        = p.rain,
  regions     = {
    { name = "top",  where = shape.face "y+", law = law.wall {} },
    { name = "foot", where = shape.face "y-", law = law.open { slope = p.slope } },
  },
  stop   = { steps = p.steps },
  output = {
    out.probe   { name = "centre", field = "depth", every = 20, at = { middle, middle } },
    out.probe   { name = "passing", field = "depth", every = 20,
                  at = { middle, p.N - p.below - 0.5 } },
    out.flux    { name = "outflow", region = "foot" },
    out.profile { field = "depth", every = 1000, from = { middle, 0 }, to = { middle, p.N } },
    out.balance {},
  },
}
