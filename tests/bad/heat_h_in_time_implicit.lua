local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, conductivity = 2, dt = 10, scheme = "backward_euler",
  regions = {
    { where = shape.faces, law = law.insulated {} },
    { name = "wind", where = shape.face "x+",
      law = law.convective { h = function(x, y, t) return 1 + t end, ambient = 0 } },
  },
  stop = { steps = 1 },
}
