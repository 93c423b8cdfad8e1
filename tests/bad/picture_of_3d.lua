local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D3Q19", size = { 16, 12, 8 }, nu = 0.05,
  regions = { { where = shape.faces, law = law.wall {} } },
  stop = { steps = 10 },
  output = {
    out.picture { name = "a", field = "speed" },
    out.picture { name = "b", field = "speed", slice = { x = 1, z = 4 } },
    out.picture { name = "c", field = "speed", slice = { z = 8.5 } },
    out.picture { name = "d", field = "stress", slice = { y = 6 } },
    out.flux { across = { { 0, 0, 1 }, { 1, 1, 1 } } },
  },
}
