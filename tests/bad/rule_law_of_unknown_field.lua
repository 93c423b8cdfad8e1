local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state   = { u = "real", q = "vector" },
  rule    = function(c) return { u = c.u } end,
  regions = { { where = shape.box { min = { 0, 0 }, max = { 2, 2 } }, law = { v = law.wall {} } },
    { where = shape.box { min = { 4, 4 }, max = { 6, 6 } }, law = { u = law.fixed { 1, 2 } } } },
}
