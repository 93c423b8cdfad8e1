local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, conductivity = 1, stop = { steps = 1 },
  regions = { { name = "walls", where = shape.faces, law = law.insulated {} } },
  output = { sel.out.force { region = "walls" } },
}
