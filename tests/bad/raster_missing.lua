-- args: run @ ground=nope.asc
local sel = require "selenite"
local p = sel.params { ground = { "valley.asc", "the ground", file = true } }
local ground = sel.raster(p.ground)
return sel.aqua { ground = ground }
