-- args: run @ -o OUT --quiet
local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 64, 32 }, nu = 50, stop = { steps = 1500 }, precision = "f64",
  regions = {
    { where = shape.faces, law = law.wall {} },
    { where = shape.face "x-", law = law.velocity { 0.05, 0 } },
    { where = shape.face "x+", law = law.pressure { 0 } },
    { where = shape.ball { centre = { 20, 16 }, radius = 4 }, law = law.wall {} },
  },
}
