-- The symmetric sudden expansion of ratio 3: where a symmetric channel stops giving symmetric flow.
-- Re = centre-line inlet velocity * inlet height / nu.
--
-- Shows: below Re = 81 (Fearn, Mullin and Cliffe 1990) a sideways kick at the inlet is forgotten;
-- above it the jet settles on one of the walls and stays there. The flow has chosen a branch of a
-- pitchfork. `selenite check` warns that the inlet makes sound. Waves along the channel are
-- symmetric, so they add nothing to the sideways velocity that is measured.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  h     = { 16,   "cells across the inlet", integer = true, min = 4 },
  Re    = { 120,  "Reynolds number: u_max * inlet height / nu", min = 1 },
  u_max = { 0.1,  "centre-line inlet velocity, lattice units", min = 0.001, max = 0.2 },
  kick  = { 0.05, "sideways velocity at the inlet during the kick, over u_max" },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  time  = { 1200, "length of the run in inlet heights / u_max", min = 10 },
}

local h, H = p.h, 3 * p.h
local before, L = 2 * h, 32 * h
local unit = h / p.u_max

local function inflow(y, t)
  local s = (y - h) / h
  local u = p.u_max * sel.ramp(t, 60 * unit) * 4 * s * (1 - s)
  local v = 0
  if t > 60 * unit and t < 80 * unit then
    v = p.kick * u
  end
  return u, v
end

return sel.lbm {
  lattice   = "D2Q9",
  size      = { L, H },
  precision = "f64",
  nu        = p.u_max * h / p.Re,
  collision = p.collision,
  reference = { length = h, velocity = p.u_max },
  regions   = {
    { name = "walls",  where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",  where = shape.face "x-", law = law.velocity { inflow } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
    { name = "lower",  where = shape.box { min = { 0, 0 }, max = { before, h } },
      law = law.wall {} },
    { name = "upper",  where = shape.box { min = { 0, 2 * h }, max = { before, H } },
      law = law.wall {} },
  },
  stop   = { steps = math.floor(p.time * unit) },
  output = {
    out.vtk     { fields = { "velocity", "pressure" }, interval = 100 * unit },
    -- Along the middle: the sideways velocity vanishes where the flow is symmetric.
    out.profile { name = "middle", field = "velocity", interval = 100 * unit,
                  from = { 0, H / 2 }, to = { L, H / 2 } },
    out.balance { interval = 10 * unit },
  },
}
