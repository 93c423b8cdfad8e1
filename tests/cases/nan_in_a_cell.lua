-- One cell becomes NaN in step 4: so do the least, the largest, the mean and the norm.
local sel = require "selenite"
local function reduce(op) return sel.out.reduce { name = op, field = "u", op = op, every = 1 } end
return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, state = { u = "real" }, initial = { u = 2 },
  rule = function(c, x, y, t) return (x < 1 and y < 1 and t > 2) and math.sqrt(1 - c.u) or c.u end,
  stop = { steps = 6 }, output = { reduce "max", reduce "min", reduce "mean", reduce "l2" },
}
