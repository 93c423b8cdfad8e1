-- Flow in a round pipe along x, driven by an acceleration: steady (Hagen and Poiseuille), or
-- oscillating like cos(omega t) (Womersley). Wo = R sqrt(omega / nu).
--
-- Shows: the flow rate of a pipe whose wall is interpolated, over the exact one. Stairs of cells
-- (scheme = "halfway") are wrong by per cents, and by how much depends on where the axis lies
-- between the cells; here it lies off the lattice.
--
-- Exact: u = G (R^2 - r^2) / (4 nu), or the real part of
-- G / (i omega) [1 - J0(z r / R) / J0(z)] exp(i omega t) with z = i^(3/2) Wo; J0 is Bessel's
-- function. The flow starts as the exact one, and runs until that is forgotten.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  R         = { 16,       "radius, cells", min = 2 },
  Wo        = { 0,        "Womersley number; 0: steady flow", min = 0, max = 20 },
  tau       = { 0.8,      "relaxation time; adjusted so that a period is 32 n steps", min = 0.501 },
  U         = { 0.02,     "velocity scale G R^2 / (4 nu) or G / omega, the smaller" },
  cy        = { 0.13,     "place of the axis beside the middle of the box, cells" },
  cz        = { 0.37,     "the same along z" },
  length    = { 2,        "of the periodic box, cells", integer = true, min = 2 },
  scheme    = { "interpolated", "of the wall", choices = { "interpolated", "halfway" } },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  precision = { "f64",    "of the state", choices = { "f32", "f64" } },
  decay     = { 5,        "times of decay of the slowest mode to run", min = 0 },
}

local R, steady = p.R, p.Wo == 0
local n = 2 * math.ceil(R) + 4
local cy, cz = n / 2 + p.cy, n / 2 + p.cz
local nu, omega, T = (p.tau - 0.5) / 3, 0, 1
if not steady then
  T = 32 * math.max(1, math.floor(2 * math.pi * (R / p.Wo) ^ 2 / nu / 32 + 0.5))
  omega = 2 * math.pi / T
  nu = omega * (R / p.Wo) ^ 2
end
local G = p.U * math.max(omega, 4 * nu / R ^ 2)
-- The slowest mode of the start decays like exp(-nu (2.4048 / R)^2 t); a period follows.
local steps = T * math.ceil(p.decay * (R / 2.4048) ^ 2 / nu / T + (steady and 0 or 1))

-- u = A(s) cos(omega t) + B(s) sin(omega t), with A and B as polynomials in s = (r / R)^2:
-- J0(z r / R) is the sum of (i Wo^2 s / 4)^k / k!^2.
local A, B = { p.U, -p.U }, { 0, 0 }
if not steady then
  local re, im, sum_re, sum_im = { 1 }, { 0 }, 1, 0
  for k = 1, 20 + math.ceil(2 * p.Wo) do
    local factor = p.Wo ^ 2 / (4 * k * k)
    re[k + 1], im[k + 1] = -im[k] * factor, re[k] * factor
    sum_re, sum_im = sum_re + re[k + 1], sum_im + im[k + 1]
  end
  local scale = G / omega / (sum_re ^ 2 + sum_im ^ 2)
  for k = 1, #re do
    A[k] = -scale * (im[k] * sum_re - re[k] * sum_im)
    B[k] = -scale * (re[k] * sum_re + im[k] * sum_im)
  end
  B[1] = B[1] + G / omega
end

local function value(polynomial, s)
  local sum = 0
  for k = #polynomial, 1, -1 do
    sum = sum * s + polynomial[k]
  end
  return sum
end

local function place(y, z)
  return ((y - cy) ^ 2 + (z - cz) ^ 2) / R ^ 2
end

local function exact_flow(polynomial)
  local mean = 0
  for k, coefficient in ipairs(polynomial) do
    mean = mean + coefficient / k
  end
  return math.pi * R ^ 2 * mean
end

-- Centres of the fluid's cells in a plane across the pipe, with A and B there.
local cells, largest = {}, 0
for k = 0, n - 1 do
  for j = 0, n - 1 do
    local s = place(j + 0.5, k + 0.5)
    if s < 1 then
      local a, b = value(A, s), value(B, s)
      cells[#cells + 1] = { { 0.5, j + 0.5, k + 0.5 }, a, b }
      largest = math.max(largest, math.sqrt(a * a + b * b))
    end
  end
end

-- Adds to the state: sums of the flow rate times cos and sin, samples, the largest error.
local function sample(run)
  local c, s = math.cos(omega * run.time), math.sin(omega * run.time)
  local flow = run:reduce("velocity_x", "sum") / p.length
  local state = run.state
  state.cos, state.sin = (state.cos or 0) + flow * c, (state.sin or 0) + flow * s
  state.samples, state.error = (state.samples or 0) + 1, state.error or 0
  for _, cell in ipairs(cells) do
    local u = run:probe("velocity_x", cell[1])
    state.error = math.max(state.error, math.abs(u - cell[2] * c - cell[3] * s))
  end
end

local function sample_period(run)
  if run.step >= steps - T and run.step < steps then
    sample(run)
  end
end

local function report(run)
  if steady then
    sample(run)
  end
  local norm = (steady and 1 or 2) / run.state.samples
  local a, b = norm * run.state.cos, norm * run.state.sin
  local exact_a, exact_b = exact_flow(A), exact_flow(B)
  run:result("flow", math.sqrt((a ^ 2 + b ^ 2) / (exact_a ^ 2 + exact_b ^ 2)))   -- over exact
  run:result("velocity_error", run.state.error / largest)
  if not steady then
    run:result("phase", math.deg(math.atan(b, a)))                    -- behind the acceleration
    run:result("exact_phase", math.deg(math.atan(exact_b, exact_a)))
  end
end

local function drive(t)
  return G * math.cos(omega * t)
end

local hooks = { { at = "end", call = report } }
if not steady then
  hooks[2] = { every = T // 32, call = sample_period }
end

return sel.lbm {
  lattice      = "D3Q19",
  size         = { p.length, n, n },
  nu           = nu,
  precision    = p.precision,
  collision    = p.collision,
  periodic     = { "x", "y", "z" },
  acceleration = { drive, 0, 0 },
  reference    = { length = 2 * R, velocity = p.U },
  initial      = { velocity = { function(y, z) return value(A, place(y, z)) end, 0, 0 } },
  regions      = {
    { name = "wall", law = law.wall { scheme = p.scheme },
      where = shape.box { min = { 0, 0, 0 }, max = { p.length, n, n } } -
        shape.cylinder { from = { -1, cy, cz }, to = { p.length + 1, cy, cz }, radius = R } },
  },
  stop         = { steps = steps },
  hooks        = hooks,
  output       = {
    out.profile { field = "velocity", at = "end",
                  from = { p.length / 2, 0, cz }, to = { p.length / 2, n, cz } },
    out.balance { every = math.max(1, steps // 100) },
    out.picture { field = "velocity_x", slice = { x = 0 } },
  },
}
