-- args: run @ -o OUT --quiet
local sel = require "selenite"
return sel.aqua {
  ground = 0, size = { 8, 8 }, dx = 10, origin = { 500000, 6000000 }, dt = 2, alpha = 0.2,
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } }, stop = { steps = 10 },
  rain = function(x, t) return 500055 - x end,
}
