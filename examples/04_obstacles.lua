-- Shapes combine with + (or), - (without), * (and): a ring with a gap, and a bar.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local ring = shape.ball { centre = { 60, 40 }, radius = 16 }
           - shape.ball { centre = { 60, 40 }, radius = 10 }
local gap  = shape.box { min = { 40, 36 }, max = { 60, 44 } }
local bar  = shape.polygon { points = { { 110, 20 }, { 118, 20 }, { 130, 60 }, { 122, 60 } } }

return sel.lbm {
  lattice      = "D2Q9",
  size         = { 200, 80 },
  nu           = 0.02,
  periodic     = { "x" },
  acceleration = { 1e-5, 0 },
  regions      = {
    { name = "walls",     where = shape.faces,      law = law.wall {} },
    { name = "obstacles", where = ring - gap + bar, law = law.wall {} },
  },
  stop   = { steps = 10000 },
  output = {
    out.vtk    { fields = { "velocity", "pressure", "speed" }, every = 2000 },
    out.reduce { field = "speed", op = "max", every = 100 },
  },
}
