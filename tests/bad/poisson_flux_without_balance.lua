local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.poisson {
  size = { 20, 10 }, rhs = 1,
  regions = { { where = shape.faces, law = law.insulated {} } },
}
