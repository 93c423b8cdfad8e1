-- A plate with edges of given temperature: factor of a step, steady state, test of the mean.
local v = ...

-- Steady temperature of the unit square, hot at y = 1, over that of the hot edge.
local function series(x, y)
  local sum = 0
  for n = 1, 199, 2 do
    local q = n * math.pi
    local ratio = math.exp(q * (y - 1)) * (1 - math.exp(-2 * q * y)) / (1 - math.exp(-2 * q))
    sum = sum + 4 / q * math.sin(q * x) * ratio
  end
  return sum
end

local function last(run)
  local p = run:csv("middle")
  return v.map({ p.temperature_1, p.temperature_2, p.temperature_3 }, function(t) return t[#t] end)
end

local function amplification(N, D)
  return 1 - 4 * D * (1 - math.cos(math.pi / (N - 1)))
end

return {
  about = "A plate of nodes with fixed edges. Each step multiplies half a sine wave by 1 - 4 D "
    .. "(1 - cos(pi / (N - 1))), which also says after which step the mean changes by less than "
    .. "1e-5. The steady temperatures under a hot edge are a series.",
  run = function(c)
    for _, D in ipairs { 0.1, 0.25 } do
      local N, steps = 33, 1000
      local run = c:run("heat2d_plate",
        { N = N, D = D, hot = "sine", epsilon = 0, steps = steps, precision = "f64" })
      c:gate { ("sine, D = %g: error after %d steps"):format(D, steps), reference = 0,
        within = 1e-12, computed = last(run)[2] / (100 * amplification(N, D) ^ steps) - 1 }
    end

    local N = 65
    local per_step = amplification(N, 0.25)
    local mean = 100 / (math.tan(math.pi / (2 * (N - 1))) * N) ^ 2
    local run = c:run("heat2d_plate", { N = N, hot = "sine", precision = "f64" })
    -- The run ends a step after the first one that changes the mean by 1e-5 or less.
    c:gate { "mean change 1e-5: last step", computed = run.steps, within = 0,
      reference = 2 + math.ceil(math.log(1e-5 / (mean * (1 - per_step))) / math.log(per_step)) }

    local errors = {}
    for _, n in ipairs { 17, 33, 65 } do
      local t = last(c:run("heat2d_plate", { N = n, epsilon = 1e-13, precision = "f64" }))
      errors[n] = math.abs(t[3] / 100 - series(0.5, 0.75))
      if n == 65 then
        c:gate { "hot edge: temperature at the centre", computed = t[2], reference = 25,
          within = 1e-7 }
        c:gate { "hot edge: at three quarters / T", computed = t[3] / 100,
          reference = series(0.5, 0.75), within = 2e-4 }
      end
    end
    c:gate { "hot edge: order from 33 to 65 nodes", reference = 2, within = 0.05,
      computed = math.log(errors[33] / errors[65]) / math.log(2) }
  end,
}
