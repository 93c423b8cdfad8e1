-- plate.lua -- conduction with laws, a source and controls that vary, with the outputs that sel.heat has.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
  steps = { 400, "steps", integer = true }, precision = { "f32", "f32 or f64" },
  save = { 0, "steps between checkpoints; 0: none", integer = true },
  layout = { "cell", "layout" }, deep = { 0, "planes; 0: in 2-D", integer = true },
  body = { "varied", "uniform, or varied: materials, a source, a hole" },
  laws = { "time", "still, time or control" },
  around = { 0, "1: periodic along y", integer = true },
  mean = { 0, "stop.mean_change; 0: none" }, scheme = { "explicit", "scheme" },
  base = { 0, "what all temperatures are higher by" },
}
local deep, varied, cell = p.deep > 0, p.body == "varied", p.layout == "cell"
local around = p.around > 0
local function value(a)
  if p.laws == "still" then return a end
  if p.laws == "control" then return function(x, fan) return a + 0.2 * fan * math.cos(x / 5) end end
  return function(x, y, t, fan) return a + 0.3 * math.sin(x / 7 + t / 9) + 0.1 * fan * math.cos(y / 5) end
end
local regions = {
  { name = "rest", where = shape.faces, law = law.insulated {} },
  { name = "hot", where = shape.face "x-", law = law.fixed { value(p.base + 1) } },
  { name = "air", where = shape.face(around and "x+" or "y+"), law = law.convective { h = value(0.6), ambient = value(p.base - 1) } },
}
if not around then regions[#regions + 1] = { name = "lamp", where = shape.face "y-", law = law.flux { value(0.5) } } end
if varied then
  local at, radius = deep and { 14, 11, p.deep / 2 } or { 14, 11 }, 4.3
  regions[#regions + 1] = { name = "pipe", where = shape.ball { centre = at, radius = radius }, law = law.fixed { value(p.base + 2) } }
end
local list = {
  out.vtk { fields = { "temperature", "flux" }, every = 80 },
  out.average { fields = { "temperature", "flux" }, every = 10 },
  out.balance { every = 30 },
  out.probe { field = "temperature", at = deep and { 30, 8, 2 } or { 30, 8 }, every = 13 },
  out.reduce { field = "temperature", op = "sum", every = 11 },
  out.flux { name = "rate", region = "hot", every = 9 },
  out.profile { field = "flux", from = deep and { 1, 3, 2 } or { 1, 3 }, to = deep and { 33, 25, 3 } or { 33, 25 }, every = 70 },
  out.picture { field = "temperature", slice = deep and { z = 2 } or nil, every = 150 },
  not deep and cell and out.grid { field = "temperature", every = 200, format = "tif" } or nil,
}
if p.save > 0 then list[#list + 1] = out.checkpoint { every = p.save } end
return sel.heat {
  size = deep and { 37, 29, p.deep } or { 37, 29 }, precision = p.precision, layout = p.layout,
  dt = p.scheme == "explicit" and 0.1 or 1, scheme = p.scheme,
  periodic = { deep and "z" or around and "y" or nil, deep and around and "y" or nil },
  conductivity = varied and function(x, y) return 1 + 0.5 * math.sin(x / 4) * math.cos(y / 3) end or 1,
  source = varied and function(x, y, t) return 0.02 * math.sin(y / 6 + t / 20) end or nil,
  controls = { fan = 0.5 }, initial = { temperature = function(x, y) return p.base + math.sin(x / 6) * math.cos(y / 5) end },
  regions = regions,
  stop = { steps = p.steps, mean_change = p.mean > 0 and p.mean or nil, steady = p.base == 0 and 1.1e-5 or nil, every = 35 },
  hooks = { { every = 60, call = function(run)
    run.state.last = run:reduce("temperature", "mean")
    if run.step == 180 then run:set("fan", 1.5) end
    run:result("last", run.state.last)
  end } },
  output = list,
}
