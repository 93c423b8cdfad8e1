local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state = { u = "real" },
  rule  = function(c) return c(3, 0).u end,
}
