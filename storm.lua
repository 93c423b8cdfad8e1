local sel = require "selenite"
local law, shape = sel.law, sel.shape
local p = sel.params { n = 4096, kind = { "gauss", choices = { "gauss", "time" } }, steps = 400 }
local L = p.n * 2
local rain = p.kind == "gauss"
  and function(x, y, t) local a, b = (x - L * 0.3 - 5 * t) / 1500, (y - L * 0.5) / 1500
        return 60 * math.exp(-(a * a + b * b)) end
  or function(t) return 30 + 20 * math.sin(t / 100) end
return sel.aqua {
  size = { p.n, p.n }, dx = 2, dt = 0.5, alpha = 0.2, equilibrium = "mean",
  ground = function(x, y) return 10 + 0.001 * x + 2 * math.sin(x / 300) * math.cos(y / 200) end,
  initial = { depth = 0.1 }, rain = rain, infiltration = 5,
  regions = { { where = shape.faces, law = law.wall {} } },
  stop = { steps = p.steps, every = 100000 }, output = { },
}
