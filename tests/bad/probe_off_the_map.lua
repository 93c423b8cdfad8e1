local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.aqua {
  ground = 0, size = { 80, 60 }, dx = 10, origin = { 500000, 6000000 }, dt = 1, alpha = 0.2,
  regions = { { where = shape.faces, law = law.wall {} } }, stop = { steps = 10 },
  output = { out.probe { field = "depth", at = { 500605, 6000605 } } },
}
