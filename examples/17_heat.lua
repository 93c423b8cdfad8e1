-- Heat: a hot disc cools in a square plate whose left edge is cold; the others let no heat pass.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local disc = shape.ball { centre = { 64, 64 }, radius = 24 }

return sel.heat {
  size = { 128, 128 },
  diffusivity = 1,                                  -- dt: 0.9 of the largest stable one
  initial = { temperature = sel.paint { 0, { disc, 1 } } },
  regions = {
    { name = "cold", where = shape.face "x-", law = law.fixed { 0 } },
    { name = "rest", where = shape.rest,      law = law.insulated {} },
  },
  stop   = { time = 200 },
  output = {
    out.balance {},                                 -- heat, and what enters by region
    out.picture { field = "temperature", min = 0, max = 1, interval = 50 },
  },
}
