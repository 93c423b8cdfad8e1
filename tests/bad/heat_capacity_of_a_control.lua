local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, conductivity = 1, controls = { c = 1 },
  capacity = function(c) return c end,
  regions = { { where = shape.faces, law = law.insulated {} } }, stop = { steps = 1 },
}
