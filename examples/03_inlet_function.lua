-- A law as a function: the argument names say what it depends on (any of x, y, z, t).
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local H = 32

local function pulsating(y, t)
  local s = y / H
  local beat = 1 + 0.5 * math.sin(2 * math.pi * t / 2000)
  return 0.05 * sel.ramp(t, 4000) * 4 * s * (1 - s) * beat, 0   -- a start without sound
end

return sel.lbm {
  lattice = "D2Q9",
  size    = { 4 * H, H },
  nu      = 0.05,
  regions = {
    { name = "walls",  where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",  where = shape.face "x-", law = law.velocity { pulsating } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
  },
  stop   = { steps = 8000 },
  output = {
    out.balance { every = 100 },
    out.vtk     { fields = { "velocity", "pressure" }, every = 1000 },
  },
}
