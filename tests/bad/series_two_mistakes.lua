local sel = require "selenite"
local inflow = sel.series {
  fil = "inflow.csv",
  repeats = 1,
}
return inflow
