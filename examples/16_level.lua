-- Runoff with a level as inlet: a tide comes over a beach and through the gap of a dyke.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local dx, nx, ny = 10, 40, 24                       -- 400 m x 240 m, the sea in the west
local period = 6 * 3600

local function ground(x, y)                         -- m; a beach, a dyke at x = 200 m with a gap
  local beach = -0.5 + 0.005 * x
  local dyke = 3 * math.exp(-((x - 200) / 15) ^ 2)
  return beach + (math.abs(y - 120) < 15 and 0 or dyke)
end

local function tide(t)                              -- m; low water at the start
  local s = t / period
  local rise = 4 * s * (1 - s)                      -- 0 at low, 1 at high water
  return -0.5 + 2 * rise * rise
end

return sel.aqua {
  ground      = ground,
  size        = { nx, ny },
  dx          = dx,
  alpha       = 0.2,
  dt          = 1,                                  -- s
  equilibrium = "mindiff",
  depth_limit = 4,                                  -- m; the deepest water to expect
  regions = {
    { name = "sea",   where = shape.face "x-", law = law.level { tide } },
    { name = "sides", where = shape.rest,      law = law.wall {} },
  },
  stop   = { time = period },
  output = {
    out.probe   { field = "level", interval = 60,
                  at = { { 100, 120 }, { 230, 120 }, { 230, 60 } } },
    out.flux    { name = "gap", across = { { 200, 144 }, { 200, 96 } }, interval = 60 },     -- m3/s
    out.balance { interval = 600 },
    out.grid    { field = "arrival_time" },
    out.picture { field = "depth", relief = "ground", above = 0.01, interval = 3600 },
  },
}
