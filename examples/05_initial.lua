-- Initial fields: a decaying array of vortices in a periodic box.
local sel = require "selenite"
local out = sel.out

local N, U = 64, 0.05
local k = 2 * math.pi / N

return sel.lbm {
  lattice   = "D2Q9",
  size      = { N, N },
  precision = "f64",
  nu        = 0.02,
  periodic  = { "x", "y" },
  initial   = {
    velocity = function(x, y)
      return -U * math.cos(k * x) * math.sin(k * y), U * math.sin(k * x) * math.cos(k * y)
    end,
    pressure = function(x, y)
      return -U ^ 2 / 4 * (math.cos(2 * k * x) + math.cos(2 * k * y))
    end,
  },
  stop   = { steps = 5000 },
  output = {
    out.reduce { field = "speed", op = "l2", every = 50 },
    out.vtk    { fields = { "velocity", "pressure" }, every = 1000 },
  },
}
