local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 32, 32, 4 }, tau = 0.8, stop = { steps = 10 },
  regions = {
    { where = shape.faces, law = law.wall {} },
    { where = shape.face "x-", law = law.velocity { 0.05, 0 } },
    { where = shape.ball { centre = { 16, 16 }, radius = 4 }, law = law.wall {} },
  },
}
