-- A box with a moving lid: the smallest scenario.
local sel = require "selenite"

return sel.lbm {
  lattice = "D2Q9",
  size    = { 64, 64 },
  nu      = 0.064,
  regions = {
    { where = sel.shape.face "y+", law = sel.law.wall { velocity = { 0.1, 0 } } },
    { where = sel.shape.rest,      law = sel.law.wall {} },
  },
  stop    = { steps = 2000 },
  output  = { sel.out.vtk { fields = { "velocity", "pressure" }, every = 500 } },
}
