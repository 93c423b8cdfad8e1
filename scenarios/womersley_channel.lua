-- Womersley flow in a plane channel: an oscillating acceleration, or an oscillating pressure at the
-- ends. Wo = half width * sqrt(omega / nu).
--
-- Shows: at small Wo the profile is a parabola in phase with the drive; at large Wo a plug that
-- lags by 90 degrees behind it, with an overshoot near the walls. The exact solution is u = Re[G /
-- (i omega) (1 - cosh(q y) / cosh(q a)) exp(i omega t)], q = sqrt(i omega / nu).
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  H       = { 80,      "cells across the channel", integer = true, min = 4 },
  Wo      = { 5,       "Womersley number", min = 0.1 },
  tau     = { 0.6,     "relaxation time; adjusted so that a period is 32 n steps", min = 0.51 },
  u       = { 0.02,    "velocity scale G / omega or G a^2 / (2 nu), the smaller; lattice units" },
  drive   = { "force", "what drives the flow", choices = { "force", "pressure" } },
  periods = { 0,       "periods to run; 0: until the start is forgotten, and one more", min = 0 },
}

local a = p.H / 2
local wanted = 2 * math.pi * (a / p.Wo) ^ 2 / ((2 * p.tau - 1) / 6)
local T = 32 * math.max(1, math.floor(wanted / 32 + 0.5))
local omega = 2 * math.pi / T
local nu = omega * (a / p.Wo) ^ 2
local G = p.u * math.max(omega, 2 * nu / a ^ 2)
-- The slowest mode of the start decays like exp(-nu (pi / 2 a)^2 t): 12 of its times leave 6e-6.
local periods = p.periods > 0 and p.periods
  or math.ceil(12 / (nu * (math.pi / (2 * a)) ^ 2) / T) + 1

local forced = p.drive == "force"
local L = forced and 1 or p.H

local regions = {
  { name = "walls", where = shape.face "y-" + shape.face "y+", law = law.wall {} },
}
if not forced then
  -- The pressures hold at the centres of the first and last cells, L - 1 apart.
  local function pressure(t)
    return G * (L - 1) * math.cos(omega * t)
  end
  regions[2] = { name = "left",  where = shape.face "x-", law = law.pressure { pressure } }
  regions[3] = { name = "right", where = shape.face "x+", law = law.pressure { 0 } }
end

local function drive(t)
  return G * math.cos(omega * t)
end

return sel.lbm {
  lattice      = "D2Q9",
  size         = { L, p.H },
  precision    = "f64",
  nu           = nu,
  collision    = "trt",             -- straight walls lie exactly on the faces
  periodic     = forced and { "x" } or {},
  acceleration = forced and { drive, 0 } or { 0, 0 },
  reference    = { length = p.H, velocity = p.u },
  regions      = regions,
  stop         = { steps = periods * T },
  output       = {
    out.profile { field = "velocity", every = T // 32, from_step = (periods - 1) * T,
                  from = { L / 2, 0 }, to = { L / 2, p.H } },
    out.balance { every = T },
  },
}
