-- Womersley flow in a channel: amplitude and phase across the channel.
local v = ...

-- Complex numbers as pairs: what the exact solution needs.
local function mul(a, b) return { a[1] * b[1] - a[2] * b[2], a[1] * b[2] + a[2] * b[1] } end
local function div(a, b)
  local n = b[1] * b[1] + b[2] * b[2]
  return { (a[1] * b[1] + a[2] * b[2]) / n, (a[2] * b[1] - a[1] * b[2]) / n }
end
local function cosh(z)
  local e, f = math.exp(z[1]), math.exp(-z[1])
  return { (e + f) / 2 * math.cos(z[2]), (e - f) / 2 * math.sin(z[2]) }
end

-- 1 / i (1 - cosh(q y) / cosh(q a)) with q a = Wo sqrt(i): the velocity over G / omega.
local function exact(y, a, Wo)
  local q = { Wo / a / math.sqrt(2), Wo / a / math.sqrt(2) }
  local ratio = div(cosh(mul(q, { y, 0 })), cosh(mul(q, { a, 0 })))
  return div({ 1 - ratio[1], -ratio[2] }, { 0, 1 })
end

return {
  about = "Oscillating flow in a plane channel: amplitude and phase of the velocity in every cell, "
    .. "against the exact solution, relative to the largest amplitude.",
  run = function(c)
    local H, a, u = 80, 40, 0.02
    local lines, points = {}, {}
    for _, drive in ipairs { "force", "pressure" } do
      for _, Wo in ipairs(drive == "force" and { 2, 5, 10 } or { 5 }) do
        local run = c:run("womersley_channel", { Wo = Wo, H = H, drive = drive, u = u })
        local all = run:csv("profile")
        local T = 32 * math.max(1, math.floor(2 * math.pi * (a / Wo) ^ 2 * 30 / 32 + 0.5))
        local omega = 2 * math.pi / T
        local nu = omega * (a / Wo) ^ 2
        local scale = u * math.max(omega, 2 * nu / a ^ 2) / omega
        -- 32 samples of the last period for each of the H cells, a cell after the other.
        local first = #all.step - 32 * H
        local worst_amplitude, worst_phase, largest = 0, 0, 0
        local rows = {}
        for j = 1, H do
          local times, values = {}, {}
          for k = 0, 31 do
            local row = first + k * H + j
            times[k + 1], values[k + 1] = all.time[row], all.velocity_x[row]
          end
          local y = all.y[first + j] - a
          local amplitude, phase = v.harmonic(times, values, omega)
          local z = exact(y, a, Wo)
          rows[j] = { y = y, amplitude = amplitude / scale, phase = phase,
            exact = math.sqrt(z[1] ^ 2 + z[2] ^ 2), exact_phase = math.atan(-z[2], z[1]) }
          largest = math.max(largest, rows[j].exact)
        end
        for _, r in ipairs(rows) do
          worst_amplitude = math.max(worst_amplitude, math.abs(r.amplitude - r.exact) / largest)
          local lag = math.abs((r.phase - r.exact_phase + math.pi) % (2 * math.pi) - math.pi)
          worst_phase = math.max(worst_phase, lag / (2 * math.pi) * r.exact / largest)
        end
        local name = ("%s, Wo %g"):format(drive, Wo)
        c:gate { name .. ": amplitude", computed = worst_amplitude, reference = 0, within = 0.01 }
        c:gate { name .. ": phase / 2 pi, weighted", computed = worst_phase, reference = 0,
          within = 0.01 }
        if drive == "force" then
          local ys = v.map(rows, function(r) return r.y / a end)
          lines[#lines + 1] = { name, ys, v.map(rows, function(r) return r.amplitude end) }
          points[#points + 1] = { name .. ", exact", ys,
            v.map(rows, function(r) return r.exact end) }
        end
      end
    end
    c:plot { title = "amplitude across the channel", x = "y / a", y = "|u| omega / G",
      lines = lines, points = points }
  end,
}
