local sel = require "selenite"
local outputs = {}
for k = 1, 5000 do outputs[k] = sel.out.reduce { name = "r" .. k, field = "temperature", op = "mean" } end
return sel.heat {
  size = { 4, 4 }, diffusivity = 0.1, periodic = { "x", "y" }, stop = { steps = 1 }, output = outputs,
}
