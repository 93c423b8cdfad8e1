local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.aqua {
  ground = -3e6, size = { 8, 8 }, dt = 1, alpha = 0.2, stop = { steps = 10 }, precision = "f32",
  regions = {
    { where = shape.faces, law = law.wall {} },
    { name = "sea", where = shape.face "x-", law = law.level { 4e6 } },
  },
}
