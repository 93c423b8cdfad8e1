-- Measured data drive the inflow: a series is called inside a function, or stands for a number.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local H = 24
local inflow = sel.series { "inflow.csv", column = "velocity", outside = "hold" }
local outflow = sel.series { t = { 0, 2000, 4000 }, value = { 0, 0.001, 0 } }

local function profile(y, t)
  local s = y / H
  return inflow(t) * 6 * s * (1 - s), 0
end

return sel.lbm {
  lattice = "D2Q9",
  size    = { 3 * H, H },
  nu      = 0.05,
  regions = {
    { name = "walls",  where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",  where = shape.face "x-", law = law.velocity { profile } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { outflow } },
  },
  stop    = { steps = 4000 },
  output  = {
    out.probe { name = "middle", field = "velocity", at = { 1.5 * H, H / 2 }, every = 50 },
  },
}
