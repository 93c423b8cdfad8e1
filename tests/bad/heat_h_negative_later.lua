-- args: run @ -o OUT --quiet
local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, conductivity = 1, dt = 0.1, stop = { steps = 100 },
  regions = {
    { where = shape.faces, law = law.insulated {} },
    { where = shape.face "y+", law = law.convective { h = function(t) return 1 - t end, ambient = 1 } },
  },
}
