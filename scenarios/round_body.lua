-- A cylinder anywhere in a channel, at a viscosity so small that its wake is not resolved.
--
-- Shows: interpolated walls do not blow up where stairs of cells do. The result `largest` is the
-- largest speed at the end over the mean of the inlet. scenarios/validation/round_body.lua runs 200
-- bodies of all sizes.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  radius    = { 10,    "of the cylinder, cells", min = 1 },
  height    = { 4.5,   "of the channel, radii", min = 2.5 },
  cx        = { 0,     "place of the centre beside a third of the length, cells" },
  cy        = { 0,     "place of the centre beside the middle of the height, cells" },
  tau       = { 0.505, "relaxation time", min = 0.5001 },
  U         = { 0.05,  "mean velocity, lattice units" },
  scheme    = { "interpolated", "of the cylinder's wall", choices = { "interpolated", "halfway" } },
  collision = { "recursive", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  steps     = { 10000, "steps", integer = true, min = 1 },
}

local H = math.ceil(p.height * p.radius)
local L = 2 * H

local function inflow(y, t)
  return 6 * p.U * sel.ramp(t, 20 * H) * y * (H - y) / H ^ 2, 0
end

return sel.lbm {
  lattice   = "D2Q9",
  size      = { L, H },
  tau       = p.tau,
  collision = p.collision,
  reference = { length = 2 * p.radius, velocity = p.U },
  regions   = {
    { name = "walls",  where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",  where = shape.face "x-", law = law.velocity { inflow } },
    { name = "outlet", where = shape.face "x+", law = law.outflow {} },
    { name = "body",   law = law.wall { scheme = p.scheme },
      where = shape.ball { centre = { L / 3 + p.cx, H / 2 + p.cy }, radius = p.radius } },
  },
  stop   = { steps = p.steps },
  hooks  = {
    { at = "end", call = function(run)
        run:result("largest", run:reduce("speed", "max") / p.U)
      end },
  },
  output = {
    out.force   { region = "body", every = 20 },
    out.picture { field = "speed" },
  },
}
