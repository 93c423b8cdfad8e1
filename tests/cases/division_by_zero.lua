-- Whole numbers are divided by 0 in the column where g is 3, in step 1: the run ends, and
-- reduce.csv with it, at step 0.
local sel = require "selenite"
return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, state = { g = "i32" },
  initial = { g = function(x) return math.floor(x) end },
  rule = function(c) return c.g // (c.g - 3) end, stop = { steps = 5 },
  output = { sel.out.reduce { field = "g", op = "sum", every = 1 } },
}
