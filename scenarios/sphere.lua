-- Flow past a sphere in a square channel.
--
-- Shows: a steady ring vortex behind the sphere above Re 20, whose length grows with Re; above Re
-- 210 the wake leaves the axis, above 280 it sheds hairpin vortices. The drag coefficient may be
-- compared with the correlation of Schiller and Naumann (1933) for a sphere in an unbounded
-- stream, 24 / Re (1 + 0.15 Re^0.687), good to five per cent; results has it as schiller_naumann.
--
-- The channel confines the flow: what the sphere blocks, pi D^2 / (4 W^2) of the cross-section, has
-- to pass beside it. Beside slip faces, mirrors that act like a square array of spheres, the drag
-- coefficient at Re 100 and W = 4 D is 1.206 with 8 cells per diameter and 1.200 with 12, at W =
-- 6 D with 8 cells 1.159: in proportion to what is blocked, 1.12 are left of it in an unbounded
-- stream, where Schiller and Naumann have 1.09. A staircase of cells, with scheme = "halfway", has
-- 1.48 at W = 4 D with 8 cells. With sides = "walls" the walls move along with the stream, as seen
-- by a sphere that moves through a duct at rest; at low Re, where its disturbance reaches far, they
-- add more.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  D      = { 12,     "cells per diameter", min = 4 },
  Re     = { 100,    "Reynolds number: U D / nu", min = 0.1 },
  U      = { 0.1,    "velocity of the stream, lattice units", min = 0.001, max = 0.15 },
  width  = { 6,      "side of the channel over D", min = 1.5 },
  length = { 10,     "length of the channel over D; the sphere is a third of it behind the inlet",
             min = 6 },
  sides  = { "slip", "sides of the channel", choices = { "slip", "walls" } },
  scheme = { "interpolated", "of the sphere's wall", choices = { "interpolated", "halfway" } },
  time   = { 30,     "length of the run after its start, in units of D / U", min = 1 },
}

local D, U = p.D, p.U
local L, W = math.floor(p.length * D + 0.5), math.floor(p.width * D + 0.5)
local centre = { L / 3, W / 2, W / 2 }
-- Several periods of the slowest sound along the channel, 4 L / c_s.
local ramp = 16 * math.sqrt(3) * L
local steps = math.floor(ramp + p.time * D / U)
local beside = shape.face "y-" + shape.face "y+" + shape.face "z-" + shape.face "z+"

local function stream(t)
  return U * sel.ramp(t, ramp), 0, 0
end

local function report(run)
  run:result("schiller_naumann", 24 / p.Re * (1 + 0.15 * p.Re ^ 0.687))
  run:result("blockage", math.pi / 4 * (D / W) ^ 2)
end

return sel.lbm {
  lattice   = "D3Q19",
  size      = { L, W, W },
  nu        = U * D / p.Re,
  reference = { length = D, velocity = U, area = math.pi / 4 * D ^ 2 },
  regions   = {
    { name = "sides",  where = beside,
      law = p.sides == "slip" and law.slip {} or law.wall { velocity = { stream } } },
    { name = "inlet",  where = shape.face "x-", law = law.velocity { stream } },
    { name = "outlet", where = shape.face "x+", law = law.outflow {} },
    { name = "sphere", where = shape.ball { centre = centre, radius = D / 2 },
      law = law.wall { scheme = p.scheme } },
  },
  stop   = { steps = steps },
  hooks  = { { at = "end", call = report } },
  output = {
    out.force   { name = "drag", region = "sphere", centre = centre, every = 20,
                  from_step = math.floor(0.75 * steps) },
    out.profile { name = "axis", field = "velocity", from = { 0, W / 2, W / 2 },
                  to = { L, W / 2, W / 2 }, every = 100000000 },
    out.picture { field = "velocity", slice = { z = W / 2 }, min = 0, max = 1.2 * U },
    out.vtk     { fields = { "velocity", "pressure", "q_criterion" } },
  },
}
