local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, conductivity = 1,
  regions = { { where = shape.faces, law = law.convective { h = 1 } } }, stop = { steps = 1 },
}
