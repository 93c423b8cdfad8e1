local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, tau = 0.8, periodic = { "x", "y" },
  regions = { { where = shape.image "nope.png", law = law.wall {} } },
  stop = { steps = 10 },
}
