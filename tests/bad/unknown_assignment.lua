-- args: check @ Ree=200
local sel = require "selenite"
local p = sel.params { Re = { 100, "Reynolds number" }, H = 32 }
return sel.lbm { lattice = "D2Q9", size = { p.H, p.H }, nu = 1 / p.Re, stop = { steps = 10 } }
