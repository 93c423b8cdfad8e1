-- A law with branches becomes a program: `selenite check --laws` prints it.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local H, period = 32, 2000

-- A gust: a parabola that leans to the side it comes from, and calms down in the second half.
local function gust(y, t)
  local s = y / H
  local phase = t % period / period
  local strength = 1
  if phase < 0.5 then
    strength = strength + math.sin(2 * math.pi * phase) * (s < 0.5 and s or 1 - s)
  end
  return 0.05 * sel.ramp(t, period) * 4 * s * (1 - s) * strength, 0
end

return sel.lbm {
  lattice = "D2Q9",
  size    = { 4 * H, H },
  nu      = 0.05,
  regions = {
    { name = "walls",  where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",  where = shape.face "x-", law = law.velocity { gust } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
  },
  stop   = { steps = 4000 },
  output = {
    out.profile { field = "velocity", from = { 0, 0 }, to = { 0, H }, every = 500 },
    out.vtk     { fields = "velocity", every = 1000 },
  },
}
