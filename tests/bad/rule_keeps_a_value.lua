local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local calls = 0
return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state = { u = "real" },
  rule  = function(c)
    calls = calls + 1
    return c.u + calls
  end,
}
