-- Couette flow between cylinders: the inner one turns, the outer one is at rest. The velocity
-- along the circles is A r + B / r, and the torque per depth on either 4 pi nu B.
--
-- Shows: walls on the surfaces of shapes are of second order. At radius 16 and tau = 0.8 the rms
-- error of the velocity is 0.2 per cent and that of the torque 0.1, at radius 32 0.04 and 0.01;
-- with scheme = "halfway", stairs of cells, 1.7 and 2.2 per cent, and 0.9 and 1.7. The centre lies
-- off the lattice. The gap is closed: `returned` in balance.csv is what interpolation took.
-- steps = 1000000 shows that nothing drifts: the errors stay those of steps = 100000.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  R         = { 16,          "radius of the outer cylinder, cells", min = 6 },
  inner     = { 0.5,         "radius of the inner one, of the outer's", min = 0.2, max = 0.8 },
  U         = { 0.02,        "velocity of the inner surface, lattice units" },
  tau       = { 0.8,         "relaxation time", min = 0.501 },
  cx        = { 0.13,        "place of the centre beside the middle of the box, cells" },
  cy        = { 0.37,        "the same along y" },
  scheme    = { "interpolated", "of the walls", choices = { "interpolated", "halfway" } },
  collision = { "recursive", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
  precision = { "f64",       "precision", choices = { "f32", "f64" } },
  steps     = { 0,           "steps; 0: until it is steady", integer = true, min = 0 },
}

local n = 2 * math.ceil(p.R) + 6
local cx, cy = n / 2 + p.cx, n / 2 + p.cy
local R, r1, nu = p.R, p.inner * p.R, (p.tau - 0.5) / 3
local rate = p.U / r1
local B = rate * r1 ^ 2 / (1 - p.inner ^ 2)
local A = -B / R ^ 2
-- The slowest mode decays like exp(-nu (pi / (R - r1))^2 t).
local steps = p.steps > 0 and p.steps or math.ceil(20 / nu * ((R - r1) / math.pi) ^ 2)

local function report(run)
  local sum, count = 0, 0
  for j = 0, n - 1 do
    for i = 0, n - 1 do
      local x, y = i + 0.5 - cx, j + 0.5 - cy
      local r = math.sqrt(x * x + y * y)
      if r > r1 and r < R then
        local at, speed = { i + 0.5, j + 0.5 }, A * r + B / r
        local u, v = run:probe("velocity_x", at), run:probe("velocity_y", at)
        sum = sum + (u + speed * y / r) ^ 2 + (v - speed * x / r) ^ 2
        count = count + 1
      end
    end
  end
  run:result("velocity_error", math.sqrt(sum / count) / p.U)
  local _, _, torque = run:force("torque")
  run:result("torque_error", torque / (-4 * math.pi * nu * B) - 1)
end

return sel.lbm {
  lattice   = "D2Q9",
  size      = { n, n },
  tau       = p.tau,
  precision = p.precision,
  collision = p.collision,
  periodic  = { "x", "y" },
  reference = { length = R - r1, velocity = p.U },
  regions   = {
    { name = "outer", law = law.wall { scheme = p.scheme },
      where = shape.box { min = { 0, 0 }, max = { n, n } } -
        shape.ball { centre = { cx, cy }, radius = R } },
    { name = "inner", where = shape.ball { centre = { cx, cy }, radius = r1 },
      law = law.wall { scheme = p.scheme,
        velocity = function(x, y) return -rate * (y - cy), rate * (x - cx) end } },
  },
  stop   = { steps = steps },
  hooks  = { { at = "end", call = report } },
  output = {
    out.force   { name = "torque", region = "inner", centre = { cx, cy }, every = 100 },
    out.balance { every = 100 },
    out.picture { field = "speed" },
  },
}
