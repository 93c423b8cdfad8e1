local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9",
  size = { 16, 16 } -- the walls follow

  regions = { { where = shape.faces, law = law.wall {} } },
  tau = 0.8, stop = { steps = 1 },
}
