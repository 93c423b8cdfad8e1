local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.aqua {
  size = { 8, 8 }, ground = 1,
  alpha = function(x) return 0.5 + x / 10 end,
  regions = { { where = shape.faces, law = law.wall {} } },
  stop = { steps = 10 },
}
