local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.aqua {
  size = { 8, 8 }, dt = 1, ground = 1, alpha = 0.2,
  regions = { { where = shape.faces, law = law.wall {} } },
  sources = { { at = { 1e39, 4 }, discharge = 1 } },
  stop = { steps = 10 },
}
