-- Flow through a porous plate of discs, periodic on both axes and driven by a body force g along x.
-- The picture is the geometry: a dark pixel is a solid cell. tools/discs.py made both pictures.
--
-- Darcy's law gives the permeability k = nu <u> / g, where <u> is the mean of the velocity over all
-- cells, solid ones included: out.pores writes it over time, and pores.permeability in run.json is
-- the last one. Slow flow: k depends on the picture alone. porous2d_square.png is a square array of
-- discs (solid fraction 0.2), for which k = L^2 / 51.53 with L the side (A. S. Sangani and A.
-- Acrivos, Int. J. Multiphase Flow 8 (1982) 193-206).
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  picture = { "porous2d.png", "the pores: dark is solid, a pixel for each cell", file = true },
  nu      = { 1 / 6, "kinematic viscosity", min = 0.01 },
  g       = { 1e-6, "body force along x" },
}

local pixels = sel.raster(p.picture)

return sel.lbm {
  lattice      = "D2Q9",
  size         = pixels.size,
  precision    = "f64",
  nu           = p.nu,
  collision    = "trt",             -- walls of pores stay in place for any viscosity
  acceleration = { p.g, 0 },
  periodic     = { "x", "y" },
  regions      = { { name = "discs", where = shape.image(p.picture), law = law.wall {} } },
  stop         = { steps = 100000, steady = 1e-8, every = 500 },
  output       = {
    out.vtk   { fields = { "velocity", "pressure" } },
    out.pores { axis = "x", every = 500 },
  },
}
