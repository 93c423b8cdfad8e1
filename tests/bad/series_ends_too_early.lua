-- args: run @ -o OUT --quiet
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local inflow = sel.series { t = { 0, 5 }, value = { 0, 0.01 } }
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, tau = 0.8, periodic = { "y" },
  regions = {
    { name = "inlet", where = shape.face "x-", law = law.velocity { inflow, 0 } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
  },
  stop = { steps = 10 },
}
