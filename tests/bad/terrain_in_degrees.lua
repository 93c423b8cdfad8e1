local sel = require "selenite"
local dem = sel.raster "terrain_in_degrees.asc"
local function run(name, ground)
  return sel.aqua { name = name, ground = ground, dt = 1, alpha = 0.2, stop = { steps = 10 },
    regions = { { where = sel.shape.faces, law = sel.law.wall {} } } }
end
return { run("as_it_is", dem), run("painted", sel.paint { dem, { sel.shape.ball { centre = { 0, 0 }, radius = 1 }, 7 } }) }
