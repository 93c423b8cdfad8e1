local sel = require "selenite"
local rain = sel.series { "series_times_fall.csv", column = "rain" }
return sel.aqua { rain = rain }
