-- The sudden expansion of Rinaldi (2011), section 5.4: a channel whose width doubles over a step in
-- the lower wall. Length 3 H, step face at x = H, inlet height H / 2; `upstream` and `length` make
-- other channels of it (backward_step.lua).
--
-- Shows: the flow separates at the step and reattaches about one channel width behind it. At Re =
-- 100 (maximum velocity, hydraulic diameter twice the inlet height; 66.7 by the mean velocity) the
-- bubble is 2.10 step heights long at 64 cells, 2.125 at 128, 2.145 in the limit. The inlet is
-- ramped: after an impulsive start the sound waves between a velocity inlet and a pressure outlet
-- hardly decay.
--
-- as_thesis=true takes the thesis' own lattice (30 cells, u = 0.3, BGK, impulsive, 3000 steps): its
-- Mach number of 0.52 lengthens the bubble by 8 per cent.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  H         = { 64,    "cells across the wide channel; even", integer = true, min = 8 },
  Re        = { 100,   "Reynolds number: u_max * 2 * inlet height / nu", min = 1 },
  u_max     = { 0.1,   "centre-line inlet velocity, lattice units", min = 0.001, max = 0.4 },
  ramp      = { 10000, "steps over which the inlet velocity rises", min = 0 },
  upstream  = { 1,     "length of the narrow channel over H", min = 0.1 },
  length    = { 3,     "length of the whole channel over H", min = 0.5 },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  as_thesis = { false, "the lattice numbers of the thesis" },
}

local H, u_max, ramp = p.H, p.u_max, p.ramp
local stop = { steps = 400000, steady = 1e-8, every = 1000 }
if p.as_thesis then
  H, u_max, ramp = 30, 0.3, 0
  stop = { steps = 3000, every = 1000 }
end
if H % 2 ~= 0 then
  error("H must be even: the step is half as high as the channel")
end
local h, L, face = H // 2, math.floor(p.length * H + 0.5), p.upstream * H
local step = shape.box { min = { 0, 0 }, max = { face, h } }

local function inflow(y, t)
  local s = (y - h) / (H - h)
  local rise = 1
  if t < ramp then
    rise = 0.5 * (1 - math.cos(math.pi * t / ramp))
  end
  return u_max * rise * 4 * s * (1 - s), 0
end

-- Where the velocity half a cell above the lower wall changes its sign behind the step.
local function report(run)
  local before = 0
  for x = face + 1.5, L - 0.5 do
    local u = run:probe("velocity_x", { x, 0.5 })
    if before < 0 and u >= 0 then
      run:result("reattachment", (x - u / (u - before) - face) / h)
      return
    end
    before = u
  end
end

return sel.lbm {
  lattice   = "D2Q9",
  size      = { L, H },
  precision = "f64",
  nu        = u_max * 2 * (H - h) / p.Re,
  collision = p.as_thesis and "bgk" or p.collision,
  reference = { length = 2 * (H - h), velocity = u_max },
  regions   = {
    { name = "walls",     where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",     where = shape.face "x-", law = law.velocity { inflow } },
    { name = "outlet",    where = shape.face "x+", law = law.pressure { 0 } },
    { name = "expansion", where = step,            law = law.wall {} },
  },
  stop   = stop,
  hooks  = { { at = "end", call = report } },
  output = {
    out.vtk     { fields = { "velocity", "pressure" }, every = 20000 },
    out.picture { field = "velocity" },
    out.profile { name = "just_behind", field = "velocity", every = 20000,
                  from = { face + 0.1 * H, 0 }, to = { face + 0.1 * H, H } },
    out.profile { name = "middle", field = "velocity", every = 20000,
                  from = { face + 0.5 * H, 0 }, to = { face + 0.5 * H, H } },
    -- Along the lower wall, half a cell above it: the velocity changes sign at reattachment.
    out.profile { name = "floor", field = "velocity", every = 20000,
                  from = { face, 0.5 }, to = { L, 0.5 } },
    out.balance { every = 1000 },
  },
}
