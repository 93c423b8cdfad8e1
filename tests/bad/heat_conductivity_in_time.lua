local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 },
  conductivity = function(x, t) return 1 + t end,
  regions = { { where = shape.faces, law = law.insulated {} } }, stop = { steps = 1 },
}
