local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 },
  size = { 16, 8 }, tau = 0.8,
  regions = { { where = shape.faces, law = law.wall {} } },
  hooks = {
    { evry = 5, call = function(run) run:log("x") end },
    { at = "end", call = "watch" },
  },
}
