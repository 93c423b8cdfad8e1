-- Three dimensions: a lattice with 19 velocities, three components, and slices as pictures.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local H = 20                                        -- a square duct with a bent pin in the stream

local function inflow(y, z, t)
  local s, r = y / H, z / H
  return 0.05 * sel.ramp(t, 800) * 16 * s * (1 - s) * r * (1 - r), 0, 0
end

local pin = shape.cylinder { from = { H, 0, H / 2 }, to = { H, 9, H / 2 }, radius = 2.5 }
  + shape.ball { centre = { H + 3, 10, H / 2 }, radius = 4 }

return sel.lbm {
  lattice = "D3Q19",
  size    = { 3 * H, H, H },
  nu      = 0.02,
  regions = {
    { name = "inlet",  where = shape.face "x-", law = law.velocity { inflow } },
    { name = "outlet", where = shape.face "x+", law = law.outflow {} },
    { name = "walls",  where = shape.rest,      law = law.wall {} },
    { name = "pin",    where = pin,             law = law.wall {} },
  },
  stop    = { steps = 1000 },
  output  = {
    out.picture { field = "velocity", slice = { z = H / 2 }, every = 500 },
    out.vtk     { fields = { "velocity", "q_criterion" } },
  },
}
