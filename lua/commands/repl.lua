-- repl.lua -- the prompt of `selenite repl`: its lines, and their names beside those of a script:
-- sim, check, mask, picture, help. `host` has the functions of repl.c, and host.sim, the scenario's
-- result.
local host = ...
local sel, sim = require "selenite", host.sim
local byte, find, format, gmatch = string.byte, string.find, string.format, string.gmatch
local gsub, match, sub, upper = string.gsub, string.match, string.sub, string.upper

local DEEPEST, MOST_ENTRIES, MOST_COLUMNS, PICTURE = 3, 40, 100, 800

-- A value as text. A constructor's table begins with its name: shape.ball { centre = { 1, 2 } }.
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

-- host.mask of a simulation, or of a shape as the only region of a simulation.
local function cells_of(most, what, size, z)
  size = size or sim and sim.size or { 72, 24 }
  if type(size) ~= "table" then error("the size is a list of cells, such as { 72, 24 }", 0) end
  return assert(host.mask(find(host.value_text(what), "^sel%.") and what or sel.lbm {
    lattice = #size == 3 and "D3Q19" or "D2Q9", size = size, tau = 0.8, dx = sim and sim.dx,
    origin = sim and sim.origin, stop = { steps = 1 },
    regions = { { name = "shape", where = what, law = sel.law.wall {} },
                { name = "faces", where = sel.shape.rest, law = sel.law.wall {} } },
  }, most, z))
end

local function mask(...)
  local letters, width, legend = cells_of(MOST_COLUMNS, ...)
  for last = #letters, width, -width do print(sub(letters, last - width + 1, last)) end
  print(legend .. "; capital letters: cells beside faces")
end

local function picture(what, path, ...)
  if type(path) ~= "string" then
    error('picture(shape or sim, "mask.png", size): the path comes second, a text', 0)
  end
  path = host.path(path)
  local letters, width = cells_of(math.maxinteger, what, ...)
  local height = #letters // width
  local side = math.max(1, PICTURE // math.max(width, height))
  assert(host.draw(path, width * side, height * side, function(put)
    for at, letter in gmatch(letters, "()(%a)") do
      local x, y = (at - 1) % width, height - 1 - (at - 1) // width
      put(x * side, y * side, side, side, 3 + byte(upper(letter)) - byte "A")
    end
  end))
end

-- ---- checks and help ----

-- Prints a message. "line 3:2: ", line 2 of the text that began on line 3, becomes line 4.
local function tell(message)
  local text = gsub(tostring(message), "selenite:%d+: ", "")
  print((gsub(text, "line (%d+):(%d+)", function(first, more)
    return format("line %d", first + more - 1)
  end)))
end

local function check_whole(what)
  local fine, why = host.check(what or sim, true)
  if not fine then tell(why) end
end

-- "law.wall" for the constructor law.wall, for its table, or for its name.
local function name_of(what)
  for _, group in ipairs { "shape", "law", "out", "sel" } do
    for name, member in pairs(group == "sel" and sel or sel[group]) do
      if rawequal(member, what) then return group == "sel" and name or group .. "." .. name end
    end
  end
  return type(what) == "string" and what or what and host.value_text(what)
end

local function help(what)
  local fine, why = host.help(name_of(what))
  if not fine then tell(why) end
end

-- ---- lines ----

local names = setmetatable({ sel = sel, shape = sel.shape, law = sel.law, out = sel.out, sim = sim,
  check = check_whole, mask = mask, picture = picture, help = help }, { __index = _G })

-- `help` and `help WORD` are commands of the prompt, not Lua.
local function asks_for_help(text)
  local word = match(text, "^%s*help%s*(.-)%s*$")
  return word and not find(word, "[^%w_.+-]") and (word == "" or find(text, "^%s*help%s")) and
    function() help(word ~= "" and word or nil) end
end

-- Removes `local` from a line: a local variable would end with its line, a global one stays.
local function without_local(text)
  local rest = match(text, "^%s*local%s+(function%s.*)")
  if rest then return rest end
  local list, values = match(text, "^%s*local%s+([%a_][%w_%s,]*)(.*)")
  if not list then return text end
  return values == "" and list .. " = nil" or find(values, "^=[^=]") and list .. values or text
end

-- Reads lines until they are an expression or statements; returns the function. nil: end of input.
local function read()
  local text, first = host.read("> ")
  while text do
    local asked = asks_for_help(text)
    if asked then return asked end
    local value = host.compile("return " .. text, first, names)
    if value then return value end
    local chunk, why = host.compile(without_local(text), first, names)
    if chunk then return chunk end
    if not find(why, "<eof>$") then return function() error(why, 0) end end
    local more = host.read(">> ")
    text = more and text .. "\n" .. more
  end
  return text == false and function() end or nil
end

-- Prints the mistakes of new tables: those that a line returned or assigned, each once.
local function check_new(before, ...)
  local seen = {}
  local function check(value)
    if type(value) ~= "table" or seen[value] then return end
    seen[value] = true
    local fine, why = host.check(value)
    if not fine then tell(why) end
  end
  for i = 1, select("#", ...) do check((select(i, ...))) end
  for name, value in pairs(names) do
    if not rawequal(before[name], value) then check(value) end
  end
end

local function run(chunk)
  local before = {}
  for name, value in next, names do before[name] = value end
  local results = table.pack(chunk())
  show(table.unpack(results, 1, results.n))
  check_new(before, table.unpack(results, 1, results.n))
end

for chunk in read do
  local fine, why = pcall(run, chunk)
  if not fine then tell(why) end
end
