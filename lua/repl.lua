-- repl.lua -- the prompt of `selenite repl`: lines, and what they see beside a script's names: sim,
-- mask, picture.
--
-- Returns a function of the next line. `host` is what C gives (repl.c), host.sim what the scenario
-- returned.
local host = ...
local sel, sim = require "selenite", host.sim

local DEEPEST, MOST_ENTRIES, MOST_COLUMNS, PICTURE = 3, 40, 100, 800

-- A table that a constructor made is opened by its name: shape.ball { centre = { 1, 2 } }.
local function text_of(value, depth)
  local group, name = host.kind(value)
  if type(value) ~= "table" or (depth > DEEPEST and not group) then
    return host.value_text(value)
  end
  local parts = {}
  for i, part in ipairs(value) do
    if i > MOST_ENTRIES then break end
    parts[i] = text_of(part, depth + 1)
  end
  for key, part in pairs(value) do
    if type(key) == "string" then parts[#parts + 1] = key .. " = " .. text_of(part, depth + 1) end
    if #parts > MOST_ENTRIES then parts[#parts + 1] = "..." break end
  end
  local before = group and group .. "." .. name .. " " or ""
  return before .. (#parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }")
end

-- ---- masks ----

-- The cells of a simulation, or of a shape as the only region of one.
local function cells_of(what, size, z)
  size = size or sim and sim.size or { 72, 24 }
  return host.mask(host.kind(what) == "sel" and what or sel.lbm {
    lattice = #size == 3 and "D3Q19" or "D2Q9", size = size, tau = 0.8, dx = sim and sim.dx,
    origin = sim and sim.origin, stop = { steps = 1 },
    regions = { { name = "shape", where = what, law = sel.law.wall {} },
                { name = "faces", where = sel.shape.rest, law = sel.law.wall {} } },
  }, z)
end

-- Small letters are regions of solids, large ones those of the face that a free cell touches.
local function mask(what, size, z)
  local width, height, solids, faces, names = cells_of(what, size, z)
  local stride = math.ceil(width / MOST_COLUMNS)
  local function letter(first, region) return string.char(first:byte() + (region - 1) % 26) end
  for y = (height - 1) // stride * stride, 0, -stride do
    local line = {}
    for x = 0, width - 1, stride do
      local solid, face = solids:byte(y * width + x + 1), faces:byte(y * width + x + 1)
      line[#line + 1] = solid > 0 and letter("a", solid) or face > 0 and letter("A", face) or "."
    end
    host.print(table.concat(line))
  end
  for r, name in ipairs(names) do names[r] = letter("a", r) .. " " .. name end
  host.print(table.concat(names, ", ") .. "; large letters: cells beside faces"
    .. (stride > 1 and "; not every cell is shown" or ""))
end

local function picture(what, path, size, z)
  local width, height, solids, faces = cells_of(what, size, z)
  local side = math.max(1, PICTURE // math.max(width, height))
  host.draw(path, width * side, height * side, 1, function(put)
    for i = 1, width * height do
      local region = solids:byte(i) > 0 and solids:byte(i) or faces:byte(i)
      local x, y = (i - 1) % width, height - 1 - (i - 1) // width
      if region > 0 then put(x * side, y * side, side, side, 2 + region) end
    end
  end)
end

-- ---- lines ----

local names = setmetatable({ sel = sel, shape = sel.shape, law = sel.law, out = sel.out, sim = sim,
  mask = mask, picture = picture }, { __index = _G })

local function show(...)
  for i = 1, select("#", ...) do print(text_of((select(i, ...)), 0)) end
end

-- Reads lines until they are an expression or statements. Returns what runs them, or raises what is
-- wrong with them; nil at the end of the input.
return function()
  local text = host.read("> ")
  while text do
    local chunk, why = host.load("return " .. text, names)
    if not chunk then chunk, why = host.load(text, names) end
    if chunk then return function() show(chunk()) end end
    local more = why:find("<eof>$") and host.read(">> ")
    if not more then return function() error(why, 0) end end
    text = text .. "\n" .. more
  end
end
