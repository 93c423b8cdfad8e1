-- order.lua -- pairs and next in an order that is the same in every run.
--
-- Lua's own order depends on addresses and on the time. Here numbers come first, by value: 1, 2, 3
-- and so on, then the other integers, then the other numbers; then strings, byte by byte; false and
-- true; and last tables, functions and other objects as they were made. Tables with keys 1 to n
-- alone are in that order as they are, and Lua's own next visits them. For others pairs makes a
-- walk: a list of the keys, `of` the table that they are of, `at` the position of the last visited.
--
-- `number` is what C gives (sandbox.c): of an object, in the order in which they are made.
local number = ...
local error, math_type, rawequal, rawget, type = error, math.type, rawequal, rawget, type
local raw_next, raw_pairs, select, sort = next, pairs, select, table.sort

-- Kinds of keys in order; integers below 1 and `true` come one behind the others of their kind.
local RANKS, OBJECT = { integer = 1, float = 3, string = 4, boolean = 5 }, 7

-- Sorts keys of several kinds.
local function sort_mixed(keys)
  local lists, objects, count = {}, {}, 0
  for i = 1, #keys do
    local key = keys[i]
    local kind = math_type(key) or type(key)
    local rank = RANKS[kind] or OBJECT
    if (kind == "integer" and key <= 0) or (kind == "boolean" and key) then
      rank = rank + 1
    elseif rank == OBJECT then
      objects[number(key)], key = key, number(key)
    end
    lists[rank] = lists[rank] or {}
    lists[rank][#lists[rank] + 1] = key
  end
  for rank = 1, OBJECT do
    local list = lists[rank] or {}
    sort(list)
    for i = 1, #list do
      count = count + 1
      keys[count] = rank == OBJECT and objects[list[i]] or list[i]
    end
  end
end

-- Goes to this key of a walk; to its end where there is none.
local function seek(walk, key)
  local at = 0
  while at < #walk and not rawequal(walk[at], key) do
    at = at + 1
  end
  walk.at = at
end

-- A walk over the keys of the table, before its first key or, where `from` is not nil, at that one,
-- which the table may have lost.
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
    (strings and sort or sort_mixed)(walk)
  end
  walk.of, walk.at = t, 0
  if from ~= nil then
    seek(walk, from)
  end
  return walk
end

-- The next key of the walk that has a value, and the value; at the end nil alone.
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

-- What pairs gives a loop to call.
local function next_of_walk(walk, key)
  if key == nil then
    walk.at = 0
  elseif not rawequal(walk[walk.at], key) then
    seek(walk, key)
  end
  return step(walk)
end

-- Whether Lua visits the keys in order: 1, 2, 3 ...
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

local function ordered_pairs(...)
  if select("#", ...) == 0 then
    error("bad argument #1 to 'pairs' (value expected)", 2)
  end
  local follow, t, key = raw_pairs(...)
  if follow ~= raw_next or type(t) ~= "table" or is_ordered(t) then
    return follow, t, key -- that of __pairs, or Lua's own
  end
  return next_of_walk, new_walk(t), nil
end

-- The walk is kept from call to call, so that a loop does not sort in each step.
local kept = {}

local function ordered_next(t, key)
  if type(t) ~= "table" then
    error("bad argument #1 to 'next' (table expected, got " .. type(t) .. ")", 2)
  end
  if key == nil or not (rawequal(kept.of, t) and rawequal(kept[kept.at], key)) then
    kept = new_walk(t, key)
  end
  return step(kept)
end

return ordered_pairs, ordered_next, new_walk
