-- Flow through a square duct, a round pipe, or in 2-D a channel, from an inlet to an outlet, at a
-- given Reynolds number of a cell U / nu.
--
-- Shows: with the exact profile at the inlet the velocity U on the axis stays as it is and the
-- pressure falls by 2 nu U / (k a^2) per length, a half the width: k = 1 between plates, and 0.5894
-- in the square duct (twice 0.294685, see duct3d.lua), 0.5 in the pipe. The results `axis` and
-- `drop` are the deviations of both, as parts. At a large Reynolds number of a cell open faces are
-- what fails first: docs/physics.md, "Small viscosities".
--
-- With `pulse` what the inlet gives swings by this part of it, with `rest` the fluid is at rest
-- when the inlet begins at once: flows that are hard for open faces. `fastest`, the largest speed
-- over U, and `axis` then tell whether they hold, not how exact they are.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  space     = { true,  "a duct in 3-D; else a channel in 2-D" },
  round     = { false, "a round pipe in place of the square duct" },
  cell      = { 8.3,   "Reynolds number of a cell, U / nu in lattice units", min = 0.1 },
  H         = { 20,    "cells across", integer = true, min = 4 },
  L         = { 50,    "cells along", integer = true, min = 8 },
  U         = { 0.05,  "velocity on the axis, lattice units", min = 0 },
  collision = { "regularized", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  inlet     = { "velocity", "law of the inlet", choices = { "velocity", "absorbing velocity",
                "far_field", "pressure", "absorbing pressure" } },
  outlet    = { "pressure", "law of the outlet",
                choices = { "pressure", "absorbing pressure", "outflow" } },
  pulse     = { 0,     "part of U, or of the pressure, by which the inlet swings", min = 0 },
  period    = { 1000,  "period of the swing, steps", min = 1 },
  rest      = { false, "the fluid is at rest at the start, else it flows" },
  steps     = { 20000, "steps", integer = true, min = 1 },
}

local H, L, U, nu = p.H, p.L, p.U, p.U / p.cell
local round = p.space and p.round
local middle = math.floor(H / 2) + 0.5 -- the cell next to the axis
local k = not p.space and 1 or round and 0.5 or 2 * 0.294685
local slope = 2 * nu * U / (k * (H / 2) ^ 2)

-- u / U at y and z from 0 to H.
local function profile(y, z)
  if round then
    return math.max(1 - ((2 * y / H - 1) ^ 2 + (2 * z / H - 1) ^ 2), 0)
  end
  if not p.space then
    return 4 * y / H * (1 - y / H)
  end
  local sum = 0
  for n = 1, 39, 2 do
    local q, far = n * math.pi, math.abs(z / H - 0.5)
    local ratio = (math.exp(q * (far - 0.5)) + math.exp(-q * (far + 0.5))) / (1 + math.exp(-q))
    sum = sum + math.sin(q * y / H) / n ^ 3 * (1 - ratio)
  end
  return sum / 0.571069
end

-- What the inlet gives, over its mean.
local function swing(t)
  return 1 + p.pulse * math.sin(2 * math.pi * t / p.period)
end

local function pressure(x)
  return slope * (L - 0.5 - x)
end
local stream = p.space and function(y, z) return U * profile(y, z), 0, 0 end
  or function(y) return U * profile(y), 0 end

-- At the inlet.
local velocity, inlet_pressure = stream, slope * (L - 1)
if p.pulse > 0 then
  velocity = p.space and function(y, z, t) return U * profile(y, z) * swing(t), 0, 0 end
    or function(y, t) return U * profile(y) * swing(t), 0 end
  inlet_pressure = function(t) return slope * (L - 1) * swing(t) end
end

-- All but the pipe, which touches the sides.
local outside = shape.box { min = { -1, -1, -1 }, max = { L + 1, H + 1, H + 1 } }
  - shape.cylinder { from = { -2, H / 2, H / 2 }, to = { L + 2, H / 2, H / 2 }, radius = H / 2 }

local function at(x)
  return p.space and { x, middle, middle } or { x, middle }
end

-- Wet faces lie at the centres of the first and the last cells.
local function report(run)
  local exact, worst = U * profile(middle, middle), 0
  for x = 0.5, L - 0.5 do
    local u = run:probe("velocity", at(x))
    if math.abs(u / exact - 1) > math.abs(worst) then
      worst = u / exact - 1
    end
  end
  local drop = run:probe("pressure", at(0.5)) - run:probe("pressure", at(L - 0.5))
  run:result("axis", worst)
  run:result("fastest", run:reduce("speed", "max") / U)
  run:result("drop", drop / (slope * (L - 1)) - 1)
end

-- The law of an end; pressure_there: what law.pressure holds.
local function open_face(name, pressure_there)
  local absorbing = name:match "absorbing" ~= nil
  return name == "outflow" and law.outflow {}
    or name == "far_field" and law.far_field { velocity }
    or name:match "velocity" and law.velocity { velocity, absorbing = absorbing }
    or law.pressure { pressure_there, absorbing = absorbing }
end

return sel.lbm {
  lattice   = p.space and "D3Q19" or "D2Q9",
  size      = p.space and { L, H, H } or { L, H },
  nu        = nu,
  collision = p.collision,
  reference = { length = H, velocity = U },
  -- The flow itself, so that no sound is set off.
  initial   = not p.rest and { velocity = { stream }, pressure = pressure } or {},
  regions   = {
    { name = "walls", where = shape.faces, law = law.wall {} },
    { name = "inlet",  where = shape.face "x-", law = open_face(p.inlet, inlet_pressure) },
    { name = "outlet", where = shape.face "x+", law = open_face(p.outlet, 0) },
    round and { name = "pipe", where = outside, law = law.wall {} } or nil,
  },
  stop      = { steps = p.steps },
  hooks     = { { at = "end", call = report } },
  output    = {
    out.profile { name = "axis", field = { "velocity", "pressure" }, from = at(0), to = at(L),
                  at = "end" },
    out.picture { field = "pressure", slice = p.space and { z = H / 2 } or nil },
  },
}
