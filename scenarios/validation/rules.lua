-- Rules of the script's own: automata with known numbers, waves, heat and floods with known
-- solutions.
local v = ...

local function automata(c)
  local life = c:run("life", {}):csv("population")
  for k, cells in pairs { [1102] = 118, [1103] = 116 } do
    c:gate { ("R-pentomino: cells of generation %d"):format(k), within = 0, reference = cells,
      computed = life.alive[k + 1] }
  end
  for n, grains in pairs { [2] = 8, [3] = 12, [4] = 40, [5] = 52, [8] = 136, [64] = 9320 } do
    c:gate { ("sandpile: grains of the identity of %d"):format(n), within = 0, reference = grains,
      computed = c:run("sandpile", { N = n }).results.grains }
  end
end

-- The place of the largest value of a column between two places.
local function peak(p, column, from, to)
  local best
  for i, y in ipairs(p.y) do
    if y > from and y < to and (not best or p[column][i] > p[column][best]) then
      best = i
    end
  end
  return p.y[best]
end

local function waves(c)
  local screen = c:run("double_slit", {}):last("screen")
  for _, side in ipairs { -1, 1 } do
    local name = side < 0 and "below" or "above"
    c:gate { ("double slit: first fringe %s the axis, cells"):format(name),
      computed = peak(screen, "energy", 150 + side * 65 - 25, 150 + side * 65 + 25) - 150,
      reference = side * 65, within = 2 }
  end
  c:plot { title = "Behind two slits", x = "y", y = "energy",
    lines = { { "at x = 340", screen.y, screen.energy } } }
end

-- After the pulse nothing but what the cold ground takes leaves, which is still far away.
local function heat(c)
  local b = c:run("two_temperatures", {}):csv("balance")
  local last, before = #b.energy, #b.energy - 10
  c:gate { "two temperatures: energy kept after the pulse", reference = 0, within = 1e-12,
    computed = (b.energy[last] - b.energy[before]) / b.energy_sum[last] }
end

-- Depth behind the front of the wave, and where it is `depth` deep.
local function wave_depth(x, t)
  return (7 / 3 * 0.03 ^ 2 * math.max(t - x, 0)) ^ (3 / 7)
end

local function front(p)
  local i = 1
  while p.h[i] > 0.05 do
    i = i + 1
  end
  return p.x[i - 1] + (p.x[i] - p.x[i - 1]) * (p.h[i - 1] - 0.05) / (p.h[i - 1] - p.h[i])
end

local function floods(c)
  local lake = c:run("flood_channel", { case = "lake" })
  local still = lake:csv("still")
  c:gate { "flood: discharge of a lake at rest", reference = 0, within = 0,
    computed = math.max(v.largest(still.q_x), v.largest(still.q_y)) }
  local water = lake:csv("balance")
  c:gate { "flood: water of the lake", reference = 0, within = 1e-12,
    computed = v.largest(water.h) / water.h_sum[1] }
  local slope = c:run("flood_channel", { case = "slope" }):last("axis")
  local exact = math.sqrt(0.001) / 0.03
  c:gate { "flood: uniform discharge", reference = 0, within = 1e-10,
    computed = v.largest(v.map(slope.q_x, function(q) return q / exact - 1 end)) }
  for _, dx in ipairs { 50, 25, 10 } do
    local p = c:run("flood_channel", { case = "wave", dx = dx }):last("axis")
    local t = p.time[1]
    c:gate { ("flood: wave on a dry plane, dx = %d m: rms of depth, m"):format(dx), reference = 0,
      within = 0.05,
      computed = v.rms(v.map(p.x, function(x, i) return p.h[i] - wave_depth(x, t) end)) }
    c:gate { ("flood: front of the wave, dx = %d m, over the true one"):format(dx), reference = 1,
      within = 0.02, computed = front(p) / (t - 0.05 ^ (7 / 3) / (7 / 3 * 0.03 ^ 2)) }
    c:gate { ("flood: least depth, dx = %d m"):format(dx), reference = 0, within = 0,
      computed = math.min(0, table.unpack(p.h)) }
  end
end

-- Depth under steady rain on a slope, over Manning's, whatever the longest step allowed. The depth
-- of
-- a cell is that of the discharge through the face below it.
local function films(c)
  for _, max in ipairs { 10, 3, 0.1 } do
    local p = c:run("flood_channel",
      { case = "rain", dx = 10, slope = 0.05, n = 0.05, max = max }):last("axis")
    local off = {}
    for i, x in ipairs(p.x) do
      if x > 100 and x < 900 then
        local exact = (20 / 3.6e6 * (x + 5) * 0.05 / math.sqrt(0.05)) ^ 0.6
        table.insert(off, p.h[i] / exact - 1)
      end
    end
    c:gate { ("flood: depth under rain over Manning's, steps up to %g s: rms"):format(max),
      reference = 0, within = 0.001, computed = v.rms(off) }
  end
end

return {
  about = "Rules written in scripts: the R-pentomino settles after 1,103 generations; sandpiles "
    .. "have identities; two slits make fringes; electrons and lattice of a metal keep their "
    .. "energy; the local inertial equations keep a lake at rest, flow uniformly down a slope and "
    .. "follow the wave of Hunter et al. (2005) on a dry plane; under steady rain the water on a "
    .. "slope is as deep as Manning's formula says.",
  run = function(c)
    automata(c)
    waves(c)
    heat(c)
    floods(c)
    films(c)
  end,
}
