-- controls.lua -- a small case of each solver whose laws, sources and data depend on a control that
-- a hook sets, and not on time.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
  solver = { "rule", "rule, lbm, aqua or heat" },
  steps = { 20, "steps", integer = true },
  save = { 0, "steps between checkpoints; 0: none", integer = true },
}
local fields = { rule = { "a", "b", "m" }, lbm = { "velocity", "pressure" }, aqua = { "depth" },
                 heat = { "temperature" } }

local function faces(...)
  local rest = p.solver == "heat" and law.insulated {} or law.wall {}
  local list = { { where = shape.faces, law = rest } }
  for _, region in ipairs { ... } do list[#list + 1] = region end
  return list
end

local common = {
  size = { 12, 9 }, precision = "f64", controls = { g = 1 }, stop = { steps = p.steps },
  hooks = { { every = 7, call = function(run) run:set("g", run.step + 2) end } },
  output = { out.vtk { fields = fields[p.solver], every = 1 },
             p.save > 0 and out.checkpoint { every = p.save } or nil },
}

local of = {
  rule = {
    state = { a = "real", b = "real" },
    data = { m = function(x, g) return g * x end },
    rule = function(c) return { a = c(-1, 0).a + c(0, 1).m, b = c(1, 0).b + c(0, -1).m } end,
    regions = faces(
      { where = shape.face "x-", law = { a = law.fixed { function(y, g) return g + y end } } },
      { where = shape.face "y+", law = { m = law.fixed { function(g) return 10 * g end } } },
      { where = shape.face "x+", law = { b = law.gradient { function(g) return g end } } },
      { where = shape.box { min = { 4, 4 }, max = { 5, 5 } },
        law = { a = law.fixed { function(g) return 7 * g end } } }),
  },
  lbm = {
    lattice = "D2Q9", nu = 0.02,
    acceleration = { function(y, g) return 1e-5 * g * y end, 0 },
    regions = faces(
      { where = shape.face "x-", law = law.velocity { function(y, g) return 1e-3 * g * y, 0 end } },
      { where = shape.face "x+", law = law.pressure { function(g) return 1e-4 * g end } }),
  },
  aqua = {
    ground = function(x, y) return 0.1 * x + 0.05 * y end, dx = 1, dt = 0.1, alpha = 0.5,
    rain = function(x, g) return 100 * g * x end, infiltration = function(g) return 3 * g end,
    sources = { { at = { 6, 6 }, discharge = function(g) return 0.01 * g end } },
    regions = faces(
      { where = shape.face "x-", law = law.level { function(y, g) return 1 + 0.01 * g end } }),
  },
  heat = {
    conductivity = 1, dt = 0.1, source = function(x, g) return g * x end,
    regions = faces(
      { where = shape.face "x-", law = law.fixed { function(g) return g end } },
      { where = shape.face "x+",
        law = law.convective { h = 0.5, ambient = function(y, g) return g * y end } }),
  },
}

local scenario = of[p.solver]
for name, value in pairs(common) do scenario[name] = value end
return sel[p.solver](scenario)
