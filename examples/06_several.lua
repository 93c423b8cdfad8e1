-- A list of simulations: each writes to its own folder, out/06_several/NAME.
local sel = require "selenite"

local function channel(name, collision)
  return sel.lbm {
    name         = name,
    lattice      = "D2Q9",
    size         = { 1, 16 },
    precision    = "f64",
    tau          = 1.5,
    collision    = collision,
    periodic     = { "x" },
    acceleration = { 1e-5, 0 },
    regions      = { { where = sel.shape.faces, law = sel.law.wall {} } },
    stop         = { steps = 20000, steady = 1e-10 },
    output       = { sel.out.profile { field = "velocity", from = { 0.5, 0 }, to = { 0.5, 16 } } },
  }
end

return { channel("trt", "trt"), channel("bgk", "bgk") }
