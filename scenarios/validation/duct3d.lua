-- The square duct against its series.
local v = ...

-- u over G a^2 / nu at y and z from the middle, in half widths.
local function exact(y, z)
  local sum = 0
  for n = 1, 99, 2 do
    -- cosh(n pi z / 2) / cosh(n pi / 2), without large numbers.
    local q = n * math.pi / 2
    local ratio = (math.exp(q * (z - 1)) + math.exp(-q * (z + 1))) / (1 + math.exp(-2 * q))
    local sign = n % 4 == 1 and 1 or -1
    sum = sum + sign / n ^ 3 * (1 - ratio) * math.cos(q * y)
  end
  return 16 / math.pi ^ 3 * sum
end

return {
  about = "Square duct driven by an acceleration, TRT 3/16: u_max = 0.294685 G a^2 / nu and "
    .. "u_max / mean = 2.09626, the series solution.",
  run = function(c)
    local errors = {}
    for _, N in ipairs { 32, 64 } do
      local run = c:run("duct3d", { N = N })
      local p, a = run:last("profile"), N / 2
      local scale = 0.05 / 0.294685
      local series = v.map(p.y, function(y, i) return exact(y / a - 1, p.z[i] / a - 1) end)
      local here = v.map(p.velocity_x, function(u) return u / scale end)
      errors[N] = v.rms(v.map(here, function(u, i) return u - series[i] end)) / exact(0, 0)
      if N == 64 then
        c:gate { "64 cells: u_max nu / (G a^2)", computed = run.results.u_max,
          reference = 0.294685, within = 0.003, relative = true }
        c:gate { "64 cells: u_max / mean", computed = run.results.u_max_over_mean,
          reference = 2.09626, within = 0.003, relative = true }
        c:gate { "64 cells: rms error of the profile / u_max", computed = errors[N],
          reference = 0, within = 0.001 }
        local places = v.map(p.y, function(y) return y / a - 1 end)
        c:plot { title = "square duct, middle line", x = "y / a", y = "u nu / (G a^2)",
          lines = { { "here", places, here } }, points = { { "series", places, series } } }
      end
    end
    c:gate { "order from 32 to 64 cells", reference = 2, within = 0.2,
      computed = math.log(errors[32] / errors[64]) / math.log(2) }
  end,
}
