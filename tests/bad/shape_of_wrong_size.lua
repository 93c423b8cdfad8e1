local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 },
  size = { 16, 8 }, tau = 0.8,
  regions = {
    { where = shape.faces, law = law.wall {} },
    { where = shape.ball { centre = { 4, 4 }, radius = -1 }, law = law.wall {} },
    { where = shape.box { min = { 1, 1, 1 }, max = { 2, 2, 2 } }, law = law.wall {} },
  },
}
