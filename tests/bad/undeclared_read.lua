local sel = require "selenite"
local nu = 0.1 * mth.pi
return sel.lbm { lattice = "D2Q9", size = { 8, 8 }, nu = nu, stop = { steps = 10 } }
