local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", size = { 16, 16 }, tau = 0.8, stop = { steps = 1 },
  regions = {
    { where = shape.faces, law = law.wall {} },
    { where = shape.polygon { points = { 2, 2, 6, 2, 4, 6 } }, law = law.wall {} },
  },
  output = {
    out.flux { across = { 8, 0, 8.5, 16 } },
    out.probe { field = "velocity", at = { 1, 2, 3 } },
  },
}
