-- args: check @ Re=fast H=8.5
local sel = require "selenite"
local p = sel.params { Re = { 100, "Reynolds number" }, H = { 32, "cells", integer = true } }
return sel.lbm { lattice = "D2Q9", size = { p.H, p.H }, nu = 1 / p.Re, stop = { steps = 10 } }
