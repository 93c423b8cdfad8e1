local sel = require "selenite"
return sel.aqua {
  ground = 1, size = { 8, 8 }, dt = 1, alpha = 0.2, stop = { steps = 10 },
  manning = 0.03,
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
}
