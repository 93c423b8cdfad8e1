local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, nu = 0.1, stop = { steps = 1 },
  regions = {
    { where = shape.faces, law = law.wall {} },
    { where = shape.face "x+", law = law.outflow { relaxation = 1 } },
  },
}
