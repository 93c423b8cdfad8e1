local sel = require "selenite"
nu = 0.1
return sel.lbm { lattice = "D2Q9", size = { 8, 8 }, nu = nu, stop = { steps = 10 } }
