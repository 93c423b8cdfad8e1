-- rain.lua -- still water in a closed basin with an island; rain in proportion to time.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { rain = 0.01 }
return sel.shallow {
  size = { 30, 20 }, dx = 2, dt = 0.1, gravity = 9.81,
  initial = { depth = 2 },
  rain = function(x, y, t) return p.rain * t end,
  regions = {
    { where = shape.faces, law = law.bank {} },
    { where = shape.box { min = { 20, 10 }, max = { 30, 20 } }, law = law.bank {} },
  },
  stop = { time = 10 },
  output = { out.reduce { name = "least", field = { "depth", "discharge" }, op = "min", every = 10 },
             out.reduce { name = "most", field = { "depth", "discharge" }, op = "max", every = 10 },
             out.balance { every = 10 } },
}
