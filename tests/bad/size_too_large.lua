local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 },
  size = { 4000000, 4000000 }, tau = 0.8,
  regions = { { where = shape.faces, law = law.wall {} } },
}
