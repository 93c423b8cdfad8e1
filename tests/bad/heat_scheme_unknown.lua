local sel = require "selenite"
return sel.heat {
  size = { 20, 10 }, conductivity = 2, scheme = "crank_nicholson",
  regions = { { where = sel.shape.faces, law = sel.law.insulated {} } },
  stop = { steps = 1 },
}
