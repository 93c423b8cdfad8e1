local sel = require "selenite"
return sel.raster "terrain.grd"
