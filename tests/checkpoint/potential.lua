-- potential.lua -- Poisson's equation with all laws, with the outputs that sel.poisson has.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
  most = { 1000, "max_iterations", integer = true }, method = { "multigrid", "method" },
  save = { 0, "steps between checkpoints; 0: none", integer = true },
  layout = { "cell", "layout" }, deep = { 0, "planes; 0: in 2-D", integer = true },
  body = { "varied", "even, or varied: a coefficient, a hole" },
  times = { 1, "as many cells along x and y", integer = true },
  free = { 0, "1: nothing is fixed", integer = true }, tolerance = { 1e-10, "tolerance" },
  jump = { 1, "times that blocks of 4 cells, a third of them, conduct better" },
  tall = { 1, "sides of cells across the last axis, in those along x" },
}
local deep, varied = p.deep > 0, p.body == "varied"
local nx, ny = 37 * p.times, 29 * p.times
local regions = {
  { name = "rest", where = shape.faces, law = law.insulated {} },
  { name = "plate", where = shape.face "x-", law = law.fixed { 1 } },
  { name = "film", where = shape.face "y+", law = law.convective { h = 0.6, ambient = -1 } },
  { name = "charge", where = shape.face "y-", law = law.flux { 0.5 } },
}
if p.free > 0 then
  regions = {
    { name = "rest", where = shape.faces, law = law.insulated {} },
    { name = "plate", where = shape.face "x-", law = law.flux { 1 } },
    { name = "film", where = shape.face "x+", law = law.flux { -1 } },
  }
end
if varied then
  regions[#regions + 1] = { name = "pipe", law = p.free > 0 and law.insulated {} or law.fixed { function(x) return x / 9 end },
    where = shape.ball { centre = deep and { 14, 11, p.deep / 2 } or { 14, 11 }, radius = 4.3 } }
end
local list = {
  out.vtk { fields = { "potential", "residual", "gradient", "flux" } },
  out.balance { every = 1 },
  out.probe { field = "potential", at = deep and { 30, 8, 2 } or { 30, 8 }, every = 1 },
  out.reduce { field = "residual", op = "sum", every = 2 },
  out.flux { name = "rate", region = "plate", every = 1 },
  out.profile { field = "flux", from = deep and { 1, 3, 2 } or { 1, 3 }, to = deep and { 33, 25, 3 } or { 33, 25 } },
}
if p.save > 0 then list[#list + 1] = out.checkpoint { every = p.save } end
return sel.poisson {
  size = deep and { nx, ny, p.deep } or { nx, ny }, dx = deep and { 1, 1, p.tall } or { 1, p.tall }, layout = p.layout, method = p.method,
  periodic = deep and { "z" } or nil, tolerance = p.tolerance, max_iterations = p.most,
  coefficient = p.jump > 1 and function(x, y)
    local i, j = math.floor(x / 4), math.floor(y / 4)
    return (i * 7 + j * 13 + i * j * 5) % 3 == 0 and p.jump or 1
  end or varied and function(x, y) return 1 + 0.5 * math.sin(x / 4) * math.cos(y / 3) end or 1,
  rhs = p.free > 0 and 0 or function(x, y) return 0.02 * math.sin(y / 6 + x) end,
  initial = { potential = function(x, y) return math.sin(x / 6) * math.cos(y / 5) end },
  regions = regions, output = list,
}
