-- Parameters: `selenite run examples/02_parameters.lua Re=200`, `--help` lists them.
local sel = require "selenite"

local p = sel.params {
  N  = { 64,  "cells along a side", integer = true, min = 8 },
  Re = { 100, "Reynolds number" },
  U  = { 0.1, "velocity of the lid, lattice units", max = 0.2 },
}

return sel.lbm {
  lattice   = "D2Q9",
  size      = { p.N, p.N },
  nu        = p.U * p.N / p.Re,
  reference = { length = p.N, velocity = p.U },
  regions   = {
    { name = "lid",   where = sel.shape.face "y+", law = sel.law.wall { velocity = { p.U, 0 } } },
    { name = "walls", where = sel.shape.rest,      law = sel.law.wall {} },
  },
  stop   = { steps = 20000, steady = 1e-4 },
  output = { sel.out.probe { field = "velocity", at = { p.N / 2, p.N / 2 }, every = 100 } },
}
