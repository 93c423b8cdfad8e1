-- selenite.lua -- the scenario library, the result of `require "selenite"`; and strict globals.
--
-- `host` has the functions of library.c. The constructors come from the engine's lists of fields,
-- so a new solver, law, shape or output needs no change here.
local host = ...

local find, format, concat = string.find, string.format, table.concat
local max, min = math.max, math.min

-- For a start from rest. The slope is 0 at both ends, so that pressure waves stay small. The first
-- arguments of min and max may be NaN, which is their result then.
local function ramp(t, T)
  if T > 0 then
    local s = max(min(t / T, 1), 0)
    return s * s * (3 - 2 * s)
  end
  error("sel.ramp(t, T): T must be above 0", 2)
end

-- A read-only view of a table; an unknown name is an error.
local function closed(what, members)
  local function unknown(_, key)
    local names = {}
    for name in pairs(members) do
      names[#names + 1] = #names < 32 and name or nil
    end
    local text = host.suggestion(type(key) == "string" and key or type(key), members)
    error(format("%s has no%s%s has %s", what, text,
      find(text, "; did you mean") and " It" or "; it", concat(names, ", ")), 2)
  end
  setmetatable(members, { __index = unknown })
  return setmetatable({}, {
    __index = members,
    __newindex = function() error(what .. " cannot be changed", 2) end,
    __pairs = function() return pairs(members) end,
    __metatable = false,
  })
end

local function operator(kind, sign)
  return function(a, b)
    if not (host.is_shape(a) and host.is_shape(b)) then
      error(format("shapes combine with shapes only: got %s beside '%s'",
        host.value_text(host.is_shape(a) and b or a), sign), 2)
    end
    return host.shape(kind, { a, b })
  end
end

local operators = host.shape_operators
operators.__add = operator("union", "+")
operators.__sub = operator("difference", "-")
operators.__mul = operator("intersection", "*")
operators.__metatable = false

-- SHAPE:moved { ... }
local function placed(kind, example, bare)
  return function(shape, fields)
    if not host.is_shape(shape) then
      error(format("write SHAPE:%s { ... }: got %s instead of a shape", kind,
        host.value_text(shape)), 2)
    elseif bare and type(fields) == bare then
      fields = { fields }
    elseif type(fields) ~= "table" then
      error(format("shape:%s takes a table, got %s: write SHAPE:%s { %s }", kind,
        host.value_text(fields), kind, example), 2)
    end
    return host.shape(kind, { shape, fields })
  end
end

operators.__index = {
  moved = placed("moved", "x, y, z"),
  rotated = placed("rotated", "angle = math.rad(30)"),
  scaled = placed("scaled", "factor", "number"),
}

local function face(name)
  if type(name) == "table" then
    name = rawget(name, 1)
  end
  if type(name) ~= "string" or not find(name, "^[xyz][-+]$") then
    error('shape.face takes "x-", "x+", "y-", "y+", "z-" or "z+", got ' .. host.value_text(name), 2)
  end
  return host.shape("face", { name })
end

local sel = {
  params = host.params, load = host.load,
  step = host.step, noise = host.noise, random = host.random, ramp = ramp,
  series = host.series, raster = host.raster, state = host.state,
  paint = host.paint, units = host.units,
}

-- Constructors return their argument, so that a script can edit a scenario that it loads.
local shape = host.groups.shape
shape.face, shape.faces, shape.rest = face, host.shape("faces", {}), host.shape("rest", {})
for group, members in pairs(host.groups) do
  if group == "sel" then
    for solver, constructor in pairs(members) do
      sel[solver] = constructor
    end
  else
    sel[group] = closed("sel." .. group, members)
  end
end

-- Globals that exist with --trust only.
local GUARDED = { os = true, io = true, debug = true, package = true, dofile = true,
  loadfile = true, collectgarbage = true, warn = true }

-- The environment of all chunks. It is empty, so that __newindex sees every write; reads fall back
-- to the table of globals.
local function make_environment(globals)
  local environment = {}
  local function name_of(key)
    return type(key) == "string" and key or type(key)
  end
  globals._G = environment
  for name in pairs(host.trust and {} or GUARDED) do
    globals[name] = nil
  end
  if not host.trust then
    globals.string.dump = nil
  end
  getmetatable("").__metatable = false
  setmetatable(globals, { __index = function(_, key)
    local name = name_of(key)
    error(GUARDED[name] and format("'%s' is closed to scenarios; --trust opens it", name)
      or "undeclared global" .. host.suggestion(name, globals), 2)
  end })
  return setmetatable(environment, {
    __index = globals,
    __newindex = function(_, key)
      local text = rawget(globals, key) == nil and "undeclared global '%s'; write 'local %s' first"
        or "global '%s' cannot be changed; write 'local %s' for one of your own"
      error(format(text, name_of(key), name_of(key)), 2)
    end,
    __metatable = false,
  })
end

return closed("selenite", sel), closed, make_environment(host.globals)
