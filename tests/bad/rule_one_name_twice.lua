local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state    = { u = "real", q = "vector" },
  data     = { q_x = 1, t = 2 },
  derived  = { u = function(c) return c.u end },
  controls = { q = 1 },
  rule     = function(c) return { u = c.u } end,
}
