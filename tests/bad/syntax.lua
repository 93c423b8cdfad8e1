local sel = require "selenite"
return sel.lbm { lattice = "D2Q9", size = { 8, 8 }
