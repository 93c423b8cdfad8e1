local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 },
  size = { 16, 8 }, tau = 0.8,
  regions = { { name = "walls", where = shape.faces, law = law.wall {} } },
  output = {
    out.force { region = "wals" },
    out.flux { across = { { 4, 0 }, { 4, 8 } }, region = "walls" },
    out.picture { field = "velocity", slice = { z = 1 } },
  },
}
