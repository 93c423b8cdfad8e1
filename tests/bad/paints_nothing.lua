local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 },
  size = { 16, 8 }, tau = 0.8,
  regions = {
    { where = shape.faces, law = law.wall {} },
    { name = "far", where = shape.ball { centre = { 100, 100 }, radius = 3 }, law = law.wall {} },
  },
}
