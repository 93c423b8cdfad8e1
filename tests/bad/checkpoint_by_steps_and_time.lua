local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, nu = 0.1, periodic = { "x", "y" },
  stop = { steps = 1 },
  output = {
    sel.out.checkpoint { every = 10, wall_time = 60 },
  },
}
