local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, conductivity = 1,
  stop = { mean_change = 1e-9, steady = 1e-9 },
  regions = { { name = "walls", where = shape.faces, law = law.insulated {} } },
}
