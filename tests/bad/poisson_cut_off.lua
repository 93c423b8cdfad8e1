local sel = require "selenite"
local law, shape = sel.law, sel.shape
return sel.poisson {
  size = { 20, 10 }, rhs = 1,
  regions = {
    { where = shape.faces, law = law.fixed { 0 } },
    { where = shape.box { min = { 5, 2 }, max = { 12, 8 } } - shape.box { min = { 6, 3 }, max = { 11, 7 } }, law = law.insulated {} },
  },
}
