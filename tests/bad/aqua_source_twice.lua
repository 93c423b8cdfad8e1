local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.aqua {
  size = { 8, 8 }, dt = 1, ground = 1, alpha = 0.2,
  regions = { { where = shape.faces, law = law.wall {} } },
  sources = {
    { at = { 4, 4 }, where = shape.box { min = { 0, 0 }, max = { 2, 2 } }, discharge = 1 },
    { at = { 4, 4 }, discharge = function(x) return x end },
  },
  stop = { steps = 10 },
}
