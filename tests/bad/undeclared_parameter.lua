local sel = require "selenite"
local p = sel.params { Re = { 100, "Reynolds number" } }
return sel.lbm { lattice = "D2Q9", size = { 8, 8 }, nu = 1 / p.Rey, stop = { steps = 10 } }
