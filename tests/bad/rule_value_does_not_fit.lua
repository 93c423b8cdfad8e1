-- args: run @ -o OUT --quiet
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, stop = { steps = 3 },
  state   = { n = "u8" },
  initial = { n = 200 },
  rule    = function(c) return c.n + 40 end,
}
