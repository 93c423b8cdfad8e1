local sel = require "selenite"
local shape = sel.shape
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, tau = 0.8, periodic = { "x", "y" },
  initial = {
    density = sel.paint {
      1,
      { shape.face "x-", 2 },
    },
  },
  stop = { steps = 1 },
}
