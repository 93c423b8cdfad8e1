-- args: run @ -o OUT --quiet
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 }, size = { 16, 8 }, tau = 0.8,
  regions = {
    { where = shape.faces, law = law.wall {} },
    { name = "inlet", where = shape.face "x-", law = law.velocity { function(y) return y.u, 0 end } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
  },
}
