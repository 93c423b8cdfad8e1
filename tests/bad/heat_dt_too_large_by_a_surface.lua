local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, layout = "node", conductivity = 2,
  dt = 0.12,
  regions = {
    { where = shape.faces, law = law.insulated {} },
    { name = "wind", where = shape.face "x+", law = law.convective { h = 5, ambient = 0 } },
  },
  stop = { steps = 1 },
}
