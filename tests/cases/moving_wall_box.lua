-- A box whose walls and lid take populations by Zou and He: it loses mass in each step, for ever.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local N, Re = 32, 100
return sel.lbm {
  lattice = "D2Q9", size = { N, N }, nu = 0.1 * N / Re, precision = "f64",
  regions = {
    { name = "lid", where = shape.face "y+", law = law.wall { velocity = { 0.1, 0 }, scheme = "zou_he" } },
    { name = "walls", where = shape.rest, law = law.wall { scheme = "zou_he" } },
  },
  stop = { steps = 200 }, output = { out.reduce { field = "density", op = "mean", every = 5000 } },
}
