local sel = require "selenite"

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state = { v = "vector" },
  rule  = function(c) return { v_x = c.v, v_y = 0 } end,
}
