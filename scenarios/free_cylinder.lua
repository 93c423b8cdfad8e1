-- A cylinder in a free stream at Reynolds number 100: the vortex street.
--
-- Shows: sides of a free stream (law.far_field) and an outlet that let sound and vortices out, so
-- that drag, lift and Strouhal number are those of the flow. Forces of the last periods are in the
-- results: drag.cd_mean, drag.cl_rms, drag.strouhal.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  D         = { 16,   "diameter, cells", min = 4 },
  Re        = { 100,  "Reynolds number", min = 1 },
  U         = { 0.04, "velocity of the stream, lattice units", min = 0.001, max = 0.15 },
  width     = { 40,   "of the domain, diameters", min = 4 },
  before    = { 20,   "from the inlet to the centre, diameters", min = 2 },
  behind    = { 40,   "from the centre to the outlet, diameters", min = 2 },
  periods   = { 60,   "of shedding to run", min = 1 },
  last      = { 10,   "periods that the forces are averaged over", min = 1 },
  sides     = { "far_field", "of the stream", choices = { "far_field", "slip" } },
  outlet    = { "absorbing", "law of the outlet", choices = { "absorbing", "outflow", "held" } },
  scheme    = { "interpolated", "of the cylinder's wall", choices = { "interpolated", "halfway" } },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
}

-- At Re 100 a period takes 6.0 D / U.
local period = 6 * p.D / p.U
local nx, ny = math.floor((p.before + p.behind) * p.D), math.floor(p.width * p.D)
local centre = { p.before * p.D, ny / 2 }

-- The stream, which a swirl behind the body pushes aside: so the street begins soon.
local function start(x, y)
  local rx, ry = (x - centre[1]) / p.D - 1.5, (y - centre[2]) / p.D
  local swirl = 0.3 * p.U * math.exp(-rx * rx - ry * ry)
  return p.U - swirl * ry, swirl * rx
end

local outlets = {
  absorbing = law.pressure { 0, absorbing = true }, outflow = law.outflow {},
      held = law.pressure { 0 },
}
local stream = law.far_field { p.U, 0 }

return sel.lbm {
  lattice   = "D2Q9",
  size      = { nx, ny },
  nu        = p.U * p.D / p.Re,
  collision = p.collision,
  reference = { length = p.D, velocity = p.U },
  initial   = { velocity = start },
  regions   = {
    { name = "sides",    where = shape.face "y-" + shape.face "y+",
      law = p.sides == "slip" and law.slip {} or stream },
    { name = "inlet",    where = shape.face "x-", law = stream },
    { name = "outlet",   where = shape.face "x+", law = outlets[p.outlet] },
    { name = "cylinder", law = law.wall { scheme = p.scheme },
      where = shape.ball { centre = centre, radius = p.D / 2 } },
  },
  stop   = { steps = math.floor(p.periods * period) },
  output = {
    out.force   { name = "drag", region = "cylinder", every = math.floor(period / 100),
                  from_step = math.floor((p.periods - p.last) * period) },
    out.picture { field = "vorticity", every = math.floor(p.periods * period / 4) },
  },
}
