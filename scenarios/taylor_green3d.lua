-- Decaying vortices in a periodic cube, k = 2 pi / N: those of Taylor and Green (1937),
-- u = U (sin kx cos ky cos kz, -cos kx sin ky cos kz, 0), or an ABC flow, whose velocity is along
-- its own vorticity.
--
-- Shows: Taylor-Green vortices stretch each other, so that enstrophy (half the mean square of the
-- vorticity) and dissipation rise before they fall, later and higher the larger Re = U / (nu k);
-- the energy falls at the rate 2 nu enstrophy all the while. ABC flow is an exact solution of the
-- Navier-Stokes equations, u(t) = u(0) exp(-nu k^2 t): with U ~ 1/N at fixed tau its error is of
-- second order in the cell size.
--
-- root_mean_squares.csv has the l2 of each component: energy is half the sum of the squares of
-- velocity, enstrophy that of vorticity, and dissipation nu times the square of strain_rate. Both
-- measures of dissipation see the resolution: differences of the velocity leave out what the
-- smallest vortices do (5 per cent at Re 100 on 64 cells, 0.5 at Re 20).
local sel = require "selenite"
local out = sel.out

local p = sel.params {
  N         = { 64,    "cells along a side", integer = true, min = 8 },
  flow      = { "taylor_green", "the vortices at the start", choices = { "taylor_green", "abc" } },
  Re        = { 100,   "Reynolds number: U / (nu k)", min = 0.1 },
  U         = { 0.05,  "velocity at the start, lattice units", min = 0.0001, max = 0.2 },
  time      = { 12,    "length of the run in units of 1 / (U k)", min = 0 },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  precision = { "f32", "of the state", choices = { "f32", "f64" } },
}

local N, U, k = p.N, p.U, 2 * math.pi / p.N
local sin, cos = math.sin, math.cos

local flows = {
  taylor_green = {
    velocity = function(x, y, z)
      return U * sin(k * x) * cos(k * y) * cos(k * z), -U * cos(k * x) * sin(k * y) * cos(k * z), 0
    end,
    pressure = function(x, y, z)
      return U * U / 16 * (cos(2 * k * x) + cos(2 * k * y)) * (cos(2 * k * z) + 2)
    end,
  },
  -- Its mean square is 3 U^2; the pressure is -u^2 / 2 less its mean.
  abc = {
    velocity = function(x, y, z)
      return U * (sin(k * z) + cos(k * y)), U * (sin(k * x) + cos(k * z)),
        U * (sin(k * y) + cos(k * x))
    end,
    pressure = function(x, y, z)
      return -U * U * (sin(k * z) * cos(k * y) + sin(k * x) * cos(k * z) + sin(k * y) * cos(k * x))
    end,
  },
}

local unit = math.max(1, math.floor(1 / (U * k) / 20 + 0.5))    -- a twentieth of 1 / (U k)

return sel.lbm {
  lattice   = "D3Q19",
  size      = { N, N, N },
  nu        = U / (k * p.Re),
  collision = p.collision,
  precision = p.precision,
  periodic  = { "x", "y", "z" },
  reference = { length = 1 / k, velocity = U },
  initial   = flows[p.flow],
  stop      = { steps = math.floor(p.time / (U * k) + 0.5) },
  output    = {
    out.reduce  { name = "root_mean_squares", field = { "velocity", "vorticity", "strain_rate" },
                  op = "l2", every = unit },
    -- Through cell centres, so that no interpolation adds an error of its own.
    out.profile { field = "velocity", from = { 0, N // 4 + 0.5, N // 3 + 0.5 },
                  to = { N, N // 4 + 0.5, N // 3 + 0.5 }, at = "end" },
    out.picture { field = "vorticity", slice = { z = N / 4 }, every = 40 * unit },
    out.vtk     { fields = { "velocity", "pressure", "q_criterion" } },
  },
}
