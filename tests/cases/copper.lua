-- A block of copper, 20 x 20 mm, takes 1 kW/m2 through its left side for a minute and keeps it:
-- it is q t / (C L) = 0.8696 K warmer, in kelvins and in degrees Celsius, coarse and fine.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { T0 = 300, n = 40 }
return sel.heat {
  size = { p.n, p.n }, dx = 0.02 / p.n, conductivity = 400, capacity = 3.45e6, initial = { temperature = p.T0 },
  regions = {
    { name = "chip", where = shape.face "x-", law = law.flux { 1000 } },
    { name = "rest", where = shape.rest, law = law.insulated {} },
  },
  stop = { time = 60 },
  output = { out.reduce { field = "temperature", op = "mean", every = 100000 }, out.balance { every = 100000 } },
}
