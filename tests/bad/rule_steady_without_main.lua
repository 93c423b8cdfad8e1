local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3, steady = 1e-3 },
  state = { u = "real", v = "real" },
  rule  = function(c) return { u = c.v } end,
}
