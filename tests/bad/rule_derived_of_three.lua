local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state   = { u = "real" },
  rule    = function(c) return c.u end,
  derived = { w = function(c) return c.u, 1, 2 end },
}
