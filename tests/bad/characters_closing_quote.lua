local sel = require "selenite"
return sel.heat {
  size = { 8, 8 }, diffusivity = 0.1, periodic = { "x", "y" }, stop = { steps = 2 },
  output = { sel.out.reduce { field = "temperature”, op = "mean" } },
}
