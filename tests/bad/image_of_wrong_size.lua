local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 32, 64 }, tau = 0.8, periodic = { "x", "y" },
  regions = {
    { where = shape.image "../../scenarios/porous2d_square.png", law = law.wall {} },
  },
  stop = { steps = 1 },
}
