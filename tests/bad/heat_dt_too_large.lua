local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.heat {
  size = { 20, 10 }, dx = 0.5, conductivity = 2, capacity = 4, dt = 0.13,
  regions = { { where = shape.faces, law = law.insulated {} } }, stop = { steps = 1 },
}
