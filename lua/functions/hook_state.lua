-- hook_state.lua -- run.state in a checkpoint: booleans, numbers, strings, and tables of them.
--
-- Returns the functions save(state) -> string and load(string) -> state. The argument is
-- value_text(value), for messages (hook.c).
local value_text = ...
local concat, pack, unpack = table.concat, string.pack, string.unpack
local format, sub, getmetatable, next = string.format, string.sub, getmetatable, next
local error, math_type, type = error, math.type, type

local DEEPEST = 100

-- The tag before each value. A table is TABLE key value key value ... END.
local END, FALSE, TRUE, INTEGER, NUMBER, STRING, TABLE = 0, 1, 2, 3, 4, 5, 6
local FORMATS = { [INTEGER] = "=j", [NUMBER] = "=d", [STRING] = "=s8" }

-- `path`: the keys that lead to the value; messages show "run.state.list[3]".
local function refuse(path, what)
  local names = { "run.state" }
  for i = 1, #path do
    local name = type(path[i]) == "string" and "." .. sub(path[i], 1, 64)
    names[i + 1] = name or "[" .. value_text(path[i]) .. "]"
  end
  error(format("%s is %s, which a checkpoint cannot keep; it keeps booleans, numbers, strings, and "
    .. "tables of them", sub(concat(names), 1, 200), what), 0)
end

-- Appends a value to `parts`. `seen`: the tables so far. Each may occur only once, since loading
-- would make a copy for each place.
local function put(parts, value, path, seen)
  local kind = type(value)
  if kind == "boolean" then
    parts[#parts + 1] = pack("B", value and TRUE or FALSE)
  elseif kind == "number" or kind == "string" then
    local tag = kind == "string" and STRING or math_type(value) == "integer" and INTEGER or NUMBER
    parts[#parts + 1] = pack("B", tag) .. pack(FORMATS[tag], value)
  elseif kind == "table" then
    local what = seen[value] and "a table that is found at two places"
      or #path == DEEPEST and "in more than 100 tables inside each other"
      or getmetatable(value) ~= nil and "a table with a metatable"
    if what then
      refuse(path, what)
    end
    seen[value] = true
    parts[#parts + 1] = pack("B", TABLE)
    for key, member in next, value do
      path[#path + 1] = key
      if type(key) == "table" then
        refuse(path, "under a key that is a table")
      end
      put(parts, key, path, seen)
      put(parts, member, path, seen)
      path[#path] = nil
    end
    parts[#parts + 1] = pack("B", END)
  else
    refuse(path, "a " .. kind)
  end
end

local function save(state)
  local parts = {}
  put(parts, state, {}, {})
  return concat(parts)
end

-- The value at position `at` of the string (nil: the end of a table), and the position after it.
local function get(bytes, at, depth)
  local tag
  tag, at = unpack("B", bytes, at)
  if FORMATS[tag] then
    return unpack(FORMATS[tag], bytes, at)
  elseif tag == END then
    return nil, at
  elseif tag == FALSE or tag == TRUE then
    return tag == TRUE, at
  elseif tag ~= TABLE then
    error("run.state of the checkpoint has a value of an unknown kind", 0)
  elseif depth == DEEPEST then
    error("run.state has more than 100 tables inside each other", 0)
  end
  local t = {}
  local key, behind = get(bytes, at, depth + 1)
  while key ~= nil do
    t[key], at = get(bytes, behind, depth + 1)
    if t[key] == nil then
      error("run.state of the checkpoint has a key without a value", 0)
    end
    key, behind = get(bytes, at, depth + 1)
  end
  return t, behind
end

local function load(bytes)
  local state = get(bytes, 1, 0)
  if type(state) ~= "table" then
    error("run.state of the checkpoint is no table", 0)
  end
  return state
end

return save, load
