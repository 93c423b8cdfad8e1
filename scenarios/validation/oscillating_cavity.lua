-- The cube with an oscillating lid: the true Womersley numbers, the frequencies as printed, and the
-- test that tells flow from sound.
local v = ...

-- Degrees from one angle to another, from -180 to 180.
local function turn(from, to)
  return (to - from + 180) % 360 - 180
end

-- The row of the reference whose column has this value.
local function row_of(reference, column, value)
  for i, other in ipairs(reference[column]) do
    if math.abs(other - value) < 1e-6 then
      return i
    end
  end
  error("no reference at " .. value)
end

-- Places of the local maxima among evenly spaced points, each the top of the parabola through the
-- largest point and its neighbours, and their heights.
local function maxima(x, y)
  local places, heights = {}, {}
  for i = 2, #x - 1 do
    if y[i] > y[i - 1] and y[i] >= y[i + 1] then
      local slope, bend = (y[i + 1] - y[i - 1]) / 2, y[i + 1] - 2 * y[i] + y[i - 1]
      places[#places + 1] = x[i] - slope / bend * (x[i + 1] - x[i])
      heights[#heights + 1] = y[i] - slope ^ 2 / (2 * bend)
    end
  end
  return places, heights
end

return {
  about = "Cube with an oscillating lid, Rinaldi (2011), chapter 7: N = 32, U0 = 0.2, tau = 0.6, "
    .. "BGK. The references are an independent D3Q19 computation, not literature. With the "
    .. "frequencies as printed there are three maxima; the last two are sound of the lattice: half "
    .. "the Mach number at the same Reynolds and Womersley numbers moves them up by sqrt 2, and "
    .. "leaves the first one, that of the flow.",
  slow_on_cpu = "half an hour",
  run = function(c)
    local truth = c:reference("oscillating_cavity_true_womersley.csv")
    local found = { x = {}, y = {} }
    for _, Wo in ipairs { 1.6, 4, 8, 12, 20 } do
      local results = c:run("oscillating_cavity", { Wo = Wo }).results
      local row = row_of(truth, "Wo", Wo)
      c:gate { ("Wo %g: half-amplitude / U0"):format(Wo), computed = results.half_amplitude,
        reference = truth.halfampl[row], within = 0.02, relative = true }
      c:gate { ("Wo %g: phase, turned from the reference"):format(Wo), reference = 0, within = 3,
        computed = turn(truth.phase1_deg[row], results.phase) }
      found.x[#found.x + 1], found.y[#found.y + 1] = Wo, results.half_amplitude
    end
    c:plot { title = "oscillating cube, true Wo", x = "Wo", y = "half-amplitude / U0",
      lines = { { "independent", truth.Wo, truth.halfampl } },
      points = { { "here", found.x, found.y } } }

    -- Every 0.025 in Wo as printed, and what of it the reference has.
    local printed = c:reference("oscillating_cavity_as_printed.csv")
    local function sweep(first, last, more)
      local x, y = {}, {}
      for i = math.floor(first / 0.025 + 0.5), math.floor(last / 0.025 + 0.5) do
        local values = { Wo = i * 0.025, frequency = "as_printed" }
        for name, value in pairs(more or {}) do
          values[name] = value
        end
        x[#x + 1] = values.Wo
        y[#y + 1] = c:run("oscillating_cavity", values).results.half_amplitude
      end
      return x, y
    end
    local x, y = sweep(0.2, 1.7)
    local differences = {}
    for i = 1, #x, 2 do
      local row = row_of(printed, "Wo_L1", x[i])
      differences[#differences + 1] = y[i] - printed.halfampl[row]
    end
    c:gate { "as printed: rms - independent", computed = v.rms(differences),
      reference = 0, within = 0.005 }
    local places, heights = maxima(x, y)
    c:gate { "as printed: number of maxima", computed = #places, reference = 3, within = 0 }
    for i, place in ipairs { 0.36, 1.25, 1.5 } do
      c:gate { ("as printed: maximum %d at Wo"):format(i), computed = places[i] or 0 / 0,
        reference = place, within = 0.03 }
    end

    -- Half the Mach number, the same Re and Wo.
    local half = { tau = 0.55, U0 = 0.1 }
    local x_flow, y_flow = sweep(0.25, 0.5, half)
    local x_sound, y_sound = sweep(1.2, 2.35, half)
    local flow, flow_height = maxima(x_flow, y_flow)
    local sound = maxima(x_sound, y_sound)
    c:gate { "half Mach: flow's maximum over before", computed = (flow[1] or 0 / 0) / places[1],
      reference = 1, within = 0.05 }
    c:gate { "half Mach: its height over before", reference = 1, within = 0.04,
      computed = (flow_height[1] or 0 / 0) / heights[1] }
    for i = 1, 2 do
      c:gate { ("half Mach: sound's maximum %d over before"):format(i), reference = math.sqrt(2),
        computed = (sound[i] or 0 / 0) / places[i + 1], within = 0.08 }
    end
    c:plot { title = "oscillating cube, frequencies as printed", x = "Wo with L left out",
      y = "half-amplitude / U0",
      lines = { { "here", x, y }, { "half Mach, flow", x_flow, y_flow },
        { "half Mach, sound", x_sound, y_sound } },
      points = { { "independent", printed.Wo_L1, printed.halfampl } } }
  end,
}
