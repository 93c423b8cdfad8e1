local sel = require "selenite"
local law, shape, out = sel.law, sel.shape, sel.out
return sel.aqua {
  size = { 8, 8 }, ground = 1, alpha = 0.2,
  regions = { { name = "walls", where = shape.faces, law = law.wall {} } },
  stop = { steps = 10 },
  output = {
    out.force { region = "walls" },
    out.flux { through = shape.box { min = { 0, 0 }, max = { 8, 1 } } },
  },
}
