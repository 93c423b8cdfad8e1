-- A picture as geometry and as a field: its dark pixels are stones; noise disturbs the start. The
-- flow begins at once: openings that absorb let the sound of the start out.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local picture = sel.raster "stones.png"             -- r(x, y) from 0 (black) to 1 (white)
local stones = shape.image "stones.png"             -- row 0 of the file is the top of the domain
local lee = shape.box { min = { 60, 0 }, max = { 80, picture.size[2] } }

return sel.lbm {
  lattice = "D2Q9",
  size    = picture.size,
  nu      = 0.02,
  initial = {
    velocity = {
      sel.paint { 0.05, { lee, 0.04 }, { stones, 0 } },         -- in order, the last one wins
      function(x, y) return 0.002 * sel.noise(1, x / 8, y / 8) end,
    },
  },
  regions = {
    { name = "stones", where = stones, law = law.wall {} },
    { name = "walls",  where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",  where = shape.face "x-", law = law.velocity { 0.05, 0, absorbing = true } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0, absorbing = true } },
  },
  stop    = { steps = 4000 },
  output  = { out.vtk { fields = { "velocity", "pressure" } } },
}
