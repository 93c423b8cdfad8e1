-- A cube whose lid oscillates: chapter 7 of Rinaldi (2011), "Uso de GPUs para la simulacion de
-- fluidos". N = 32, lid U0 sin(omega t), U0 = 0.2, tau = 0.6, BGK; the answer is the velocity along
-- x at (3/4, 3/4, 1/2) of the cube.
--
-- frequency = "womersley" is eq. 7.2, omega = nu (Wo / L)^2; "as_printed" leaves L out, omega = nu
-- Wo^2, so that its Wo stands for a Womersley number of N Wo. Only the second one has the times (a
-- run in seconds), phases and maxima that the thesis prints for Wo = 0.3 to 1.6. By eq. 7.2 these
-- are slow oscillations, which the flow follows without any maximum.
--
-- Shows, with "as_printed": half-amplitudes with maxima near Wo = 0.36, 1.25 and 1.5. The first one
-- is broad and belongs to the flow: a Womersley number of 12. The others are the sound of the
-- lattice, which is compressible: standing waves of the cavity, whose periods are 2 L / c_s = 111
-- steps along x, and shorter by sqrt 2 along x and y. That makes Wo = 1.30 and 1.55; friction at
-- the walls lowers them. The test is half the Mach number at the same Reynolds and Womersley
-- numbers (tau = 0.55, U0 = 0.1): the maximum of the flow stays where it was, those of the sound
-- move up by sqrt 2. An incompressible fluid has the first maximum alone.
--
-- The results half_amplitude (of the wave as it is, in U0), amplitude and phase (of its
-- fundamental; degrees ahead of the lid) are a least-squares fit to the last periods.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  Wo        = { 12,    "Womersley number; that over N when frequency is as_printed", min = 0.05 },
  frequency = { "womersley", "which frequency Wo means", choices = { "womersley", "as_printed" } },
  N         = { 32,    "cells along a side; a multiple of 4", integer = true, min = 8 },
  U0        = { 0.2,   "largest velocity of the lid, lattice units", min = 0, max = 0.3 },
  tau       = { 0.6,   "relaxation time", min = 0.51 },
  collision = { "bgk", "collision operator", choices = { "bgk", "trt" } },
  periods   = { 0,     "periods to measure; 0: the smallest number that makes 2000 steps",
                integer = true, min = 0 },
  frames    = { 0,     "files for ParaView in the last period", integer = true, min = 0 },
}

local N, U0, nu = p.N, p.U0, (2 * p.tau - 1) / 6
local omega = nu * (p.frequency == "womersley" and p.Wo / N or p.Wo) ^ 2
local T = 2 * math.pi / omega
-- Viscosity takes exp(-3 pi^2 nu t / L^2) of the start away; 12 of these times leave 6e-6. They are
-- counted in whole periods, and there is one at least.
local start = math.ceil(12 * N ^ 2 / (3 * math.pi ^ 2 * nu) / T) * T
local periods = p.periods > 0 and p.periods or math.ceil(2000 / T)
local steps = math.ceil(start + periods * T)
local sampling = math.max(1, math.floor(T / 36))
local point = { 3 / 4 * N, 3 / 4 * N, N / 2 }
assert(T > 40, "the period is shorter than 40 steps: lower Wo or tau")

-- The unknowns of the fit: a mean, and sine and cosine of the fundamental and its harmonics.
local HARMONICS = 6
local UNKNOWNS = 1 + 2 * HARMONICS

local function terms(angle)
  local row = { 1 }
  for k = 1, HARMONICS do
    row[2 * k], row[2 * k + 1] = math.sin(k * angle), math.cos(k * angle)
  end
  return row
end

-- Least squares: `a` is the matrix of the normal equations with their right side as last column.
local function solve(a)
  for i = 1, UNKNOWNS do
    for j = i + 1, UNKNOWNS do
      local factor = a[j][i] / a[i][i]
      for k = i, UNKNOWNS + 1 do
        a[j][k] = a[j][k] - factor * a[i][k]
      end
    end
  end
  local x = {}
  for i = UNKNOWNS, 1, -1 do
    local sum = a[i][UNKNOWNS + 1]
    for k = i + 1, UNKNOWNS do
      sum = sum - a[i][k] * x[k]
    end
    x[i] = sum / a[i][i]
  end
  return x
end

local normal = {}
for i = 1, UNKNOWNS do
  normal[i] = {}
  for j = 1, UNKNOWNS + 1 do
    normal[i][j] = 0
  end
end

local function sample(run)
  if run.step < start then
    return
  end
  local row = terms(omega * run.time)
  row[UNKNOWNS + 1] = run:probe("velocity_x", point) / U0
  for i = 1, UNKNOWNS do
    for j = 1, UNKNOWNS + 1 do
      normal[i][j] = normal[i][j] + row[i] * row[j]
    end
  end
end

local function report(run)
  local x = solve(normal)
  local least, most = math.huge, -math.huge
  for k = 0, 359 do
    local value = 0
    for i, term in ipairs(terms(math.rad(k))) do
      value = value + x[i] * term
    end
    least, most = math.min(least, value), math.max(most, value)
  end
  run:result("half_amplitude", (most - least) / 2)
  run:result("amplitude", math.sqrt(x[2] ^ 2 + x[3] ^ 2))
  run:result("phase", math.deg(math.atan(x[3], x[2])))
  run:result("mean", x[1])
  run:result("period", T)
end

local function lid(t)
  return U0 * math.sin(omega * t), 0, 0
end

local frames = {}
if p.frames > 0 then
  frames[1] = out.vtk { fields = { "velocity", "pressure" }, interval = T / p.frames,
                        from_time = start + (periods - 1) * T }
end

return sel.lbm {
  lattice   = "D3Q19",
  size      = { N, N, N },
  tau       = p.tau,
  collision = p.collision,
  reference = { length = N, velocity = U0 },
  regions   = {
    { name = "lid",   where = shape.face "y+", law = law.wall { velocity = { lid } } },
    { name = "walls", where = shape.rest,      law = law.wall {} },
  },
  stop   = { steps = steps },
  hooks  = { { every = sampling, call = sample }, { at = "end", call = report } },
  output = {
    out.probe { name = "point", field = "velocity", at = point, every = sampling,
                from_time = start },
    table.unpack(frames),
  },
}
