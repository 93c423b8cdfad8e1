-- args: run @ -o OUT --quiet
local sel = require "selenite"
local shape, law = sel.shape, sel.law
return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 },
  size = { 16, 8 }, tau = 0.8,
  regions = { { where = shape.faces, law = law.wall {} } },
  hooks = {
    { every = 5, call = function(run)
      if run.step == 5 then
        run:prob("velocity", { 1, 1 })
      end
    end },
  },
}
