-- Blood in a narrowed vessel: radius 2 mm, half of the diameter left in the throat, in SI units.
-- The inflow pulses: its mean velocity over a beat of 0.8 s comes from pulse.csv. The Reynolds
-- number of the vessel is 137 at its peak, and the Womersley number 3.
--
-- Shows: units of the SI, an inlet from a file, walls on the surface of a shape. At the peak of the
-- first beat the middle of the throat has 5.2 times the mean velocity of the vessel, and the
-- pressure along its axis, from four radii before the throat to eight behind it, falls by 153 Pa:
--
--   cells per diameter       16      20      24      32
--   speed in the throat   0.653   0.641   0.631   0.617 m/s
--   fall of the pressure    166     161     157     153 Pa
--
-- With ten cells, five in the throat, they are 0.84 m/s and 243 Pa. The first beat rises from rest
-- with `ramp`, which follows the sound of the lattice: with u = 0.075 it is half as long, and 16
-- and 20 cells have 0.681 and 0.653 m/s, 178 and 171 Pa.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  D      = { 20,   "cells per diameter of the vessel", integer = true, min = 6 },
  narrow = { 0.5,  "part of the diameter that the narrowing takes", min = 0, max = 0.8 },
  length = { 10,   "length of the vessel, diameters; the throat is a third of it behind the inlet",
             min = 6 },
  inflow = { "pulse.csv", "mean velocity over a beat: seconds, m/s", file = true },
  u      = { 0.15, "bound of the velocity in the throat, lattice units", min = 0.01, max = 0.25 },
  beats  = { 2,    "beats after the start", min = 0.01 },
}

local R, U, beat = 0.002, 0.12, 0.8           -- m, largest mean velocity in m/s, s
local dx = 2 * R / p.D
local dt = p.u * dx * (1 - p.narrow) ^ 2 / (2 * U)
local L, W = math.floor(p.length * p.D + 0.5), p.D + 4
local middle, throat = W * dx / 2, L * dx / 3
-- Several periods of the slowest sound along the vessel, 4 L / c_s.
local ramp = 16 * math.sqrt(3) * L * dt
local pulse = sel.series { p.inflow, repeats = true }

-- A cosine, four radii long.
local function radius(x)
  local s = math.min(math.abs(x - throat) / (2 * R), 1)
  return R * (1 - p.narrow / 2 * (1 + math.cos(math.pi * s)))
end

local function is_wall(x, y, z)
  return (y - middle) ^ 2 + (z - middle) ^ 2 > radius(x) ^ 2
end

local function inflow(y, z, t)
  local r2 = ((y - middle) ^ 2 + (z - middle) ^ 2) / R ^ 2
  return 2 * pulse(t) * sel.ramp(t, ramp) * math.max(1 - r2, 0), 0, 0
end

return sel.lbm {
  lattice   = "D3Q19",
  size      = { L, W, W },
  dx        = dx,
  dt        = dt,
  density   = 1060,                           -- kg/m3
  nu        = 3.5e-6,
  periodic  = { "y", "z" },                   -- wall on either side
  reference = { length = 2 * R, velocity = U, area = math.pi * R ^ 2 },
  regions   = {
    { name = "inlet",  where = shape.face "x-", law = law.velocity { inflow } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
    { name = "wall",   where = shape.inside(is_wall), law = law.wall { scheme = "interpolated" } },
  },
  stop   = { time = ramp + p.beats * beat },
  output = {
    out.force   { name = "wall", region = "wall", every = 20, from_time = ramp },
    out.probe   { name = "throat", field = { "velocity", "pressure" }, every = 20,
                  at = { throat, middle, middle } },
    out.probe   { name = "pressure", field = "pressure", every = 20,
                  at = { { throat - 4 * R, middle, middle }, { throat + 8 * R, middle, middle } } },
    out.flux    { name = "flow", region = "outlet", every = 20 },
    out.picture { field = "speed", slice = { z = middle } },
    out.vtk     { fields = { "velocity", "pressure" }, interval = beat / 8 },
  },
}
