-- AQUA-GRAPH against its exact solutions: a film and rain on a plane, deep water, a bowl.
local v = ...

-- P(B = k) for k = 0 ... most, B binomial of n steps with probability alpha.
local function binomial(n, alpha, most)
  local law = { [0] = math.exp(n * math.log(1 - alpha)) }
  for k = 1, most do
    law[k] = law[k - 1] * (n - k + 1) / k * alpha / (1 - alpha)
  end
  return law
end

local function millimetres(depths)
  return v.map(depths, function(w) return 1e3 * w end)
end

-- The numbers of the thesis with `fill`; the others on a smaller plane.
local function film(c, equilibrium)
  local alpha, depth, pulse, below = 0.005, 1e-3, 0.03, 10
  local N = equilibrium == "fill" and 512 or 64
  local run = c:run("aqua_plane", { N = N, equilibrium = equilibrium })
  local passing, centre = run:csv("passing"), run:csv("centre")
  local exact = v.map(passing.step, function(n)
    local law, sum = binomial(n, alpha, below), 0
    for k = 0, below do
      sum = sum + law[k]
    end
    return depth * sum + (pulse - depth) * law[below]
  end)
  c:gate { ("film, %s: largest error / pulse"):format(equilibrium), reference = 0, within = 1e-14,
    computed = v.largest(v.map(exact, function(w, i) return (passing.depth[i] - w) / pulse end)) }
  if N == 64 then
    return
  end
  c:gate { "film, fill: change of the centre / depth", reference = 0, within = 1e-14,
    computed = v.largest(v.map(centre.depth, function(w) return w / depth - 1 end)) }
  c:plot { title = "Pulse on a plane", x = "step", y = "depth (mm)",
    lines = {
      { "10 rows below the edge", passing.step, millimetres(passing.depth) },
      { "the central cell", centre.step, millimetres(centre.depth) },
    },
    points = { { "binomial law", passing.step, v.map(exact, function(w, i)
      return i % 10 == 1 and 1e3 * w or 0 / 0
    end) } } }
end

local function rain(c, equilibrium)
  local N, alpha, per_step = 64, 0.25, 1e-6 -- 3.6 mm/h
  local run = c:run("aqua_plane", { N = N, alpha = alpha, rain = 3.6, depth = 0, pulse = 0,
    steps = 3000, equilibrium = equilibrium })
  local p, outflow = run:last("profile"), run:csv("outflow")
  c:gate { ("rain, %s: largest error of depth"):format(equilibrium), reference = 0, within = 1e-12,
    computed = v.largest(v.map(p.y, function(y, i)
      return p.depth[i] / ((N - y + 0.5) * per_step / alpha - per_step) - 1
    end)) }
  c:gate { ("rain, %s: outflow / rain"):format(equilibrium), reference = 1, within = 1e-12,
    computed = outflow.flux[#outflow.flux] / (N * N * per_step) }
end

local function wave(c, equilibrium)
  local N, alpha, steps = 128, 0.2, 1000
  local p = c:run("aqua_wave", { N = N, alpha = alpha, steps = steps, equilibrium = equilibrium })
    :csv("profile")
  local amplitude = { [0] = 0, [steps] = 0 }
  local k = 2 * math.pi / N
  for i, x in ipairs(p.x) do
    amplitude[p.step[i]] = amplitude[p.step[i]] + 2 / N * p.depth[i] * math.cos(k * x)
  end
  c:gate { ("deep water, %s: diffusivity / alpha"):format(equilibrium), reference = 0.75,
    within = 0.01, relative = true,
    computed = math.log(amplitude[0] / amplitude[steps]) / (k * k * steps * alpha) }
end

-- The level at which the water of the first quarter, 0.6 m deep, stands in the bowl, by bisection.
local function level_of_bowl(N, D)
  local ground = {}
  for j = 1, N do
    for i = 1, N do
      local x, y = (i - 0.5) * 2 / N - 1, (j - 0.5) * 2 / N - 1
      ground[#ground + 1] = D * (x * x + 1.5 * y * y)
    end
  end
  local low, high = 0, 3 * D + 1
  for _ = 1, 200 do
    local middle, sum = 0.5 * (low + high), 0
    for _, h in ipairs(ground) do
      sum = sum + math.max(0, middle - h)
    end
    if sum > 0.6 * N * N / 4 then
      high = middle
    else
      low = middle
    end
  end
  return 0.5 * (low + high)
end

local function bowl(c, equilibrium)
  local run = c:run("bowl", { N = 32, D = 0.5, equilibrium = equilibrium })
  local exact = level_of_bowl(32, 0.5)
  for _, which in ipairs { "level", "lowest" } do
    local level = run:csv(which).level
    local name = which == "level" and "highest" or which
    c:gate { ("bowl, %s: %s level, m"):format(equilibrium, name), computed = level[#level],
      reference = exact, within = 1e-8 }
  end
end

return {
  about = "AQUA-GRAPH, double precision: a pulse of thin water on a plane is a binomial law, "
    .. "steady rain makes known depths, a long wave on deep water decays by 3/4 alpha, and water "
    .. "in a closed bowl comes to the level of its volume.",
  run = function(c)
    for _, equilibrium in ipairs { "fill", "mean", "mindiff" } do
      film(c, equilibrium)
      rain(c, equilibrium)
      wave(c, equilibrium)
      bowl(c, equilibrium)
    end
  end,
}
