local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D3Q19", size = { 8, 6, 5 }, tau = 0.8, stop = { steps = 10 },
  regions = {
    { name = "walls", where = shape.faces, law = law.wall {} },
    { name = "inlet", where = shape.face "x-", law = law.velocity { 0.05, 0, 0 } },
    { name = "top", where = shape.face "z+", law = law.pressure(0) },
  },
}
