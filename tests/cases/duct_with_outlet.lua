-- A square duct between a given velocity and a given pressure, with the regularized collision at a
-- Reynolds number of a cell of 8.3: the velocity on the axis keeps its developed value, 2.0963 times
-- the mean, up to the outlet.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { outlet = "pressure" }
local H, L = 20, 50
local function inflow(x, y, t)
  local a, b = x / H, y / H
  return 0, 0, 0.05 * sel.ramp(t, 1500) * 16 * a * (1 - a) * b * (1 - b)
end
return sel.lbm {
  lattice = "D3Q19", size = { H, H, L }, nu = 0.006, collision = "regularized",
  regions = {
    { name = "walls", where = shape.face "x-" + shape.face "x+" + shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "in", where = shape.face "z-", law = law.velocity { inflow } },
    { name = "out", where = shape.face "z+", law = p.outlet == "pressure" and law.pressure { 0 } or law.outflow {} },
  },
  stop = { steps = 8000 },
  output = {
    out.profile { name = "axis", field = { "velocity_z", "pressure" }, from = { 10, 10, 0.5 }, to = { 10, 10, L - 0.5 },
      points = L, every = 100000 },
  },
}
