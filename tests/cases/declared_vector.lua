-- A rule returns the vector that it declares by its name instead of its components.
local sel = require "selenite"
return sel.rule {
  size = { 4, 4 }, periodic = { "x", "y" }, state = { v = "vector" },
  rule = function(c) return { v = { c.v_x, 0 } } end, stop = { steps = 1 },
}
