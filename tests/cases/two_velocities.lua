-- The same parabola at both ends of a channel, or twice as much in as out: no face gives the pressure.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { ratio = 1 }
local H = 32
local function parabola(y) return 0.2 * y / H * (1 - y / H), 0 end
return sel.lbm {
  lattice = "D2Q9", size = { 4 * H, H }, tau = 0.6, initial = { velocity = parabola },
  regions = {
    { name = "walls", where = shape.faces, law = law.wall {} },
    { name = "inlet", where = shape.face "x-", law = law.velocity { function(y) return p.ratio * parabola(y), 0 end } },
    { name = "outlet", where = shape.face "x+", law = law.velocity { parabola } },
    { name = "cylinder", where = shape.ball { centre = { H, H / 2 + 1 }, radius = 4 }, law = law.wall {} },
  },
  stop = { steps = 100 }, output = { out.reduce { field = "density", op = "mean", every = 1000 } },
}
