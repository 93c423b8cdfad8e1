-- foil.lua -- a thin inclined body near tau = 1/2, where forces alternate from step to step; sampled every 1, 7, 20 steps.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
  steps = { 600, "steps", integer = true },
  save = { 0, "steps between checkpoints; 0: none", integer = true },
  from = { 0, "first step of the forces", integer = true },
  nu = { 0.003, "viscosity: tau 0.509" },
}
local list = { out.flux { region = "out", every = 3 } }
for i, every in ipairs { 1, 7, 20 } do
  list[i + 1] = out.force { name = "every_" .. every, region = "foil", every = every, from_step = p.from }
end
if p.save > 0 then
  list[#list + 1] = out.checkpoint { every = p.save }
end
return sel.lbm {
  lattice = "D2Q9", size = { 80, 40 }, nu = p.nu, collision = "trt",
  reference = { length = 24, velocity = 0.05 },
  initial = { velocity = { 0.05, 0 } },
  regions = {
    { name = "sides", where = shape.face "y-" + shape.face "y+", law = law.slip {} },
    { name = "in", where = shape.face "x-", law = law.velocity { 0.05, 0 } },
    { name = "out", where = shape.face "x+", law = law.outflow {} },
    { name = "foil", where = shape.polygon { points = { { 24, 22 }, { 30, 23 }, { 48, 17.5 } } }, law = law.wall {} },
  },
  stop = { steps = p.steps },
  output = list,
}
