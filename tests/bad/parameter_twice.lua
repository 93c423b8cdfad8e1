-- args: check @ H=3 U=1 H=4
local sel = require "selenite"
local p = sel.params { H = 8, U = 0.1 }
return sel.lbm { lattice = "D2Q9", size = { p.H, p.H }, tau = 0.8, periodic = { "x", "y" } }
