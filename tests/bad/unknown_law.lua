local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, tau = 1, stop = { steps = 10 },
  regions = { { where = shape.faces, law = law.wal {} } },
}
