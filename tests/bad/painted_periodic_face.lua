local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 },
  size = { 16, 8 }, tau = 0.8, periodic = { "x" },
  regions = {
    { where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet", where = shape.face "x-", law = law.velocity { 0.1, 0 } },
  },
}
