-- Slow flow through a sandstone: grains that have grown together, from a stack of pictures, as an
-- x-ray scanner makes them. A dark pixel is a solid cell. The sample is periodic on all axes, and
-- `drive` holds its flow at a Reynolds number. tools/grains.py made the stack.
--
-- Shows: Darcy's law. out.pores writes the permeability k in m2, porosity, specific surface and
-- tortuosity. Carman's law for beds of grains is k = porosity^3 / (c surface^2), with the surface
-- per volume of the sample and c about 5 (P. C. Carman, Trans. Inst. Chem. Eng. 15 (1937) 150-166).
-- Here c is 7.3, 4.8 and 5.4 along x, y and z: the sample is small.
--
-- A sample of your own: porous3d.lua stack=rock_%03d.png nx=300 ny=300 nz=200 pixel=2e-6. Where its
-- opposite faces do not fit each other, the flow is hindered. Half the pixels, each twice as large,
-- have a permeability 4 per cent larger here: grains should have ten pixels or more.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  stack  = { "porous3d/plane_%02d.png", "pictures of planes, the lowest one first", file = true },
  nx     = { 48,    "pixels along x", integer = true, min = 1 },
  ny     = { 48,    "pixels along y", integer = true, min = 1 },
  nz     = { 48,    "pictures", integer = true, min = 1 },
  pixel  = { 5e-6,  "side of a pixel, m", min = 1e-9 },
  grain  = { 70e-6, "diameter of a grain, m, for the Reynolds number", min = 1e-9 },
  Re     = { 0.01,  "Reynolds number: mean velocity in the pores times grain over nu", min = 1e-6 },
  axis   = { "x",   "of the flow", choices = { "x", "y", "z" } },
}

local nu, density = 1e-6, 998                         -- water: m2/s, kg/m3
local tau = 1

return sel.lbm {
  lattice   = "D3Q19",
  size      = { p.nx, p.ny, p.nz },
  dx        = p.pixel,
  dt        = (tau - 0.5) / 3 * p.pixel ^ 2 / nu,
  nu        = nu,
  density   = density,
  collision = "trt",                                  -- walls of pores stay in place
  periodic  = { "x", "y", "z" },
  drive     = { velocity = p.Re * nu / p.grain, axis = p.axis, every = 5 },
  reference = { length = p.grain },
  regions   = { { name = "grains", where = shape.image(p.stack), law = law.wall {} } },
  stop      = { steps = 20000, steady = 1e-4, every = 200 },
  output    = {
    out.pores   { axis = p.axis, every = 50 },
    out.picture { field = "speed", slice = { z = p.nz * p.pixel / 2 }, scale = 6 },
    out.vtk     { fields = { "velocity", "pressure" } },
  },
}
