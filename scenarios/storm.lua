-- A storm over a valley: where the water collects, how deep it gets and when it comes, and what
-- leaves at the mouth.
--
--   selenite run scenarios/storm.lua                                   the files beside it
--   selenite run scenarios/storm.lua dem=valley.asc rain=storm.csv     your own
--
-- The ground is a grid in metres, .asc or .tif, with NODATA outside of the catchment: no water
-- passes that outline, and what reaches an edge of the grid itself leaves. tools/valley.py made
-- valley.asc; `tools/valley.py FILE.asc 1536` makes the same valley of finer cells. The rain is a
-- CSV file of seconds and mm/h; at the west edge it is stronger by the fraction `slant`, at the
-- east edge weaker. The soil takes infiltration at its full rate wherever there is water.
--
-- Films of water move alpha dx/dt (docs/physics.md): `celerity`, which with alpha gives the time
-- step. Fit it to a hydrograph that you know.
--
-- gauges.csv has the depth where the ground is lowest at a third of the way from the west edge to
-- the cross-section, at two thirds, and shortly above it, then in the deepest hollow; levels.csv
-- the levels. discharge.csv has m3/s through the cross-section, positive eastwards.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  dem          = { "valley.asc", "elevation of the ground, m: .asc or .tif", file = true },
  rain         = { "storm.csv", "rain over time: seconds, mm/h", file = true },
  slant        = { 0.2, "rain at the west edge over the mean, less 1", min = -1, max = 1 },
  infiltration = { 4,   "water that the soil takes, mm/h", min = 0 },
  alpha        = { 0.2, "relaxation", min = 0.001, max = 1 },
  celerity     = { 1,   "speed of thin water, m/s", min = 0.001 },
  hours        = { 6,   "time to simulate" },
  section      = { 0.93, "place of the cross-section, part of the width", min = 0.05, max = 1 },
  deepest      = { 20,  "depth that must be held, m" },
  film         = { 900, "seconds between pictures and frames" },
  grids        = { "asc", "files of max_depth and arrival_time", choices = { "asc", "tif" } },
  equilibrium  = { "mindiff", "reading of the level of equilibrium",
                   choices = { "fill", "mean", "mindiff" } },
}

local dem = sel.raster(p.dem)
local storm = sel.series { p.rain, outside = "zero" }
local nx, ny, dx = dem.size[1], dem.size[2], dem.dx
local west, south = dem.origin[1], dem.origin[2]

-- The same ground for looking up places of gauges: where there are no data it is a cliff.
local high = 1e6
local filled = sel.raster { p.dem, fill = high }

local function centre(i, j)
  return { west + (i - 0.5) * dx, south + (j - 0.5) * dx }
end

-- The lowest cell of a column.
local function stream(i)
  local lowest, place = math.huge, nil
  for j = 1, ny do
    local at = centre(i, j)
    local ground = filled(at[1], at[2])
    if ground < lowest then
      lowest, place = ground, at
    end
  end
  return place
end

-- The cell that lies deepest below all cells of a square about it, 50 m away, among some 200 x 200.
local function hollow()
  local reach, stride = math.max(2, math.floor(50 / dx + 0.5)), math.max(1, math.max(nx, ny) // 200)
  local ring = {}
  for k = -reach, reach do
    for _, side in ipairs { -reach, reach } do
      ring[#ring + 1] = { k * dx, side * dx }
      ring[#ring + 1] = { side * dx, k * dx }
    end
  end
  local deepest, place = -math.huge, nil
  for j = reach + 1, ny - reach, stride do
    for i = reach + 1, nx - reach, stride do
      local at, depth = centre(i, j), math.huge
      local ground = filled(at[1], at[2])
      for k = 1, #ring do
        depth = math.min(depth, filled(at[1] + ring[k][1], at[2] + ring[k][2]) - ground)
        if depth <= deepest then
          break
        end
      end
      if ground < high and depth > deepest and depth < high / 2 then
        deepest, place = depth, at
      end
    end
  end
  return place
end

local across = math.floor(p.section * nx)
local gauges = {
  stream(across // 3 + 1), stream(2 * across // 3 + 1), stream(across - 1), hollow(),
}
local section = west + across * dx
local middle, tilt = west + nx * dx / 2, 2 * p.slant / (nx * dx)

return sel.aqua {
  ground       = dem,
  dt           = p.alpha * dx / p.celerity,
  alpha        = p.alpha,
  equilibrium  = p.equilibrium,
  rain         = function(x, t) return storm(t) * (1 + tilt * (middle - x)) end,
  infiltration = p.infiltration,
  regions      = { { name = "mouth", where = shape.faces, law = law.open {} } },
  arrival_depth = 0.1,
  depth_limit  = p.deepest,
  stop   = { time = p.hours * 3600 },
  output = {
    out.probe   { name = "gauges", field = "depth", at = gauges, interval = 60 },
    out.probe   { name = "levels", field = "level", at = gauges, interval = 60 },
    out.flux    { name = "discharge", interval = 60,
                  across = { { section, south + ny * dx }, { section, south } } },
    out.balance { interval = 60 },
    out.vtk     { fields = { "ground", "depth", "level", "max_depth", "arrival_time" },
                  interval = p.film },
    out.picture { field = "depth", relief = "ground", above = 0.02, min = 0, max = 2,
                  interval = p.film },
    out.grid    { name = "max_depth", field = "max_depth", format = p.grids },
    out.grid    { name = "arrival_time", field = "arrival_time", format = p.grids },
  },
}
