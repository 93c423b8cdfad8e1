local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.aqua {
  ground = 2, size = { 8, 8 }, dt = 60, alpha = 0.2, stop = { steps = 100 }, precision = "f32",
  depth_limit = 10,
  regions = {
    { where = shape.faces, law = law.wall {} },
    { name = "sea", where = shape.face "x-", law = law.level { function(t) return t / 60 end } },
  },
}
