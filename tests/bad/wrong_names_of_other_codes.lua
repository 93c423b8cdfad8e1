local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "d2q9", size = { 8, 8 }, viscosity = 0.1,
  force = { 1e-5, 0 },
  regions = {
    { where = shape.face "x+", law = law.pressure { p = 0 } },
    { where = shape.face "x-", law = law.velocity { u = { 0.1, 0 } } },
    { where = shape.rest, law = law.wall { u = { 0.1, 0 } } },
  },
  initial = { u = { 0, 0 },
    rho = 1 },
  stop = { time_steps = 5 },
  output = { out.vtk { fields = { "velocity" } } },
}
