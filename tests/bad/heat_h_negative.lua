local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, conductivity = 1, stop = { steps = 1 },
  regions = {
    { where = shape.faces, law = law.insulated {} },
    { where = shape.face "y+", law = law.convective { h = -1, ambient = 1 } },
  },
}
