-- SI units: sel.units turns a width, a velocity and a viscosity into dx, dt and nu.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local H, L = 0.002, 0.012                           -- a gap of 2 mm, 12 mm long
local U = 0.05                                      -- mean velocity, m/s

local units = sel.units {
  length = H, cells = 24,                           -- dx = H / 24
  velocity = U, lattice_velocity = 0.04,            -- dt = 0.04 dx / U
  viscosity = 1e-5, density = 870,                  -- a light oil: m2/s, kg/m3
}

local function inflow(y, t)                         -- rises over several periods of sound
  local s = y / H
  return U * sel.ramp(t, 0.2) * 6 * s * (1 - s), 0
end

return sel.lbm {
  lattice = "D2Q9",
  size    = units.cells { L, H },                   -- whole cells, or an error
  units   = units,
  regions = {
    { name = "walls",  where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",  where = shape.face "x-", law = law.velocity { inflow } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
    { name = "rib",    where = shape.box { min = { 0.004, 0 }, max = { 0.0045, 0.0005 } },
                       law = law.wall {} },
  },
  stop   = { time = 0.5 },                          -- seconds
  output = {
    out.probe { field = "pressure", at = { { 0.002, H / 2 }, { 0.008, H / 2 } }, interval = 0.01 },
    out.force { region = "rib", interval = 0.01 },  -- N per metre of depth
    out.vtk   { fields = { "velocity", "pressure" } },
  },
}
