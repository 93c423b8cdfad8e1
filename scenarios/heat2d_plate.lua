-- Heat in a square plate whose edges have given temperatures, until the mean temperature stands
-- still: N x N nodes, T' = T + D (sum of the four neighbours - 4 T) in each step, the outer nodes
-- fixed (B. Garcia, "Difusion de Calor 2D - CUDA", Universidad Nacional de La Plata, 2025).
--
-- The paper gives neither D nor temperatures. Here D is the largest stable one, 1/4; the upper edge
-- is hot and the others are cold. With hot = "spot" all edges are cold and the plate starts with a
-- hot disc in its middle. With hot = "sine" it starts with half a wave along x and y, which each
-- step multiplies by 1 - 4 D (1 - cos(pi / (N - 1))).
--
-- Shows: the paper's test, |mean T' - mean T| <= 1e-5 after every step, does not measure how near
-- the steady state is. Heat enters through an edge of N nodes and is shared by N^2, so the change
-- of the mean falls with 1 / N, and large plates stop while still cold. A plate with a hot disc
-- stops at once, because its mean does not change before heat reaches the edges; epsilon = 0 leaves
-- the test out. run.json has the mean and, for the hot edge, that of the steady state, T / 4, which
-- by symmetry is also the steady temperature of the centre.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N         = { 128,    "nodes along a side", integer = true, min = 4 },
  D         = { 0.25,   "diffusivity; dx = dt = 1", min = 1e-6, max = 0.25 },
  hot       = { "edge", "what is hot: the upper edge, a disc at the start, or half a wave",
                choices = { "edge", "spot", "sine" } },
  T         = { 100,    "its temperature; all else is 0" },
  epsilon   = { 1e-5,   "change of the mean in a step that ends the run; 0: none", min = 0 },
  steps     = { 100000, "most steps", integer = true },
  precision = { "f32", "precision", choices = { "f32", "f64" } },
}

local L = p.N - 1
local middle, radius = L / 2, p.N / 8

local function spot(x, y)
  local u, v = x - middle, y - middle
  return p.T * sel.step(radius * radius - u * u - v * v)
end

local function sine(x, y)
  return p.T * math.sin(math.pi * x / L) * math.sin(math.pi * y / L)
end

local function report(run)
  run:result("mean", run:reduce("temperature", "mean"))
  run:result("centre", run:probe("temperature", { middle, middle }))
  if p.hot == "edge" then
    run:result("mean_when_steady", p.T / 4)
  end
end

return sel.heat {
  size        = { p.N, p.N },
  layout      = "node",
  dt          = 1,
  precision   = p.precision,
  diffusivity = p.D,
  initial     = { temperature = p.hot == "spot" and spot or p.hot == "sine" and sine or 0 },
  regions     = {
    { name = "top",   where = shape.face "y+", law = law.fixed { p.hot == "edge" and p.T or 0 } },
    { name = "sides", where = shape.rest,      law = law.fixed { 0 } },
  },
  stop   = p.epsilon > 0 and { steps = p.steps, mean_change = p.epsilon, every = 1 }
    or { steps = p.steps },
  hooks  = { { at = "end", call = report } },
  output = {
    out.probe   { name = "middle", field = "temperature",
                  at = { { middle, L / 4 }, { middle, middle }, { middle, 3 * L / 4 } } },
    out.balance {},
    out.picture { field = "temperature", scale = math.max(1, 512 // p.N) },
    out.vtk     { fields = "temperature" },
  },
}
