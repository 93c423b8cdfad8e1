-- Vortices in a periodic cube: an exact solution, and the balance of energy of one that is not.
local v = ...

-- Half the sum of the squares of the three columns NAME_x, NAME_y and NAME_z, row by row.
local function half_square(columns, name)
  local x, y, z = columns[name .. "_x"], columns[name .. "_y"], columns[name .. "_z"]
  return v.map(x, function(_, i) return (x[i] ^ 2 + y[i] ^ 2 + z[i] ^ 2) / 2 end)
end

local function integral(times, values)
  local sum = 0
  for i = 2, #times do
    sum = sum + (values[i] + values[i - 1]) / 2 * (times[i] - times[i - 1])
  end
  return sum
end

return {
  about = "ABC flow is an exact solution of the Navier-Stokes equations in three dimensions; with "
    .. "velocity proportional to 1/N at fixed tau its error falls with the square of the cell "
    .. "size. Taylor-Green vortices at Re 20: what the energy loses is the integral of 2 nu "
    .. "enstrophy, and of nu times the square of the rate of strain.",
  run = function(c)
    local sizes, errors, Re, time = { 16, 32, 64 }, {}, 5, 3
    for i, N in ipairs(sizes) do
      local U, k = 1.28 / N, 2 * math.pi / N
      local run = c:run("taylor_green3d", { N = N, U = U, Re = Re, time = time, flow = "abc",
        precision = "f64" })
      local decay = math.exp(-U * k / Re * run.steps)
      local p = run:last("profile")
      errors[i] = v.rms(v.map(p.x, function(x, j)
        local exact = {
          x = math.sin(k * p.z[j]) + math.cos(k * p.y[j]),
          y = math.sin(k * x) + math.cos(k * p.z[j]),
          z = math.sin(k * p.y[j]) + math.cos(k * x),
        }
        local square = 0
        for axis, value in pairs(exact) do
          square = square + (p["velocity_" .. axis][j] / (U * decay) - value) ^ 2
        end
        return math.sqrt(square)
      end))
    end
    c:gate { "ABC flow: rms error at 64 cells", computed = errors[3], reference = 0, within = 0.01 }
    c:gate { "ABC flow: order from 32 to 64", reference = 2, within = 0.2,
      computed = math.log(errors[2] / errors[3]) / math.log(2) }
    local function log10(x) return math.log(x, 10) end
    c:plot { title = "ABC flow", x = "log10 N", y = "log10 error",
      lines = { { "here", v.map(sizes, log10), v.map(errors, log10) } },
      points = { { "second order", v.map(sizes, log10), v.map(sizes, function(N)
        return log10(errors[1]) - 2 * log10(N / 16)
      end) } } }

    local N, U = 64, 0.05
    local k = 2 * math.pi / N
    local nu = U / (k * 20)
    local means = c:run("taylor_green3d", { N = N, U = U, Re = 20 }):csv("root_mean_squares")
    local energy, enstrophy = half_square(means, "velocity"), half_square(means, "vorticity")
    local by_vorticity = v.map(enstrophy, function(value) return 2 * nu * value end)
    local by_strain = v.map(means.strain_rate, function(value) return nu * value ^ 2 end)
    local lost = energy[1] - energy[#energy]
    c:gate { "vortices: 2 nu enstrophy / loss of energy", reference = 1, within = 0.01,
      computed = integral(means.time, by_vorticity) / lost }
    c:gate { "vortices: nu S^2 / loss of energy", reference = 1, within = 0.003,
      computed = integral(means.time, by_strain) / lost }
    local times = v.map(means.time, function(t) return t * U * k end)
    local rates, middles = {}, {}
    for i = 2, #times, 4 do
      rates[#rates + 1] = (energy[i - 1] - energy[i]) / (times[i] - times[i - 1]) / U ^ 2
      middles[#middles + 1] = (times[i] + times[i - 1]) / 2
    end
    local function scaled(value) return value / (U ^ 3 * k) end
    c:plot { title = "Taylor-Green vortices, Re 20", x = "t U k", y = "dissipation / (U^3 k)",
      lines = { { "2 nu enstrophy", times, v.map(by_vorticity, scaled) },
        { "nu S^2", times, v.map(by_strain, scaled) } },
      points = { { "loss of energy", middles, rates } } }
  end,
}
