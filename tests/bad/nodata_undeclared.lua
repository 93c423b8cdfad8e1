local sel = require "selenite"
return sel.aqua {
  ground = sel.raster "nodata_undeclared.asc", dt = 1, alpha = 0.2, stop = { steps = 10 },
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
}
