local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.aqua {
  size = { 8, 8 }, dt = 1, ground = 1, alpha = 0.2,
  regions = {
    { where = shape.faces, law = law.wall {} },
    { name = "house", where = shape.box { min = { 2, 2 }, max = { 5, 5 } }, law = law.wall {} },
  },
  sources = {
    { at = { 4, 4 }, discharge = 1 },
    { name = "brook", where = shape.ball { centre = { 40, 4 }, radius = 2 }, discharge = 1 },
  },
  stop = { steps = 10 },
}
