-- order.lua -- pairs and next in an order that is the same in every run.
--
-- Lua's own order depends on addresses and on the time. Here keys come in this order:
--
--   positive integers, other integers, floats   by value
--   strings                                     by bytes
--   false, true
--   functions, tables, threads, userdata        for Selenite's own code; refused in scripts
--
-- A table with the keys 1 to n alone is visited by Lua's own next, which has that order. For other
-- tables pairs creates a walk: the sorted list of keys, with
--
--   of      the table
--   at      the position of the key visited last
--   object  the type of a key that is an object; nil: there is none
local error, math_type, rawequal, rawget, type = error, math.type, rawequal, rawget, type
local raw_next, raw_pairs, select, sort = next, pairs, select, table.sort
local format = string.format

-- The rank of each kind of key; integers below 1 and `true` have the rank after their kind's.
local RANKS = { integer = 1, float = 3, string = 4, boolean = 5, ["function"] = 7, table = 8,
  thread = 9, userdata = 10 }
local OBJECTS, LAST = 7, 10

-- Sorts keys of several kinds. Returns the type of a key that is an object; nil: there is none.
local function sort_mixed(keys)
  local lists, count, object = {}, 0, nil
  for i = 1, #keys do
    local key = keys[i]
    local kind = math_type(key) or type(key)
    local rank = RANKS[kind]
    if (kind == "integer" and key <= 0) or (kind == "boolean" and key) then
      rank = rank + 1
    end
    lists[rank] = lists[rank] or {}
    lists[rank][#lists[rank] + 1] = key
  end
  for rank = 1, LAST do
    local list = lists[rank] or {}
    if rank < OBJECTS then
      sort(list)
    end
    for i = 1, #list do
      count = count + 1
      keys[count] = list[i]
      object = rank >= OBJECTS and type(list[i]) or nil
    end
  end
  return object
end

-- Moves a walk to a key; to its end if it has no such key.
local function seek(walk, key)
  local at = 0
  while at < #walk and not rawequal(walk[at], key) do
    at = at + 1
  end
  walk.at = at
end

-- A walk over the keys of a table, before the first key; or, if `from` is not nil, at that key,
-- even if the table has lost it.
local function new_walk(t, from)
  local walk, count, strings, sorted = {}, 0, true, true
  for key in raw_next, t do
    count = count + 1
    walk[count] = key
    strings = strings and type(key) == "string"
    sorted = sorted and key == count
  end
  if from ~= nil and rawget(t, from) == nil then
    walk[count + 1], strings, sorted = from, false, false
  end
  if not sorted then
    walk.object = (strings and sort or sort_mixed)(walk)
  end
  walk.of, walk.at = t, 0
  if from ~= nil then
    seek(walk, from)
  end
  return walk
end

-- The next key of the walk that still has a value, and the value; at the end nil.
local function step(walk)
  if type(walk.of) ~= "table" then
    error("pairs gave this table, and it was changed", 2)
  end
  for at = walk.at + 1, #walk do
    local value = rawget(walk.of, walk[at])
    if value ~= nil then
      walk.at = at
      return walk[at], value
    end
  end
  return nil
end

-- The iterator that pairs returns.
local function next_of_walk(walk, key)
  if key == nil then
    walk.at = 0
  elseif not rawequal(walk[walk.at], key) then
    seek(walk, key)
  end
  return step(walk)
end

-- Whether Lua itself visits the keys as 1, 2, 3 ...
local function is_ordered(t)
  local last = 0
  for key in raw_next, t do
    if key ~= last + 1 then
      return false
    end
    last = key
  end
  return true
end

local function refuse(name, walk)
  if walk.object then
    error(format("%s: a %s is a key of the table, and objects have no order; visit a list of them, "
      .. "or take numbers or strings as keys", name, walk.object), 3)
  end
end

-- Creates pairs and next. They call `check` with their name and each new walk.
local function visitors(check)
  -- next keeps its walk between calls, so that a loop sorts once.
  local kept = {}

  local function ordered_pairs(...)
    if select("#", ...) == 0 then
      error("bad argument #1 to 'pairs' (value expected)", 2)
    end
    local follow, t, key = raw_pairs(...)
    if follow ~= raw_next or type(t) ~= "table" or is_ordered(t) then
      return follow, t, key -- those of __pairs, or Lua's own
    end
    local walk = new_walk(t)
    check("pairs", walk)
    return next_of_walk, walk, nil
  end

  local function ordered_next(t, key)
    if type(t) ~= "table" then
      error("bad argument #1 to 'next' (table expected, got " .. type(t) .. ")", 2)
    end
    if key == nil or not (rawequal(kept.of, t) and rawequal(kept[kept.at], key)) then
      kept = new_walk(t, key)
      check("next", kept)
    end
    return step(kept)
  end

  return ordered_pairs, ordered_next
end

local own_pairs, own_next = visitors(function() end)
return own_pairs, own_next, new_walk, visitors(refuse)
