local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 12, 8 }, tau = 0.8, periodic = { "x", "y" },
  initial = { density = sel.raster "raster_without_data.asc" },
  stop = { steps = 1 },
}
