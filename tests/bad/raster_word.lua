local sel = require "selenite"
return sel.aqua { ground = sel.raster "raster_word.asc" }
