local sel = require "selenite"
return sel.poisson {
  size = { 20, 15 }, periodic = { "y" }, rhs = 1, method = "sor",
  regions = { { where = sel.shape.faces, law = sel.law.fixed { 0 } } },
}
