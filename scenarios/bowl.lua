-- Water poured into one side of a closed bowl comes to rest at one level.
--
-- Shows: water finds the level of its volume over any ground, and none is lost. The bowl is h = D
-- (x^2 + 1.5 y^2) in halves of its width; results["level.level"] and ["lowest.level"], the highest
-- and lowest level of its deep part, agree.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N           = { 32,  "cells along a side", integer = true, min = 8 },
  alpha       = { 0.2, "relaxation" },
  D           = { 0.5, "height of the rim at the middle of the sides x, m" },
  depth       = { 0.6, "depth at the start, in the first quarter, m" },
  equilibrium = { "fill", "reading of the level of equilibrium",
                  choices = { "fill", "mean", "mindiff" } },
}
local half = p.N / 2
local low, high = half - p.N / 8, half + p.N / 8
local deep = shape.box { min = { low, low }, max = { high, high } }

return sel.aqua {
  size        = { p.N, p.N },
  precision   = "f64",
  ground      = function(x, y)
    local u, v = (x - half) / half, (y - half) / half
    return p.D * (u * u + 1.5 * v * v)
  end,
  alpha       = p.alpha,
  equilibrium = p.equilibrium,
  initial     = { depth = function(x) return p.depth * sel.step(p.N / 4 - x) end },
  regions     = { { name = "rim", where = shape.faces, law = law.wall {} } },
  stop        = { steps = 40000, steady = 1e-14, every = 500 },
  output      = {
    out.reduce { name = "level", field = "level", op = "max", within = deep },
    out.reduce { name = "lowest", field = "level", op = "min", within = deep },
    out.balance {},
  },
}
