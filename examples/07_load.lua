-- Another scenario as a starting point: load it, change its table, return it.
local sel = require "selenite"

local cavity = sel.load("../scenarios/cavity2d.lua", { N = 48, Re = 100 })
cavity.stop.steady = 1e-5
cavity.output[#cavity.output + 1] = sel.out.probe {
  field = { "velocity", "pressure" }, at = { { 24, 24 }, { 12, 36 } }, every = 500,
}
return cavity
