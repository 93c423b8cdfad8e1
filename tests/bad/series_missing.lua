local sel = require "selenite"
local inflow = sel.series {
  "nope.csv",
  outside = "hold",
}
return sel.lbm { lattice = "D2Q9", size = { 8, 8 } }
