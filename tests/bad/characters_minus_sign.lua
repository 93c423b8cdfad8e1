local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.heat {
  size = { 8, 8 }, diffusivity = 0.1, stop = { steps = 2 },
  regions = { { where = shape.faces, law = law.fixed { 3 − 1 } } },
}
