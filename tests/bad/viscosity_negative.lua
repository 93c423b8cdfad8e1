local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 },
  size = { 16, 8 }, nu = -0.1,
  regions = { { where = shape.faces, law = law.wall {} } },
}
