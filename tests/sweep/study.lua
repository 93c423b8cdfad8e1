-- study.lua -- a small flow for sweeps, with a checkpoint and a result: `end_as` lets a run fail.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
  steps = { 20000, "steps", integer = true, min = 1 },
  speed = { 0.05, "of the lid, lattice units", min = 0, max = 0.3 },
  tau = { 0.8, "relaxation time", min = 0.5 },
  end_as = { "good", "how it ends", choices = { "good", "refused", "diverged", "large" } },
}
local n = p.end_as == "large" and 1 << 20 or 24
return sel.lbm {
  lattice = "D2Q9", size = { n, n }, tau = p.end_as == "diverged" and 0.5001 or p.tau, collision = "bgk",
  regions = {
    { name = "lid", where = shape.face "y+",
      law = law.wall { velocity = { p.end_as == "diverged" and 0.9 or p.speed, 0 } } },
    { where = p.end_as == "refused" and shape.face "x-" or shape.rest, law = law.wall {} },
  },
  stop = { steps = p.steps },
  hooks = { { at = "end", call = function(run)
    run:result("centre", run:probe("velocity_x", { 12, 12 }))
  end } },
  output = { out.checkpoint { every = 2000 },
             out.probe { name = "middle", field = "velocity", at = { 12, 12 }, every = 100 } },
}
