local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  latice  = "D2Q9",
  size    = { 64, "32" },
  tau     = true,
  regions = {
    { name = "walls", where = shape.faces, law = law.wall { velocty = { 0, 0 } } },
    { name = "inlet", law = law.velocity { 0.1 } },
  },
  stop    = { stpes = 100 },
  output  = {
    out.vtk { fields = { "velocity" }, evry = 10 },
    "picture",
  },
}
