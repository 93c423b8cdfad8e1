local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D3Q19", size = { 16, 8, 8 }, tau = 0.8, stop = { steps = 10 },
  periodic = { "x", "y", "z" },
  regions = {
    { where = shape.cylinder { centre = { 8, 4 }, radius = 2 }, law = law.wall {} },
  },
}
