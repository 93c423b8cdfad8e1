-- A long wave on deep, still water: it levels out by diffusion.
--
-- Shows: deep water has the diffusivity 3/4 alpha dx^2/dt along an axis, whatever its depth, so the
-- amplitude falls by exp(-3/4 alpha k^2 n) in n steps, k = 2 pi / N. profile.csv has the first and
-- the last state.
local sel = require "selenite"
local out = sel.out

local p = sel.params {
  N           = { 128,  "length of the wave, cells", integer = true, min = 16 },
  alpha       = { 0.2,  "relaxation" },
  depth       = { 10,   "mean depth, m" },
  amplitude   = { 0.01, "amplitude at the start, m" },
  steps       = { 1000, "steps", integer = true },
  equilibrium = { "fill", "reading of the level of equilibrium",
                  choices = { "fill", "mean", "mindiff" } },
}

return sel.aqua {
  size        = { p.N, 4 },
  precision   = "f64",
  periodic    = { "x", "y" },
  ground      = 0,
  alpha       = p.alpha,
  equilibrium = p.equilibrium,
  initial     = { depth = function(x)
    return p.depth + p.amplitude * math.cos(2 * math.pi * x / p.N)
  end },
  stop   = { steps = p.steps },
  output = {
    out.profile { field = "depth", every = p.steps, from = { 0, 2.5 }, to = { p.N, 2.5 } },
    out.balance {},
  },
}
