-- A plate of two materials: N x N nodes, the upper edge at T_top, the others at T_other, and in
-- each step T' = (1 - alpha) T + alpha / 4 (sum of the four neighbours), with alpha_1 in the rows
-- before `boundary_row`, counted from the top, and alpha_2 from there on (E. van Beuzekom, E.
-- Bergslid, J. Miranda, "Acceleration of a Heat Diffusion simulation using CUDA"; they give no
-- values).
--
-- With dx = dt = 1 alpha / 4 is a diffusivity, conductivity over capacity. The update conserves
-- heat if the materials differ in capacity: with the conductivity 1 and the capacity 4 / alpha,
-- finite volumes give the same numbers (differ = "capacity"). If they differ in conductivity
-- instead, alpha / 4 at the capacity 1 (differ = "conductivity"), the face between the rows
-- boundary_row - 1 and boundary_row has the harmonic mean of the two, and the updates of these two
-- rows differ from the paper's; those of all other rows do not.
--
-- Shows: the steady states differ. With two capacities it is that of one material. With two
-- conductivities the slope of T changes at the boundary, so that the flux does not.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N            = { 128,   "nodes along a side", integer = true, min = 4 },
  boundary_row = { 64,    "first row of the second material, 0: top", integer = true, min = 2 },
  alpha_1      = { 0.9,   "of the upper material", min = 1e-6, max = 1 },
  alpha_2      = { 0.1,   "of the lower material", min = 1e-6, max = 1 },
  T_top        = { 100,   "temperature of the upper edge" },
  T_other      = { 0,     "temperature of the other edges, and at the start" },
  iterations   = { 20000, "steps", integer = true, min = 1 },
  differ       = { "capacity", "what differs between the materials; capacity: as in the paper",
                   choices = { "capacity", "conductivity" } },
  sides        = { "fixed", "edges at the left and right", choices = { "fixed", "insulated" } },
}

local L = p.N - 1
-- Half-way between the last row of the first and the first row of the second material.
local border = L - p.boundary_row + 0.5

local function alpha(y)
  return p.alpha_2 + (p.alpha_1 - p.alpha_2) * sel.step(y - border)
end

-- The node in the middle of a row.
local function row(i)
  return { p.N // 2, L - i }
end

local by_capacity = p.differ == "capacity"
local beside = shape.face "x-" + shape.face "x+"

return sel.heat {
  size         = { p.N, p.N },
  layout       = "node",
  dt           = 1,
  precision    = "f64",
  conductivity = by_capacity and 1 or function(y) return alpha(y) / 4 end,
  capacity     = by_capacity and function(y) return 4 / alpha(y) end or 1,
  initial      = { temperature = p.T_other },
  regions      = {
    { name = "top",    where = shape.face "y+", law = law.fixed { p.T_top } },
    { name = "bottom", where = shape.face "y-", law = law.fixed { p.T_other } },
    { name = "sides",  where = beside,
      law = p.sides == "fixed" and law.fixed { p.T_other } or law.insulated {} },
  },
  stop   = { steps = p.iterations },
  output = {
    out.probe   { name = "boundary", field = "temperature", every = p.iterations, at = {
      row(p.boundary_row - 2), row(p.boundary_row - 1), row(p.boundary_row),
      row(p.boundary_row + 1),
    } },
    out.profile { field = "temperature", from = { L / 2, 0 }, to = { L / 2, L }, points = p.N,
                  every = p.iterations },
    out.balance {},
    out.picture { field = "temperature", min = math.min(p.T_top, p.T_other),
                  max = math.max(p.T_top, p.T_other), scale = math.max(1, 512 // p.N) },
    out.vtk     { fields = { "temperature", "flux" } },
  },
}
