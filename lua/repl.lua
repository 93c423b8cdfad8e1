-- repl.lua -- what the prompt of `selenite repl` has beside a script's names: sim, mask, picture.
--
-- Returns the names that lines see, and show(values), which prints what a line returned. `host` is
-- what C gives (repl.c), `sim` what the scenario returned.
local host, sim = ...
local sel = require "selenite"

local DEEPEST, MOST_ENTRIES = 3, 40

-- A table that a constructor made is opened by its name: shape.ball { centre = { 1, 2 } }.
local function text_of(value, depth)
  local group, name = host.kind(value)
  if type(value) ~= "table" or (depth > DEEPEST and not group) then
    return host.value_text(value)
  end
  local parts = {}
  for i, part in ipairs(value) do parts[i] = text_of(part, depth + 1) end
  for key, part in pairs(value) do
    if type(key) == "string" then parts[#parts + 1] = key .. " = " .. text_of(part, depth + 1) end
    if #parts > MOST_ENTRIES then parts[#parts + 1] = "..." break end
  end
  local before = group and group .. "." .. name .. " " or ""
  return before .. (#parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }")
end

-- What can be masked: a simulation, or a shape as the only region of one.
local function simulation_of(what, size)
  if host.kind(what) == "sel" then return what end
  size = size or sim and sim.size or { 72, 24 }
  return sel.lbm {
    lattice = #size == 3 and "D3Q19" or "D2Q9", size = size, tau = 0.8, dx = sim and sim.dx,
    origin = sim and sim.origin, stop = { steps = 1 },
    regions = { { name = "shape", where = what, law = sel.law.wall {} },
                { name = "faces", where = sel.shape.rest, law = sel.law.wall {} } },
  }
end

local names = setmetatable({
  sel = sel, shape = sel.shape, law = sel.law, out = sel.out, sim = sim,
  mask = function(what, size, z) host.mask(simulation_of(what, size), z) end,
  picture = function(what, path, size, z) host.mask(simulation_of(what, size), z, path) end,
}, { __index = _G })

return names, function(...)
  for i = 1, select("#", ...) do print(text_of((select(i, ...)), 0)) end
end
