-- Runoff: a shower over a valley made by a function, which drains through a gap in its lower edge.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local dx, nx, ny = 10, 96, 64                       -- 960 m (west to east) x 640 m
local middle = ny * dx / 2

local function ground(x, y)                         -- m; falls to the west and to the middle
  local side = (y - middle) / middle
  return 100 + 0.03 * x + 15 * side * side + 0.3 * sel.noise(1, x / 80, y / 80)
end

local function shower(t)                            -- mm/h; half an hour of rain
  return t < 1800 and 40 or 0
end

local alpha, speed = 0.2, 0.25                      -- thin water moves alpha dx/dt, m/s

return sel.aqua {
  ground       = ground,
  size         = { nx, ny },
  dx           = dx,
  alpha        = alpha,
  dt           = alpha * dx / speed,                -- s
  equilibrium  = "mindiff",
  rain         = shower,
  infiltration = 5,                                 -- mm/h
  regions = {
    { name = "divide", where = shape.faces, law = law.wall {} },
    { name = "mouth",  where = shape.face "x-"
        * shape.box { min = { -dx, middle - 40 }, max = { dx, middle + 40 } },
                       law = law.open {} },
  },
  stop   = { time = 3 * 3600 },
  output = {
    out.flux    { name = "hydrograph", region = "mouth", interval = 60 },        -- m3/s
    out.balance { interval = 60 },
    out.grid    { field = "max_depth" },
    out.picture { field = "depth", relief = "ground", above = 0.02, interval = 1800 },
  },
}
