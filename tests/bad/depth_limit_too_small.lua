-- args: run @ -o OUT --quiet
local sel = require "selenite"
return sel.aqua {
  ground = 0, size = { 8, 8 }, dt = 1, alpha = 0.2, depth_limit = 0.1, precision = "f32",
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } }, stop = { steps = 10 },
  initial = { depth = 1000 },
}
