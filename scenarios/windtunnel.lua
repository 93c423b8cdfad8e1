-- A car in a wind tunnel: the body of S. R. Ahmed, G. Ramm, G. Faltin (SAE Technical Paper 840300,
-- 1984) from an STL file in millimetres, which tools/ahmed.py writes for any slant of the window.
-- The test section is open: sides and roof are a free stream, which lets out the sound of the
-- start, and below the body the ground moves along, as a belt does.
--
-- Shows: a body of triangles with walls on its surface, its drag over time in car.csv, and the
-- wake in the middle plane. The length L of the body, the air and its speed are those of a tunnel,
-- but the viscosity is that of the Reynolds number U L / nu asked for: 2.8 million in the tunnel,
-- where cd is 0.29 at a slant of 25 degrees, is out of reach without a model of walls. The frontal
-- area is 0.389 x 0.288 m; `selenite check --regions` prints what the cells make of it.
--
-- A gap below the body of fewer than two cells may be unstable. On a GPU: cells=200 gap=0.05
-- Re=20000 width=2 height=1.5 length=6, 144 million cells.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  stl    = { "ahmed.stl", "the body, in mm: its nose at x = 0, its floor at z = 0",
             file = true },
  cells  = { 30,   "cells along the body", integer = true, min = 12 },
  Re     = { 1000, "Reynolds number: U L / nu", min = 1 },
  u      = { 0.1,  "velocity of the stream, lattice units", min = 0.01, max = 0.15 },
  gap    = { 0.1,  "from the ground to the body, m; 0.05 in the tunnel", min = 0 },
  length = { 4,    "length of the tunnel over L; the nose is a quarter of it behind the inlet",
             min = 3 },
  width  = { 1.8,  "width of the tunnel over L", min = 0.8 },
  height = { 1.35, "height of the tunnel over L", min = 0.6 },
  time   = { 10,   "length of the run, in units of L / U", min = 0.1 },
}

local L, U = 1.044, 40                                -- m, m/s
local dx = L / p.cells
local dt = p.u * dx / U
local nx, ny = math.ceil(p.length * p.cells), math.ceil(p.width * p.cells)
local nz = math.ceil(p.height * p.cells)

return sel.lbm {
  lattice   = "D3Q19",
  size      = { nx, ny, nz },
  dx        = dx,
  dt        = dt,
  origin    = { -nx * dx / 4, -ny * dx / 2, 0 },
  density   = 1.2,                                    -- kg/m3
  nu        = U * L / p.Re,
  initial   = { velocity = { U, 0, 0 } },
  reference = { length = L, velocity = U, area = 0.389 * 0.288 },
  regions   = {
    { name = "stream", law = law.far_field { U, 0, 0 },
      where = shape.face "x-" + shape.face "y-" + shape.face "y+" + shape.face "z+" },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0, absorbing = true } },
    { name = "ground", where = shape.face "z-", law = law.wall { velocity = { U, 0, 0 } } },
    { name = "car",    where = shape.mesh { file = p.stl, scale = 0.001, offset = { 0, 0, p.gap } },
      law = law.wall { scheme = "interpolated" } },
  },
  stop   = { time = p.time * L / U },
  output = {
    out.force   { name = "car", region = "car", every = 10, from_time = p.time / 2 * L / U },
    out.profile { name = "wake", field = "velocity", from = { 1.5 * L, 0, 0 },
                  to = { 1.5 * L, 0, nz * dx }, at = "end" },
    out.picture { field = "velocity_x", slice = { y = 0 }, interval = 2 * L / U,
                  min = -0.4 * U, max = 1.4 * U },
    out.vtk     { fields = { "velocity", "pressure", "q_criterion" } },
  },
}
