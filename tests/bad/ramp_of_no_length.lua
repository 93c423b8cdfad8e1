local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, nu = 0.1, stop = { steps = 1 },
  regions = {
    { where = shape.faces, law = law.wall {} },
    { where = shape.face "y+", law = law.wall {
      velocity = { function(t) return 0.05 * sel.ramp(t, 0) end, 0 } } },
  },
}
