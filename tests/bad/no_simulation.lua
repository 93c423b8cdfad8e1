local sel = require "selenite"
local flow = sel.lbm { lattice = "D2Q9", size = { 8, 8 }, tau = 1, stop = { steps = 10 } }
