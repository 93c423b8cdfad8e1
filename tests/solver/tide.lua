-- tide.lua -- a harbour behind a mole: a tide comes in, rain falls on one half.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { steps = 120, height = 0.2, save = 0, around = false }
local scenario = sel.shallow {
  size = { 48, 40 }, dx = 10, dt = 0.4, gravity = 9.81, periodic = p.around and { "y" } or nil,
  initial = { depth = function(x, y) return 3 + 0.1 * math.sin(0.02 * x) * math.cos(0.03 * y) end },
  rain = function(x, y, t) return x > 200 and 1e-4 * (1 + math.sin(0.1 * t)) or 0 end,
  regions = {
    { name = "banks", where = p.around and shape.face "x-" + shape.face "x+" or shape.faces, law = law.bank {} },
    { name = "sea", where = shape.face "x-" * shape.box { min = { 0, 100 }, max = { 10, 300 } },
      law = law.sea { depth = function(y, t) return 3 + p.height * math.sin(0.05 * t + 0.01 * y) end,
                      inflow = 0.05 } },
    { name = "mole", where = shape.box { min = { 200, 0 }, max = { 230, 220 } }, law = law.bank {} },
  },
  stop = { steps = p.steps },
  output = {
    out.vtk { fields = { "depth", "discharge" }, every = 60 },
    out.balance { every = 20 },
    out.probe { at = { { 305, 105 }, { 105, 205 } }, field = "depth", every = 10 },
  },
}
if p.save > 0 then
  table.insert(scenario.output, out.checkpoint { every = p.save })
end
return scenario
