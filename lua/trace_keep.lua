-- trace_keep.lua -- save variables and tables outside of a function under trace, and restore them.
--
-- The upvalues of each function are kept when it is called first, but for functions that are made
-- meanwhile: what they change are locals of others. Tables are kept, with all that can be
-- reached from the function under trace, when the first function is called whose text gives a field
-- a value. After each path all is compared and put back: what is left would be symbols.
--
-- `host` is what C gives (trace_watch.c): Lua's debug library, and number(object), in the order in
-- which objects are made.
local host = ...
local getinfo, getmetatable = host.getinfo, host.getmetatable
local getupvalue, setupvalue = host.getupvalue, host.setupvalue
local format, math_type, next, sub = string.format, math.type, next, string.sub
local rawequal, rawget, rawset, type = rawequal, rawget, rawset, type

local MAX_VALUES = 200000 -- in the tables that are kept

local first -- the function under trace
local newest -- the number of the newest object when the trace began
local upvalues -- lists of those of each function that ran; false: it is newer
local copies -- of each table; nil: none are kept

local keep = {}

-- Begins a trace: no function has been called.
function keep.begin()
  first, upvalues, copies = nil, {}, nil
  newest = host.number(upvalues)
end

local function each_upvalue(f, i)
  local name, value = getupvalue(f, i + 1)
  if name then
    return i + 1, name, value
  end
end

-- Keeps the upvalues of the function; false when it was called before in this trace.
function keep.upvalues(f)
  if upvalues[f] ~= nil then
    return false
  end
  first = first or f
  upvalues[f] = host.number(f) < newest and {}
  if upvalues[f] then
    for i, _, value in each_upvalue, f, 0 do
      upvalues[f][i] = value
    end
  end
  return true
end

-- Keeps all tables that the function under trace can reach; why it is refused where they are too
-- large. The libraries, which the environment holds, cannot be changed.
function keep.tables()
  local reached, list, made, values = {}, {}, {}, 0
  local function note(value)
    local kind = type(value)
    if kind == "function" then
      local source = getinfo(value, "S").source
      kind = source ~= "=[C]" and source ~= "=selenite" and kind -- those change nothing
    end
    if (kind == "table" or kind == "function") and not reached[value] then
      reached[value] = true
      list[#list + 1] = value
    end
  end
  if copies then
    return
  end
  note(first)
  while #list > 0 do
    local from = list[#list]
    list[#list] = nil
    if type(from) == "table" then
      local copy = {}
      for key, value in next, from do
        values = values + 1
        if values > MAX_VALUES then
          return format("it changes tables, and those in its reach hold more than %d values",
            MAX_VALUES)
        end
        copy[key] = value
        note(key)
        note(value)
      end
      made[from] = copy
      note(getmetatable(from))
    else
      for _, name, value in each_upvalue, from, 0 do
        note(name ~= "_ENV" and value or nil)
      end
    end
  end
  copies = made
end

-- Are the values the same, also as NaN and as integers or floats?
local function same(a, b)
  local kind = math_type(a)
  if kind ~= math_type(b) then
    return false
  elseif kind == "float" and a == b then
    return a ~= 0 or 1 / a == 1 / b
  end
  return rawequal(a, b) or (kind == "float" and a ~= a and b ~= b)
end

-- Gives all keys of the table `from` the values that they have in `copy`, in `to`; false when one
-- had another.
local function put_back(from, to, copy)
  local unchanged = true
  for key in next, from do
    if not same(rawget(to, key), copy[key]) then
      unchanged = false
      rawset(to, key, copy[key])
    end
  end
  return unchanged
end

-- Puts back the upvalues and the tables that a path changed; why it is refused where one was.
function keep.restore()
  local reason
  for f, kept in next, upvalues do
    for i, name, value in each_upvalue, f, 0 do
      if kept and not rawequal(value, kept[i]) then
        reason = reason or format("it changes '%s', a variable outside of it", sub(name, 1, 40))
        setupvalue(f, i, kept[i])
      end
    end
  end
  for to, copy in next, copies or {} do
    local removed, added = put_back(copy, to, copy), put_back(to, to, copy)
    if not (removed and added) then
      reason = reason or "it changes a table outside of it"
    end
  end
  return reason
end

return keep
