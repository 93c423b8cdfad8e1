-- Flooding of a plain with sixteen shallow depressions, after test 2 of the UK Environment
-- Agency's benchmark of two-dimensional flood models: 2 x 2 km that fall 1:1500 to the south and
-- 1:3000 to the east, 4 x 4 pits of half a metre, an inflow of 20 m3/s at its peak along 100 m in
-- the north-west corner for 85 minutes, closed sides, two days until all is still.
--
-- The ground here is made from that description, not the data set of the benchmark, and so is the
-- shape of the hydrograph. What counts is where water stands at the end, which needs no roughness:
-- depth_N of pits.csv, by rows from the north-west. alpha dx/dt is the speed of shallow water,
-- `celerity`.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  dx          = { 20,    "side of a cell, m", min = 1, max = 100 },
  alpha       = { 0.2,   "relaxation" },
  celerity    = { 0.5,   "speed of shallow water, m/s" },
  hours       = { 48,    "time to simulate" },
  equilibrium = { "mindiff", "reading of the level of equilibrium",
                  choices = { "fill", "mean", "mindiff" } },
}
local L, n = 2000, math.floor(2000 / p.dx + 0.5)
local dt = p.alpha * p.dx / p.celerity

local hydrograph = sel.series {                  -- seconds, m3/s
  t     = { 0, 600, 3900, 5100 },
  value = { 0, 20,  20,   0 },
  outside = "zero",
}

local pits = {}
for row = 1, 4 do
  for column = 1, 4 do
    pits[#pits + 1] = { (column - 0.5) * L / 4, L - (row - 0.5) * L / 4 }
  end
end

return sel.aqua {
  size        = { n, n }, dx = L / n, dt = dt,
  ground      = function(x, y)
    local pit = math.sin(4 * math.pi * x / L) * math.sin(4 * math.pi * y / L)
    return y / 1500 + (L - x) / 3000 - 0.5 * pit * pit
  end,
  alpha       = p.alpha,
  equilibrium = p.equilibrium,
  regions     = { { name = "dykes", where = shape.faces, law = law.wall {} } },
  sources     = {
    { name = "breach", discharge = hydrograph,
      where = shape.box { min = { 0, L - 100 }, max = { p.dx, L } } },
  },
  arrival_depth = 0.05,
  stop   = { time = p.hours * 3600 },
  output = {
    out.probe { name = "pits", field = "depth", at = pits, interval = 300 },
    out.vtk   { fields = { "ground", "depth", "level", "max_depth", "arrival_time" } },
    out.balance { interval = 600 },
  },
}
