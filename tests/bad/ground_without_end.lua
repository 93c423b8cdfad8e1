local sel = require "selenite"
return sel.aqua {
  ground = function(x) return x > 5 and -1e20 or 0 end, size = { 8, 4 }, dt = 1, alpha = 0.2,
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } }, stop = { steps = 10 },
}
