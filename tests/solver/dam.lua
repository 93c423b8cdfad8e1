-- dam.lua -- a dam breaks between depths of 1 and 0.25, g = 1: J. J. Stoker (1957), Water Waves, 10.8.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { n = 400, axis = { "x", choices = { "x", "y" } } }
local along = p.axis == "x"
return sel.shallow {
  size = along and { p.n, 2 } or { 2, p.n }, dx = 1 / p.n, dt = 0.4 / p.n, gravity = 1,
  initial = { depth = along and function(x) return x < 0.5 and 1 or 0.25 end
                             or function(x, y) return y < 0.5 and 1 or 0.25 end },
  regions = { { where = shape.faces, law = law.bank {} } },
  stop = { time = 0.3 },
  output = { out.probe { at = along and { 0.6, 0.5 / p.n } or { 0.5 / p.n, 0.6 },
                         field = { "depth", "discharge" }, every = p.n } },
}
