local sel = require "selenite"
return sel.lbm {
  lattice = "D2Q9", size = { 8, 8 }, nu = 0.1, stop = { steps = 1 },
  controls = { ["a\27[2J"] = 1 },
  regions = { { name = "wall\27]0;title\7", where = sel.shape.faces, law = sel.law.wall {} } },
}
