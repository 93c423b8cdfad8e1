local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", size = { 32, 32 }, tau = 0.8, periodic = { "x", "y" }, stop = { steps = 10 },
  regions = { { name = "column", where = shape.ball { centre = { 16, 16 }, radius = 4 }, law = law.wall {} } },
  output = { out.probe { field = "velocity", at = { { 4, 4 }, { 16, 16 } } } },
}
