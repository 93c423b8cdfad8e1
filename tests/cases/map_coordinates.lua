-- A rule on a map, with cells of 0.5 m at an easting of 5,881,700.25 m, where single precision has
-- steps of 0.5 m: u is the distance from the map's corner, k the number of the column.
local sel = require "selenite"
local x0 = 5881700.25
return sel.rule {
  size = { 64, 4 }, dx = 0.5, origin = { x0, 0 }, periodic = { "y" }, state = { u = "real", k = "i32" },
  regions = { { name = "edge", where = sel.shape.faces, law = sel.law.fixed { 0 } } },
  rule = function(c, x) return { u = x - x0, k = math.floor((x - x0) / 0.5) } end, stop = { steps = 1 },
  output = {
    sel.out.reduce { name = "u", field = "u", op = "mean" }, sel.out.reduce { name = "k", field = "k", op = "mean" },
  },
}
