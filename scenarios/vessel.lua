-- Blood in an artery that divides into two: its wall is an STL file in millimetres, which
-- tools/vessel.py writes. The trunk has a radius of 2 mm. Its mean velocity over a beat of 0.8 s
-- comes from pulse.csv; at its peak the Reynolds number is 145, the Womersley number is 3.1.
--
-- Shows: a vessel from a mesh with walls on its surface, SI units, outlets that let sound out, and
-- along the wall pressure and shear stress (wall.csv). The flow rises from rest to that between
-- two beats, and the beats follow; what is written begins with them. That steady flow has in the
-- trunk the shear stress 4 mu Q / (pi R^3), and the pressure falls by 8 mu Q / (pi R^4) per length:
-- the result `poiseuille` is the fall between the two places of pressure.csv over that.
--
-- The fluid of the lattice is compressible: what leaves lags behind what enters, by up to 5 % of
-- the largest flow. That goes with `u`. Outlets that held their pressure would return all sound;
-- with a small `hold` they would follow the beat late.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  stl    = { "vessel.stl", "the vessel, in mm: trunk about the x axis, branches in z = 0",
             file = true },
  D      = { 20,   "cells across the trunk", integer = true, min = 6 },
  inflow = { "pulse.csv", "mean velocity in the trunk over a beat: seconds, m/s", file = true },
  u      = { 0.06, "largest velocity on the axis at the inlet, lattice units",
             min = 0.01, max = 0.2 },
  rise   = { 0.2,  "time in which the flow rises, s", min = 0.001 },
  beats  = { 1,    "beats after that", min = 0 },
  hold   = { 4,    "how fast outlets bring back their pressure, in c_s over the length",
             min = 0.01 },
  steal  = { 0,    "pressure at the end of the branch in y < 0, Pa; the other one has 0" },
}

local R, U, beat = 0.002, 0.12, 0.8                   -- m, largest mean velocity in m/s, s
local nu, density = 3.3e-6, 1060                      -- m2/s, kg/m3
local dx = 2 * R / p.D
local dt = p.u * dx / (2 * U)
local nx, ny, nz = 8 * p.D, 2 * math.ceil(1.6 * p.D), p.D + 4
local low, high = { 0, -ny * dx / 2, -nz * dx / 2 }, { nx * dx, ny * dx / 2, nz * dx / 2 }
local pulse = sel.series { p.inflow, repeats = true }

local function inflow(y, z, t)
  local mean = pulse(math.max(t - p.rise, 0)) * sel.ramp(t, p.rise)
  return 2 * mean * math.max(1 - (y ^ 2 + z ^ 2) / R ^ 2, 0), 0, 0
end

local function outlet(given)
  local function pressure(t)
    return given * sel.ramp(t, p.rise)
  end
  return law.pressure { pressure, absorbing = true, relaxation = p.hold / math.sqrt(3) / nx }
end

-- Two places on the axis of the trunk.
local places = { { R, 0, 0 }, { 4 * R, 0, 0 } }
local function report(run)
  local fall = run:probe("pressure", places[1]) - run:probe("pressure", places[2])
  local mean = pulse(math.max(run.time - p.rise, 0)) * sel.ramp(run.time, p.rise)
  run:result("poiseuille", fall / (8 * density * nu * mean / R ^ 2 * (places[2][1] - places[1][1])))
end

return sel.lbm {
  lattice   = "D3Q19",
  size      = { nx, ny, nz },
  dx        = dx,
  dt        = dt,
  origin    = low,
  density   = density,
  nu        = nu,
  reference = { length = 2 * R, velocity = U, area = math.pi * R ^ 2 },
  regions   = {
    { name = "inlet", where = shape.face "x-", law = law.velocity { inflow } },
    { name = "right", where = shape.face "x+", law = outlet(p.steal) },
    { name = "left",  where = shape.face "x+" * shape.box { min = { 0, 0, low[3] }, max = high },
      law = outlet(0) },
    { name = "wall",  where = shape.box { min = low, max = high }
      - shape.mesh { file = p.stl, scale = 0.001 }, law = law.wall { scheme = "interpolated" } },
  },
  stop   = { time = p.rise + p.beats * beat },
  hooks  = { { at = "end", call = report } },
  output = {
    out.flux    { name = "inlet", region = "inlet", every = 20, from_time = p.rise },
    out.flux    { name = "left",  region = "left",  every = 20, from_time = p.rise },
    out.flux    { name = "right", region = "right", every = 20, from_time = p.rise },
    out.probe   { name = "pressure", field = "pressure", at = places, every = 20 },
    out.wall    { region = "wall", field = { "pressure", "wall_shear", "wall_area" },
                  interval = beat / 8, from_time = p.rise },
    out.picture { field = "speed", slice = { z = 0 }, interval = beat / 8 },
    out.vtk     { fields = { "velocity", "pressure", "wall_shear" } },
  },
}
