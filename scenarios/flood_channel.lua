-- The equations of flood.lua in a channel whose solution is known: a lake at rest over hills,
-- uniform flow down a slope, the wave of Hunter et al. (2005) that runs onto a dry plane, and the
-- film of steady rain on a slope, whose depth at x is Manning's (rain x n / sqrt(slope))^(3/5).
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  case  = { "wave", "what flows", choices = { "lake", "slope", "wave", "rain" } },
  dx    = { 50, "side of a cell, m", choices = { 10, 25, 50 } },
  n     = { 0.03, "Manning's roughness, s/m^(1/3)" },
  slope = { 0.001, "of the uniform flow, and under the rain" },
  depth = { 1, "of the uniform flow, m" },
  rain  = { 20, "of the case rain, mm/h" },
  max   = { 10, "longest step, s" },
  dem   = { "channel_50.asc", "a flat terrain of that dx", file = true },
}
local dem = p.dem:gsub("50", p.dx)
local rain = p.case == "rain" and p.rain or 0
local channel = sel.load("flood.lua", { dem = dem, n = p.n, rain = rain })
local u, hour = 1, 3600                                   -- velocity of the wave's front, m/s

local function wave(x, t)
  return (7 / 3 * p.n ^ 2 * u ^ 2 * math.max(u * t - x, 0)) ^ (3 / 7)
end

channel.size = { 5000 // p.dx, 4 }
channel.origin = { 0, 0 }
channel.output = { out.balance {}, out.profile { name = "axis", field = { "h", "q_x" },
  from = { 0, 1.5 * p.dx }, to = { 5000, 1.5 * p.dx } } }
channel.regions = { { name = "walls", where = shape.faces,
  law = { q = law.fixed { 0, 0 }, open = law.fixed { 0 } } } }
channel.stop = { time = p.case == "rain" and 2 * hour or hour }
channel.dt.max = p.max

if p.case == "wave" then
  channel.data.z = 0
  channel.regions[2] = { name = "inflow", where = shape.face "x-",
    law = { q = law.fixed { function(t) return u * wave(0, t) end, 0 } } }
elseif p.case == "lake" then
  local function hills(x, y) return math.floor(192 * sel.noise(1, x / 400, y / 400)) / 64 end
  channel.data.z = hills                            -- in 64ths, so that levels are exact
  channel.initial = { h = function(x, y) return math.max(1 - hills(x, y), 0) end }
  channel.output[3] = out.reduce { name = "still", field = { "q_x", "q_y" }, op = "l2" }
elseif p.case == "rain" then
  channel.data.z = function(x) return -p.slope * x end
  channel.size = { 1000 // p.dx, 4 }
  channel.output[2].to = { 1000, 1.5 * p.dx }
  channel.regions[2] = { name = "outlet", where = shape.face "x+",
    law = { h = law.fixed { 0 }, open = law.fixed { 1 }, z = law.gradient { -p.slope } } }
else
  channel.data.z = function(x) return -p.slope * x end
  channel.initial = { h = p.depth }
  for k, face in ipairs { "x-", "x+" } do
    channel.regions[k + 1] = { name = face, where = shape.face(face), law = {
      h = law.mirror {}, q = law.mirror {}, open = law.mirror {},
      z = law.gradient { k == 1 and p.slope or -p.slope } } }
  end
end

return sel.rule(channel)
