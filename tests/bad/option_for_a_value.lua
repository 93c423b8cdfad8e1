-- args: run @ -o --force
local sel = require "selenite"
return sel.lbm { lattice = "D2Q9", size = { 8, 8 }, tau = 0.8, periodic = { "x", "y" } }
