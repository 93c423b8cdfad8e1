-- repl.lua -- the prompt of `selenite repl`: lines, and what they see beside a script's names: sim,
-- mask, picture. `host` is what C gives (repl.c), host.sim what the scenario returned.
local host = ...
local sel, sim = require "selenite", host.sim

local DEEPEST, MOST_ENTRIES, MOST_COLUMNS, PICTURE = 3, 40, 100, 800

-- A table that a constructor made opens with its name: shape.ball { centre = { 1, 2 } }.
local function text_of(value, depth)
  local name, parts = host.value_text(value), {}
  if type(value) ~= "table" or depth > DEEPEST then return name end
  for key, part in pairs(value) do
    local before = math.type(key) ~= "integer" and tostring(key) .. " = " or ""
    parts[#parts + 1] = before .. text_of(part, depth + 1)
    if #parts == MOST_ENTRIES then parts[#parts + 1] = "..." break end
  end
  local text = #parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }"
  return name == "table" and text or name .. " " .. text
end

local function show(...)
  for i = 1, select("#", ...) do print(text_of((select(i, ...)), 0)) end
end

-- ---- masks ----

-- The cells of a simulation, or of a shape as the only region of one: what host.mask returns.
local function cells_of(most, what, size, z)
  size = size or sim and sim.size or { 72, 24 }
  return assert(host.mask(host.value_text(what):find "^sel%." and what or sel.lbm {
    lattice = #size == 3 and "D3Q19" or "D2Q9", size = size, tau = 0.8, dx = sim and sim.dx,
    origin = sim and sim.origin, stop = { steps = 1 },
    regions = { { name = "shape", where = what, law = sel.law.wall {} },
                { name = "faces", where = sel.shape.rest, law = sel.law.wall {} } },
  }, most, z))
end

local function mask(...)
  local letters, width, legend = cells_of(MOST_COLUMNS, ...)
  for last = #letters, width, -width do print(letters:sub(last - width + 1, last)) end
  print(legend .. "; capital letters: cells beside faces")
end

local function picture(what, path, ...)
  local letters, width = cells_of(math.maxinteger, what, ...)
  local height = #letters // width
  local side = math.max(1, PICTURE // math.max(width, height))
  assert(host.draw(path, width * side, height * side, function(put)
    for at, letter in letters:gmatch("()(%a)") do
      local x, y = (at - 1) % width, height - 1 - (at - 1) // width
      put(x * side, y * side, side, side, 3 + letter:upper():byte() - ("A"):byte())
    end
  end))
end

-- ---- lines ----

local names = setmetatable({ sel = sel, shape = sel.shape, law = sel.law, out = sel.out, sim = sim,
  mask = mask, picture = picture }, { __index = _G })

-- A function of the lines, an expression or statements; nil at the end of the input.
local function read()
  local text = host.read("> ")
  while text do
    local value = load("return " .. text, "=line", "t", names)
    local chunk, why = load(text, "=line", "t", names)
    if value or chunk then return value or chunk end
    if not why:find("<eof>$") then return function() error(why, 0) end end
    local more = host.read(">> ")
    text = more and text .. "\n" .. more
  end
  return text == false and function() end or nil
end

for chunk in read do
  local fine, why = pcall(function() show(chunk()) end)
  if not fine then print((tostring(why):gsub("selenite:%d+: ", ""):gsub("^%(load%):", "line "))) end
end
