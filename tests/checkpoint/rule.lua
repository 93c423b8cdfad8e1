-- Rules with all that varies: dt, laws, data and a control in time, integers, a vector, random numbers.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  steps = { 150, "where the run ends", integer = true },
  save  = { 0, "steps between checkpoints; 0: none", integer = true },
  deep  = { 1, "cells along z; 1: in 2-D", integer = true },
  precision = { "f32", "f32 or f64" },
}
local nx, ny = 37, 24
local deep = p.deep > 1
local size = deep and { nx, ny, p.deep } or { nx, ny }

local function at(c, dx, dy, dz)
  if deep then
    return c(dx, dy, dz or 0)
  end
  return c(dx, dy)
end

local function beside(c, k)
  return k < 2 and at(c, 2 * k - 1, 0) or k < 4 and at(c, 0, 2 * k - 5) or at(c, 0, 0, 2 * k - 9)
end

local function spread(c, x, t, dt, gain)
  local sum, last = 0, deep and 5 or 3
  for k = 0, last do
    sum = sum + beside(c, k).u - c.u
  end
  return {
    u = c.u + dt * c.k * sum + gain * dt * math.sin(t + x / 9) * (c.kind == 1 and 1 or 0),
    q_x = at(c, 1, 0).u - at(c, -1, 0).u,
    q_y = c.q_y + at(c, 0, 2).q_x * dt,
    count = c.count + (c.u > 1 and 1 or 0),
  }
end

local function flip(c)
  if sel.random(1) < 0.02 then
    return { kind = 1 - c.kind }
  end
  return { kind = (at(c, 1, 1).kind + at(c, -1, -1, 1).kind + c.kind) // 2 }
end

local outputs = {
  out.vtk     { fields = { "u", "q", "kind", "count", "far" }, every = 50 },
  out.balance { every = 10 },
  out.reduce  { field = { "u", "far", "kind" }, op = "max", interval = 0.7 },
  out.probe   { field = { "u", "q" }, at = deep and { 9, 7, 2 } or { 9, 7 }, every = 7 },
}
if p.save > 0 then
  outputs[#outputs + 1] = out.checkpoint { every = p.save }
end

return sel.rule {
  size     = size,
  precision = p.precision,
  periodic = deep and { "y" } or {},
  dt       = { limit = function(c) return 1 / (c.k + c.u ^ 2 / 40) end, factor = 0.08, max = 0.1, every = 7 },
  state    = { u = "real", q = "vector", kind = "u8", count = "i32" },
  data     = { k = function(x, y, t) return 1 + 0.2 * math.sin(x / 5 + y / 7 + t) end },
  initial  = {
    u = function(x, y) return 1 + sel.noise(3, x / 4, y / 4) end,
    kind = function() return sel.random(1) < 0.4 and 1 or 0 end,
  },
  derived   = { far = function(c) return at(c, 2, 0).u + at(c, 0, -2).u * c.k end },
  conserved = { "u", "far" },
  main      = "u",
  seed      = 5,
  controls  = { gain = 1 },
  rule      = { spread, flip },
  regions   = {
    { where = shape.faces, law = law.wall {} },
    { where = shape.face "x-", law = { u = law.fixed { function(y, t) return 1 + math.sin(t + y) end,
      at = "face" }, kind = law.fixed { 1 } } },
    { where = shape.face "x+", law = { u = law.gradient { function(t) return 0.1 * t end }, q = law.mirror {} } },
    { where = deep and shape.box { min = { 9, 9, 0 }, max = { 14, 12, 9 } }
      or shape.box { min = { 9, 9 }, max = { 14, 12 } }, law = law.wall {} },
    { where = deep and shape.box { min = { 20, 2, 0 }, max = { 22, 5, 9 } }
      or shape.box { min = { 20, 2 }, max = { 22, 5 } },
      law = { u = law.fixed { function(gain, t) return gain + t / 9 end }, kind = law.wall {} } },
  },
  hooks     = { { every = 40, call = function(run)
    run:set("gain", 1 + run:reduce("u", "max") / 10)
    run:result("far", run:reduce("far", "mean"))
  end } },
  stop      = { steps = p.steps, steady = 1e-4, every = 20 },
  output    = outputs,
}
