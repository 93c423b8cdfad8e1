-- Heat in SI units: a warm room behind a brick wall with insulation. A concrete floor passes
-- through both, and heat leaves through it.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local W, H, dx = 0.40, 0.60, 0.01                   -- a cross-section, m; outdoors at x = 0
local function layer(from, to) return shape.box { min = { from, 0 }, max = { to, H } } end
local wool = layer(0.02, 0.12)
local floor = shape.box { min = { 0.02, 0.2 }, max = { W, 0.4 } }

return sel.heat {
  size = { W / dx, H / dx }, dx = dx,
  conductivity = sel.paint { 0.8, { wool, 0.035 }, { floor, 1.8 } },      -- W/(m K)
  capacity     = sel.paint { 1.5e6, { wool, 5e4 }, { floor, 2.1e6 } },    -- J/(m3 K)
  initial      = { temperature = function(x) return 20 * x / W end },     -- degrees C
  regions = {
    { name = "ends",     where = shape.face "y-" + shape.face "y+", law = law.insulated {} },
    { name = "outdoors", where = shape.face "x-",
      law = law.convective { h = 25, ambient = function(t)                -- W/(m2 K)
        return -5 + 5 * math.sin(2 * math.pi * t / 86400)
      end } },
    { name = "room",     where = shape.face "x+", law = law.convective { h = 8, ambient = 20 } },
  },
  stop   = { time = 4 * 86400 },
  output = {
    out.probe   { field = "temperature", interval = 3600,                 -- in wall and floor
                  at = { { 0.395, 0.1 }, { 0.395, 0.3 } } },
    out.flux    { name = "loss", region = "outdoors", interval = 3600 },  -- W per metre of depth
    out.balance { interval = 3600 },
    out.picture { field = "temperature" },
  },
}
