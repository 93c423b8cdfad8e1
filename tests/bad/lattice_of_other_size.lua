local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8, 8 }, tau = 0.8, stop = { steps = 10 },
  periodic = { "x", "y", "z" },
}
