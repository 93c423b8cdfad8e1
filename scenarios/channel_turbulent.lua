-- Turbulent flow between two plates, driven by a uniform acceleration g along x. With the friction
-- velocity u_tau = sqrt(g delta), delta being half the distance of the plates, the Reynolds number
-- u_tau delta / nu is 180, that of the direct numerical simulations of J. Kim, P. Moin, R. D. Moser
-- (Journal of Fluid Mechanics 177: 133, 1987) and of R. D. Moser, J. Kim, N. N. Mansour (Physics of
-- Fluids 11: 943, 1999).
--
-- Shows: turbulence that keeps itself alive; the shear on the plates over time in shear.csv; the
-- profiles of mean velocity, rms and Reynolds stress across the flow in statistics.csv, which are
-- means over time and along the plates. With given = "acceleration" the mean velocity adjusts
-- slowly. With given = "flow" the mean velocity of the start is held, 15.66 u_tau, and the friction
-- is a result: drive.acceleration_mean in run.json over u_tau^2 / delta. It adjusts at once.
--
-- The default is coarse: a cell has 11 wall units, 180 / cells. The flow stays turbulent, but its
-- streaks are too strong and the mean velocity is too large. On a GPU: cells=80 length=6.4
-- width=3.2 u_tau=0.008 time=50 from=14, 21 million cells and 500,000 steps, 8 minutes on an H200;
-- mean velocity and fluctuations are then within 2 and 4 per cent of theirs. The plates are
-- parabolic walls, since on such grids half-way walls take energy from the vortices beside them.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  cells     = { 16,    "cells from a plate to the middle: delta", integer = true, min = 8 },
  Re        = { 180,   "Reynolds number of friction: u_tau delta / nu", min = 1 },
  u_tau     = { 0.006, "friction velocity, lattice units", min = 0.0001, max = 0.01 },
  length    = { 3.2,   "of the box along the flow (x), in delta", min = 0.5 },
  width     = { 1.6,   "of the box along the plates across the flow (z), in delta", min = 0.2 },
  time      = { 30,    "length of the run, in delta / u_tau", min = 0.1 },
  from      = { 15,    "beginning of the statistics, in delta / u_tau", min = 0 },
  given     = { "acceleration", "what is given: g, or the mean velocity",
                choices = { "acceleration", "flow" } },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  precision = { "f32", "of the state", choices = { "f32", "f64" } },
}

local delta, u_tau = p.cells, p.u_tau
local nx, nz = math.ceil(p.length * delta), math.ceil(p.width * delta)
local unit = delta / u_tau                                      -- of time

-- The mean velocity over u_tau at a distance of y wall units, by H. Reichardt (1951).
local function reichardt(y)
  return 2.5 * math.log(1 + 0.4 * y) + 7.8 * (1 - math.exp(-y / 11) - y / 11 * math.exp(-y / 3))
end

local mean = 0
for k = 0, 999 do
  mean = mean + reichardt(p.Re * (k + 0.5) / 1000) / 1000
end

-- Waves that break this profile up: how often each fits into the box along x and along z, its
-- phase, the part that is odd in y, and its share of `swirl`. Those along z alone are rolls.
local swirl = 0.15 * u_tau * reichardt(p.Re)
local waves = {
  { 0, 1, 0.3, 0.6, 1 },     { 0, 2, 1.9, -0.8, 0.7 }, { 1, 1, 2.4, 0.5, 0.5 },
  { 1, -1, 4.1, -0.5, 0.5 }, { 1, 2, 5.2, 0.7, 0.4 },  { 2, -1, 0.9, -0.6, 0.4 },
  { 2, 0, 3.3, 0.4, 0.3 },   { 3, 2, 1.2, -0.3, 0.3 },
}

-- A wave has v = f(y) cos(a), and u and w by which nothing diverges.
local function start(x, y, z)
  local s = y / delta - 1
  local h = 1 - s * s
  local u, v, w = u_tau * reichardt((1 - math.abs(s)) * p.Re), 0, 0
  for i = 1, #waves do
    local wave = waves[i]
    local kx, kz = 2 * math.pi * wave[1] / nx, 2 * math.pi * wave[2] / nz
    local odd, a = wave[4], kx * x + kz * z + wave[3]
    local f = wave[5] * swirl * h * h * (1 + odd * s)
    local slope = wave[5] * swirl * h * (odd * h - 4 * s * (1 + odd * s)) / delta
    local across = slope * math.sin(a) / (kx * kx + kz * kz)
    u, v, w = u - kx * across, v + f * math.cos(a), w - kz * across
  end
  return u, v, w
end

local function steps(units) return math.max(1, math.floor(units * unit + 0.5)) end

local held = p.given == "flow"

return sel.lbm {
  lattice      = "D3Q19",
  size         = { nx, 2 * delta, nz },
  nu           = u_tau * delta / p.Re,
  collision    = p.collision,
  precision    = p.precision,
  periodic     = { "x", "z" },
  acceleration = not held and { u_tau * u_tau / delta, 0, 0 } or nil,
  drive        = held and { velocity = mean * u_tau, axis = "x", from_step = steps(p.from) } or nil,
  reference    = { length = delta, velocity = u_tau },
  initial      = { velocity = start },
  regions      = { { name = "plates", where = shape.faces,
                     law = law.wall { scheme = "parabolic" } } },
  stop         = { steps = steps(p.time) },
  output       = {
    out.force   { name = "shear", region = "plates", every = steps(0.05),
                  from_time = p.from * unit },
    out.reduce  { name = "mean", field = "velocity", op = "mean", every = steps(0.05) },
    out.reduce  { name = "fluctuations", field = { "velocity_y", "velocity_z" }, op = "l2",
                  every = steps(0.05) },
    out.average { name = "statistics", fields = { "velocity", "stress_xy" },
                  products = { "velocity_x*velocity_y" }, over = { "x", "z" },
                  every = steps(0.1), from_time = p.from * unit },
    out.picture { field = "velocity_x", slice = { z = nz / 2 }, every = steps(p.time / 4) },
  },
}
