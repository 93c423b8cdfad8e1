local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, conductivity = 1, layout = "vertex",
  regions = { { where = shape.faces, law = law.insulated {} } }, stop = { steps = 1 },
}
