-- 2 m3/s per metre of width down a slope of 0.002: far more than a film carries.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local dx, nx, ny = 10, 100, 3
return sel.aqua {
  ground = function(x) return 10 - 0.002 * x end, size = { nx, ny }, dx = dx, alpha = 0.2, dt = 2,
  depth_limit = 500, equilibrium = "mindiff",
  sources = { { where = shape.box { min = { 0, 0 }, max = { dx, ny * dx } }, discharge = 2 * ny * dx } },
  regions = {
    { name = "walls", where = shape.faces, law = law.wall {} },
    { name = "outlet", where = shape.face "x+", law = law.open {} },
  },
  stop = { time = 3600 }, output = { out.balance { interval = 3600 } },
}
