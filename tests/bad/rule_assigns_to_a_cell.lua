local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state = { u = "real" },
  rule  = function(c)
    c.u = 1
    return c.u
  end,
}
