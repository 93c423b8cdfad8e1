local sel = require "selenite"
return sel.lbm { lattice = "D2Q9", size = { 16 16 }, stop = { steps = 16 } }
