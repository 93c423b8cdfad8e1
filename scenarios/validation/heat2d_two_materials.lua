-- Two materials: the update of the paper number by number, and a wall of two layers.

-- Temperatures of the rows boundary - 2 to boundary + 1 in the middle column after some steps of
-- T' = (1 - alpha) T + alpha / 4 (sum of the neighbours); row 0 is the top.
local function paper(N, boundary, alpha_1, alpha_2, steps)
  local before, after = {}, {}
  for i = 0, N - 1 do
    before[i], after[i] = {}, {}
    for j = 0, N - 1 do
      local hot = i == 0 and j > 0 and j < N - 1
      before[i][j], after[i][j] = hot and 100 or 0, hot and 100 or 0
    end
  end
  for _ = 1, steps do
    for i = 1, N - 2 do
      local alpha = i < boundary and alpha_1 or alpha_2
      local up, here, down, to = before[i - 1], before[i], before[i + 1], after[i]
      for j = 1, N - 2 do
        to[j] = (1 - alpha) * here[j] + alpha / 4 * (up[j] + down[j] + here[j - 1] + here[j + 1])
      end
    end
    before, after = after, before
  end
  local t = {}
  for k = 1, 4 do
    t[k] = before[boundary + k - 3][N // 2]
  end
  return t
end

local function last(run)
  local p, t = run:csv("boundary"), {}
  for k = 1, 4 do
    local column = p["temperature_" .. k]
    t[k] = column[#column]
  end
  return t
end

local v = ...
local N, boundary, alpha_1, alpha_2 = 33, 12, 0.9, 0.3

local function run(c, differ, sides, steps)
  return c:run("heat2d_two_materials", { N = N, boundary_row = boundary, alpha_1 = alpha_1,
    alpha_2 = alpha_2, differ = differ, sides = sides, iterations = steps })
end

local function difference(a, b)
  return v.largest(v.map(a, function(t, k) return t - b[k] end))
end

return {
  about = "Two materials that meet between two rows of nodes. As capacities they follow the update "
    .. "of the paper to round-off; as conductivities, and between insulated sides, the steady "
    .. "state is that of two layers in series.",
  run = function(c)
    c:gate { "capacities: error against the paper",
      reference = 0, within = 1e-12,
      computed = difference(last(run(c, "capacity", "fixed", 500)),
        paper(N, boundary, alpha_1, alpha_2, 500)) }

    local first, second = boundary - 0.5, N - boundary - 0.5 -- thickness of the layers
    local wall = run(c, "conductivity", "insulated", 40000)
    local flux = 100 / (first / (alpha_1 / 4) + second / (alpha_2 / 4))
    local below = flux * second / (alpha_2 / 4) -- temperature where they meet
    local exact = {
      below + 1.5 * flux / (alpha_1 / 4), below + 0.5 * flux / (alpha_1 / 4),
      below - 0.5 * flux / (alpha_2 / 4), below - 1.5 * flux / (alpha_2 / 4),
    }
    c:gate { "conductivities: error beside the boundary", reference = 0, within = 1e-9,
      computed = difference(last(wall), exact) }
    c:gate { "conductivities: heat that passes", reference = flux * (N - 1), within = 1e-11,
      relative = true, computed = wall.results["balance.in_top"] }

    local straight = {}
    for k = 1, 4 do
      straight[k] = 100 * (1 - (boundary + k - 3) / (N - 1))
    end
    c:gate { "capacities: error beside the boundary", reference = 0, within = 1e-9,
      computed = difference(last(run(c, "capacity", "insulated", 40000)), straight) }
  end,
}
