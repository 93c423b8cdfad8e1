local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state  = { u = "real" },
  rule   = function(c) return c.u end,
  output = { out.force { region = "edge" }, out.flux { across = { { 1, 0 }, { 1, 8 } } } },
}
