local sel = require "selenite"

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state = { v = "vector" },
  rule  = function(c) return { v = { c.v_x, 0 } } end,
}
