local sel = require "selenite"
return sel.aqua {
  size = { 8, 8 }, equilibrium = "mean",
  ground = 0,
  alpha = function(t) return 1 / (1 + t) end,
  stop = { steps = 1 },
}
