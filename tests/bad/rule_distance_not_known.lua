local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state = { u = "real", n = "i32" },
  rule  = function(c) return { u = c(c.n, 0).u } end,
}
