-- The Reynolds number of a cell, U dx / nu, up to which a collision operator holds: a lid-driven
-- cavity and a square bar in a stream, both of which start at once.
--
-- Shows: how far coarse cells go. The result `largest` is the largest velocity at the end over the
-- one that is given. `selenite check` warns beyond half of what holds for 20,000 steps here and in
-- open_duct.lua; docs/physics.md, "Small viscosities".
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  case      = { "bar",  "which flow", choices = { "bar", "cavity" } },
  space     = { false,  "in 3-D; else in 2-D" },
  cell      = { 10,     "Reynolds number of a cell, U / nu in lattice units", min = 0.1 },
  H         = { 20,     "cells across the cavity, or four times the bar",
                integer = true, min = 8 },
  U         = { 0.05,   "velocity of the stream or of the lid, lattice units", min = 0.001 },
  collision = { "trt",  "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  steps     = { 20000,  "steps", integer = true, min = 1 },
}

local H, U = p.H, p.U

local function vector(u)
  return p.space and { u, 0, 0 } or { u, 0 }
end
local function box(...)
  local size = { ... }
  if not p.space then
    size[3] = nil
  end
  return size
end

local inlet = { name = "inlet", where = shape.face "x-", law = law.velocity(vector(U)) }
local outlet = { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } }
local walls = { name = "walls", where = shape.faces, law = law.wall {} }
local cases = {
  cavity = { size = box(H, H, H), start = 0, regions = { walls,
    { name = "lid", where = shape.face "y+", law = law.wall { velocity = vector(U) } } } },
  bar = { size = box(3 * H, 2 * H, H), start = U, regions = {
    { name = "sides", where = shape.faces, law = law.slip {} }, inlet, outlet,
    { name = "bar", law = law.wall {}, where = shape.box { min = box(H, 7 * H // 8, H // 4),
      max = box(H + H // 4, 9 * H // 8, 3 * H // 4) } } } },
}
local case = cases[p.case]

local function report(run)
  run:result("largest", run:reduce("speed", "max") / U)
end

return sel.lbm {
  lattice   = p.space and "D3Q19" or "D2Q9",
  size      = case.size,
  nu        = U / p.cell,
  collision = p.collision,
  reference = { length = H, velocity = U },
  initial   = { velocity = vector(case.start) },
  regions   = case.regions,
  stop      = { steps = p.steps },
  hooks     = { { at = "end", call = report } },
  output    = { out.picture { field = "velocity", slice = p.space and { z = H / 2 } or nil } },
}
