-- A heat sink: one thick fin against its series, the fins' formula, the balance.
local v = ...

-- Temperature above the air's of a fin of thickness 2 b and height H through whose foot the flux q
-- enters, at x from its middle plane and y from its foot: the sum of the modes cos(l x) that meet h
-- on the sides, l tan(l b) = h / k, and h on the tip.
local function fin(b, H, h, k, q)
  local modes = {}
  for n = 0, 40 do
    local low, high = n * math.pi / b, (n + 0.5) * math.pi / b
    for _ = 1, 200 do
      local middle = 0.5 * (low + high)
      if middle * math.tan(middle * b) < h / k then
        low = middle
      else
        high = middle
      end
    end
    local l = 0.5 * (low + high)
    local part = 4 * math.sin(l * b) / (2 * l * b + math.sin(2 * l * b)) -- of 1 in this mode
    local tip = h / (k * l)
    local at_foot = 1 - math.exp(-2 * l * H) + tip * (1 + math.exp(-2 * l * H))
    modes[n + 1] = { l = l, tip = tip, amplitude = q * part / (k * l * at_foot) }
  end
  return function(x, y)
    local sum = 0
    for _, m in ipairs(modes) do
      local up, down = math.exp(-m.l * y), math.exp(-m.l * (2 * H - y))
      sum = sum + m.amplitude * math.cos(m.l * x) * (up + down + m.tip * (up - down))
    end
    return sum
  end
end

return {
  about = "A thick fin that heat enters through its foot, against the series of its modes; nine "
    .. "thin fins on a base of another metal, against the formula of a fin's efficiency; the "
    .. "balance of heat.",
  run = function(c)
    local h, q, ambient = 2000, 100 / (4e-3 * 60e-3), 25
    local exact = fin(2e-3, 20e-3, h, 237, q)
    local errors = {}
    for _, cell in ipairs { 1, 0.5, 0.25 } do
      local run = c:run("heat_sink", { fins = 1, fin = 4, chip = 4, base = 0, height = 20, h = h,
        cell = cell, steady = 1e-11 })
      local p = run:last("fin")
      local here = v.map(p.temperature, function(t) return t - ambient end)
      local series = v.map(p.y, function(y) return exact(0, y) end)
      errors[cell] = v.rms(v.map(here, function(t, i) return t / series[i] - 1 end))
      if cell == 0.25 then
        c:gate { "thick fin: rms error on its middle line", computed = errors[cell], reference = 0,
          within = 5e-5 }
        c:gate { "thick fin: heat that leaves / power", reference = 1, within = 1e-8,
          computed = -(run.results["balance.in_sides"] + run.results["balance.in_tips"])
            / run.results["balance.in_chip"] }
        c:plot { title = "middle line of a thick fin", x = "y, m", y = "T - T of the air, K",
          lines = { { "here", p.y, here } }, points = { { "series", p.y, series } } }
      end
    end
    c:gate { "thick fin: order from 0.5 to 0.25 mm", reference = 2, within = 0.05,
      computed = math.log(errors[0.5] / errors[0.25]) / math.log(2) }

    local r = c:run("heat_sink", { steady = 1e-8 }).results
    c:gate { "nine fins: efficiency of the middle one", computed = r.efficiency,
      reference = r.efficiency_formula, within = 1e-3 }
    c:gate { "nine fins: heat that leaves / power", reference = 1, within = 1e-5,
      computed = -(r["balance.in_sides"] + r["balance.in_tips"] + r["balance.in_gaps"])
        / r["balance.in_chip"] }
    c:gate { "nine fins: error of the balance", computed = r["balance.error"], reference = 0,
      within = 1e-9 }
  end,
}
