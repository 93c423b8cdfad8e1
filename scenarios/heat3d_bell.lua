-- A bell of cosines spreads in a closed box: T = (1 - cos kx x)(1 - cos ky y)(1 - cos kz z) / 8 at
-- the start, k = 2 pi / L, no heat through the faces, sides of a cell that differ by axis (T. Aoki,
-- "GPU Computing No. 10", Tokyo Institute of Technology, 2013).
--
-- Shows: the bell is a sum of eight products of cosines. Each step multiplies a product by
--   1 - sum over its axes of 2 kappa dt / dx^2 (1 - cos(k dx)),
-- so the solution on the grid is known to round-off at any step: error_discrete in run.json. In
-- space, the factor of a step is exp(-kappa k^2 dt) for each axis. The difference from this
-- solution is the error of the method, of first order in dt and of second order in dx:
-- error_continuous. No heat is lost: drift is the change of the mean. The errors are the largest at
-- 512 cells.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  nx    = { 64,  "cells along x", integer = true, min = 8 },
  ny    = { 48,  "cells along y", integer = true, min = 8 },
  nz    = { 32,  "cells along z", integer = true, min = 8 },
  L     = { 1,   "side of the cube", min = 1e-6 },
  kappa = { 1,   "diffusivity", min = 1e-12 },
  part  = { 0.5, "time step over the largest stable one", min = 0.01, max = 1 },
  decay = { 1,   "kappa k^2 t at the end; at 1, a wave along one axis has fallen to 1/e",
            min = 0 },
}

local n = { p.nx, p.ny, p.nz }
local dx, k = {}, 2 * math.pi / p.L
local most = 0
for a = 1, 3 do
  dx[a] = p.L / n[a]
  most = most + 2 * p.kappa / dx[a] ^ 2
end
local dt = p.part / most
local steps = math.floor(p.decay / (p.kappa * k ^ 2 * dt) + 0.5)

local function bell(x, y, z)
  return 0.125 * (1 - math.cos(k * x)) * (1 - math.cos(k * y)) * (1 - math.cos(k * z))
end

-- What `run.step` steps make of the wave whose axes are the bits of `axes`.
local function wave(axes, step)
  local discrete, continuous = 1, 1
  for a = 1, 3 do
    if axes >> (a - 1) & 1 == 1 then
      discrete = discrete - 2 * p.kappa * dt / dx[a] ^ 2 * (1 - math.cos(k * dx[a]))
      continuous = continuous * math.exp(-p.kappa * k ^ 2 * step * dt)
    end
  end
  return discrete ^ step, continuous
end

local function report(run)
  local discrete, continuous = {}, {}
  for axes = 0, 7 do
    discrete[axes], continuous[axes] = wave(axes, run.step)
  end
  local worst, error = 0, 0
  for place = 0, 511 do
    local x, cosine = {}, {}
    for a = 1, 3 do
      x[a] = dx[a] * (n[a] // 8 * (place >> 3 * (a - 1) & 7) + 0.5)
      cosine[a] = -math.cos(k * x[a])
    end
    local there, true_one = 0, 0
    for axes = 0, 7 do
      local product = 0.125
      for a = 1, 3 do
        product = product * (axes >> (a - 1) & 1 == 1 and cosine[a] or 1)
      end
      there = there + product * discrete[axes]
      true_one = true_one + product * continuous[axes]
    end
    local T = run:probe("temperature", x)
    worst = math.max(worst, math.abs(T - there))
    error = math.max(error, math.abs(T - true_one))
  end
  run:result("error_discrete", worst)
  run:result("error_continuous", error)
  run:result("drift", run:reduce("temperature", "mean") - 0.125)
end

return sel.heat {
  size        = n,
  dx          = dx,
  dt          = dt,
  precision   = "f64",
  diffusivity = p.kappa,
  initial     = { temperature = bell },
  regions     = { { name = "faces", where = shape.faces, law = law.insulated {} } },
  stop        = { steps = steps },
  hooks       = { { at = "end", call = report } },
  output      = {
    out.profile { field = "temperature", from = { 0, p.L / 2, p.L / 2 },
                  to = { p.L, p.L / 2, p.L / 2 }, every = steps // 4 },
    out.balance {},
    out.picture { field = "temperature", slice = { z = p.L / 2 }, min = 0, max = 1, scale = 6,
                  every = steps // 4 },
    out.vtk     { fields = { "temperature", "flux" } },
  },
}
