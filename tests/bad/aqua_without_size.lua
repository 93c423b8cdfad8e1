local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.aqua {
  ground = 1, alpha = 0.2, rain = 10,
  regions = { { where = shape.faces, law = law.wall {} } },
  stop = { steps = 10 },
}
