local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 1 }, conductivity = 1, layout = "node",
  regions = { { where = shape.faces, law = law.insulated {} } }, stop = { steps = 1 },
}
