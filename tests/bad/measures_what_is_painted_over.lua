local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", size = { 32, 16 }, tau = 0.8, stop = { steps = 10 },
  regions = {
    { name = "inlet", where = shape.face "x-", law = law.velocity { 0.02, 0 } },
    { name = "column", where = shape.ball { centre = { 10, 8 }, radius = 2 }, law = law.wall {} },
    { name = "walls", where = shape.faces, law = law.wall {} },
    { name = "block", where = shape.box { min = { 6, 4 }, max = { 14, 12 } }, law = law.wall {} },
  },
  output = { out.flux { region = "inlet" }, out.force { region = "column" } },
}
