-- read_library.lua -- calls of Lua's and Selenite's library on symbolic values; results of a
-- function.
local V = ...
local build, constant, op, metatable = V.build, V.constant, V.op, V.getmetatable
local max, min, huge, math_type = math.max, math.min, math.huge, math.type
local unpack, pack, next, pcall, select = table.unpack, table.pack, next, pcall, select
local rawget, setmetatable, type = rawget, setmetatable, type
local gmatch, log, upper = string.gmatch, math.log, string.upper
local SYMBOL, CELL, CLOSURE, class_of = V.SYMBOL, V.CELL, V.CLOSURE, V.class_of
local name_of, refuse, mistake, fail_unless = V.name_of, V.refuse, V.mistake, V.fail_unless
local number, is_number, lift, pick, merge = V.number, V.is_number, V.lift, V.pick, V.merge
local is_condition, truth, resolve, value_of = V.is_condition, V.truth, V.resolve, V.value_of
local compute, call_native, handler_of = V.compute, V.call_native, V.handler_of
local resolve_table = V.resolve_table

local LIMIT <const> = 0x1p53

-- ---- functions of the library ----

-- By function: NATIVE, the name of one that Lua may run, since it passes symbols on or gets none;
-- HANDLERS, what replaces it where an argument is a symbol.
local NATIVE, HANDLERS = {}, {}
local BASE = "ipairs pairs next select rawget rawlen rawequal tostring tonumber getmetatable"
for name in gmatch(BASE, "%w+") do
  NATIVE[V.globals[name]] = name
end
local next_of_walk = V.globals.pairs { a = 1 } -- order.lua
NATIVE[(ipairs {})], NATIVE[(V.globals.pairs {})] = "ipairs", "next"
NATIVE[next_of_walk] = "next"
for _, library in next, { math, string, table } do
  for name, f in next, library do
    NATIVE[f] = name
  end
end
for _, f in next, { math.random, math.randomseed, string.gsub, string.dump, table.insert,
  table.remove, table.sort, table.move } do
  NATIVE[f] = nil
end
local NAMES = {} -- for messages
for _, library in next, { V.globals, coroutine, utf8 } do
  for name, f in next, library do
    NAMES[f] = name
  end
end
-- Functions that use no metatable of their arguments; and functions that only pass the members of a
-- table on, so that these may be symbols.
local IGNORE_METATABLES = { rawget = true, rawlen = true, rawequal = true, next = true,
  select = true, getmetatable = true, type = true }
local LEAVE_MEMBERS = { ipairs = true, pairs = true, unpack = true }
for name in next, IGNORE_METATABLES do
  LEAVE_MEMBERS[name] = true
end

-- The nodes of math's functions follow lmathlib.c.
local function unary(name)
  return function(a) return number(build(op[name], lift(a).n)) end
end

local function scaled(name, by)
  return function(a) return number(build(op[name], lift(a).n, constant(by))) end
end

local function rounded(name)
  return function(a)
    a = lift(a)
    if a.whole == true then
      return a
    end
    local n = build(op[name], a.n)
    local fits = build(op.LT, build(op.ABS, n), constant(LIMIT))
    fail_unless(a.whole and build(op.OR, a.whole, fits) or fits)
    return number(build(op.WHOLE, n), true, -LIMIT, LIMIT)
  end
end

-- math.min and math.max: the result is an integer where the argument chosen is one.
local function extreme(name)
  return function(first, ...)
    local found = lift(first)
    for i = 1, select("#", ...) do
      local a, b = found, lift((select(i, ...)))
      local second = name == "MAX" and build(op.LT, a.n, b.n) or build(op.LT, b.n, a.n)
      local whole = pick(second, b.whole, a.whole)
      local best = name == "MAX" and max or min
      local low, high = min(a.low or huge, b.low or huge), max(a.high or -huge, b.high or -huge)
      if whole == true and a.low and b.low then
        low, high = best(a.low, b.low), best(a.high, b.high)
      end
      found = lift(number(build(op[name], a.n, b.n), whole, low, high))
    end
    return number(found.n, found.whole, found.low, found.high)
  end
end

local half_turn <const> = 3.141592653589793238462643383279502884
local RECORDED = {
  floor = rounded "FLOOR", ceil = rounded "CEIL", max = extreme "MAX", min = extreme "MIN",
  deg = scaled("MUL", 180.0 / half_turn), rad = scaled("MUL", half_turn / 180.0),
  fmod = function(a, b) return compute("FMOD", a, b) end,
  pow = function(a, b) return number(build(op.CPOW, lift(a).n, lift(b).n)) end,
  atan = function(a, b) return number(build(op.ATAN2, lift(a).n, lift(b or 1).n)) end,
  abs = function(a)
    a = lift(a)
    local low = a.low and max(a.low, -a.high, 0.0)
    return number(build(op.ABS, a.n), a.whole, low, a.low and max(-a.low, a.high))
  end,
  -- The base decides the formula.
  log = function(a, base)
    if class_of(base) then
      refuse "the base of math.log on line %L is not a number known beforehand"
    end
    local name = base == 2 and "LOG2" or base == 10 and "LOG10" or "LOG"
    local n = build(op[name], lift(a).n)
    return number(base and name == "LOG" and build(op.DIV, n, constant(log(base))) or n)
  end,
  -- The integral part as a float, and the rest.
  modf = function(a)
    a = lift(a)
    local n, zero = a.n, constant(0)
    local part = build(op.SELECT, build(op.LT, n, zero), build(op.CEIL, n), build(op.FLOOR, n))
    local rest = build(op.SELECT, build(op.EQ, part, n), zero, build(op.SUB, n, part))
    return rounded "FLOOR"(number(part)), number(rest)
  end,
}
for name in gmatch("sqrt exp sin cos tan sinh cosh tanh asin acos log10", "%w+") do
  RECORDED[name] = unary(upper(name))
end
for name, f in next, RECORDED do
  if math[name] then
    HANDLERS[math[name]] = f
  end
end

HANDLERS[V.globals.type] = function(v)
  local name = name_of(v)
  return name == "cell" and "userdata" or name == "condition" and "boolean" or name
end
HANDLERS[math.type] = function(v)
  if class_of(v) ~= SYMBOL or v.condition then
    return nil
  elseif type(v.whole) ~= "boolean" then
    refuse "on line %L it asks for the type of a number that is an integer on some ways only"
  end
  return v.whole and "integer" or "float"
end
HANDLERS[math.tointeger] = function(v)
  v = lift(v)
  if v.whole ~= true then
    refuse "on line %L it asks whether a number is whole, which is known in a cell only"
  end
  return v
end

-- What replaces a function also where no argument is a symbol.
local ALWAYS = {
  [V.globals.error] = V.raise,
  [V.globals.assert] = function(v, ...)
    local c = V.truth(v)
    if c == false then
      V.raise()
    elseif c ~= true then
      fail_unless(c)
      V.assume(c)
    end
    return v, ...
  end,
  [V.globals.setmetatable] = function(t, meta)
    if type(t) ~= "table" or not V.is_made(t) or not V.is_new(t) or metatable(t) then
      refuse "on line %L it gives a metatable to a table that is not new"
    elseif class_of(meta) then
      mistake("it takes a %s for a metatable", name_of(meta))
    end
    return setmetatable(t, meta)
  end,
  [table.insert] = function(t, v, ...)
    if select("#", ...) > 0 then
      refuse "it inserts into a list on line %L elsewhere than at its end"
    end
    local length = V.operate("LEN", t)
    if math_type(length) ~= "integer" then
      refuse "on line %L it inserts into a list whose length is no whole number known beforehand"
    end
    V.assign(t, length + 1, v)
  end,
  [table.pack] = function(...) return V.made(pack(...)) end,
}

local LOOK_UPS = {} -- the look-ups that are functions: sel.noise; series and rasters are userdata

-- Calls a look-up. With symbols its node is NaN outside its data, where Lua reports the error.
local function look_up(f, list, symbols)
  if not symbols then
    local found, result = pcall(f, unpack(list, 1, list.n))
    return found and result or V.raise()
  end
  for i = 1, list.n do
    list[i] = lift(list[i]).n
  end
  local n = V.look_up(f, unpack(list, 1, list.n))
  fail_unless(build(op.EQ, n, n))
  return number(n)
end

-- Registers f, the library's function `known_as`.
function V.library(f, known_as)
  if known_as == "step" then
    HANDLERS[f] = function(a)
      a = lift(a)
      local above, zero = build(op.LE, constant(0), a.n), constant(0)
      if a.whole == true then
        return number(above)
      end -- plus 0, or NaN
      return number(build(op.ADD, above, build(op.MAX, build(op.MIN, a.n, zero), zero)))
    end
    NATIVE[f] = "step"
  elseif known_as == "random" then
    ALWAYS[f] = function(k)
      if not V.fields then
        refuse "it calls sel.random"
      end
      k = lift(k)
      if k.whole ~= true then
        mistake "sel.random(k): k must be a whole number"
      end
      return number(build(op.RANDOM, k.n))
    end
  else
    LOOK_UPS[f] = true
  end
end

-- ---- calls ----

-- The name in messages of the first symbolic value of a list.
local function what_of(list)
  local i = 1
  while not class_of(list[i]) do
    i = i + 1
  end
  local class = class_of(list[i])
  return class == CLOSURE and "a function that it makes" or class == CELL and "a cell"
    or "what is known in a cell only"
end

-- Whether all functions of a metatable are of Selenite's library.
local function is_of_library(meta)
  for _, handler in next, meta do
    local kind = type(handler)
    if kind == "table" or kind == "userdata" or kind == "thread"
      or (kind == "function" and V.kind_of(handler) ~= "library") then
      return false
    end
  end
  return true
end

-- Whether the library function `name` would run functions of the script, by the metatable of v.
local function runs_script(name, v)
  local meta = metatable(v)
  return meta and not IGNORE_METATABLES[name] and not is_of_library(meta)
    and not (name == "pairs" and rawget(meta, "__pairs") == nil)
end

-- Refuses an argument with which the library function `name`, run by Lua, would run functions of
-- the script or use symbolic values.
local function check_native(name, v)
  if type(v) ~= "table" then
    return
  elseif runs_script(name, v) then
    refuse("it calls %s on line %L with a table that has a metatable", name or "a function")
  elseif not LEAVE_MEMBERS[name] then
    for _, member in next, v do
      if class_of(member) then
        refuse("it calls %s on line %L with a table that holds %s", name or "a function",
          what_of { member })
      end
    end
  end
end

-- Calls a function of the library.
local function call_library(f, list, symbols)
  local name, handler = NATIVE[f], ALWAYS[f] or symbols and HANDLERS[f]
  if handler then
    return pack(handler(unpack(list, 1, list.n)))
  elseif symbols and (name ~= "select" or class_of(list[1])) then
    refuse("it calls %s on line %L with %s", name or "a function", what_of(list))
  end
  local t = list[1]
  if f == next_of_walk and type(t) == "table" then
    if V.is_made(t) then
      refuse "on line %L it goes on with a walk through a table that pairs did not begin"
    end
    t = rawget(t, "of")
  end
  if type(t) == "table" then
    resolve_table(t)
  end
  for i = 1, list.n do
    check_native(name, list[i])
  end
  return pack(call_native(f, unpack(list, 1, list.n)))
end

local closures = setmetatable({}, { __mode = "k" })

-- A function of the script as a closure.
function V.closure_of(f)
  if not closures[f] then
    local code, boxes = V.code_of(f), {}
    for i = 1, #code.upvalues do
      boxes[i] = { f = f, number = i }
    end
    closures[f] = V.closure(code, boxes)
  end
  return closures[f]
end

-- Calls a value with a list of arguments; returns the list of its results.
function V.call(f, list, steps)
  f = value_of(f)
  local class, kind, symbols = class_of(f), type(f) == "function" and V.kind_of(f), false
  if class == CLOSURE or kind == "script" then
    return V.run(class and f or V.closure_of(f), list)
  end
  for i = 1, list.n do
    list[i] = value_of(list[i])
    symbols = symbols or class_of(list[i]) ~= nil
  end
  if class == CELL then
    return { n = 1, V.neighbour(f, list) }
  elseif LOOK_UPS[f] or V.is_look_up(f) then
    return { n = 1, look_up(f, list, symbols) }
  elseif type(f) == "table" and not class and handler_of(f, "__call") then
    return V.call(handler_of(f, "__call"), pack(f, unpack(list, 1, list.n)),
      V.next_handler(steps or 0))
  elseif type(f) == "userdata" then
    refuse "it calls a value on line %L which cannot be followed"
  elseif not kind then
    V.mistake_if_reached("it calls a %s value", name_of(f))
  elseif ALWAYS[f] or NATIVE[f] or HANDLERS[f] or (kind == "library" and not symbols) then
    return call_library(f, list, symbols)
  elseif kind == "library" then
    return V.run(V.closure_of(f), list)
  end
  refuse("it calls %s on line %L, which cannot be followed", NAMES[f] or "a library function")
end

-- The cell that the rule computes.
function V.cell()
  return setmetatable({ 0, 0, 0 }, CELL)
end

-- A closure: code with the boxes of its captured variables.
function V.closure(code, boxes)
  return setmetatable({ code = code, boxes = boxes }, CLOSURE)
end

-- ---- results ----

-- The node of a result, which must be a number (with `predicate`: a condition), and whether it is
-- an integer.
local function node_of(v, predicate)
  local value, open = resolve(v)
  if open then
    mistake("it returns a %s on one way and a %s on another", name_of((resolve(value.a))),
      name_of((resolve(value.b))))
  elseif predicate and is_condition(value) then
    local c = truth(value)
    return type(c) == "boolean" and constant(c and 1 or 0) or c
  elseif predicate or not is_number(value) then
    mistake("it returns a %s", name_of(value))
  elseif type(value) == "number" then -- an integer beyond 2^53 too
    return constant(value), math_type(value) == "integer"
  end
  return value.n, value.whole
end
V.node_of = node_of

-- The new values of a rule's result, by name of the field. All sides of a choice must have the same
-- names.
function V.fields_of(v)
  local value, open = resolve(v)
  V.at_line(type(value) == "table" and V.lines[value])
  if open then
    local a, b = V.on_sides(value.c, V.fields_of, value.a, value.b)
    if not a or not b then
      return a or b
    end
    for name in next, a do
      if b[name] == nil then
        mistake("it returns '%s' on one way and not on another", name)
      end
      a[name] = merge(value.c, a[name], b[name])
    end
    for name in next, b do
      if a[name] == nil then
        mistake("it returns '%s' on one way and not on another", name)
      end
    end
    return a
  elseif value == nil then
    V.at_line(V.last)
    V.mistake_if_reached "it returns nothing on some way"
  elseif type(value) ~= "table" or class_of(value) then
    if not (is_number(value) and V.only) then
      V.mistake_if_reached("it returns a %s; a rule returns { NAME = new value, ... }",
        name_of(value))
    end
    return { [V.only] = value }
  end
  local list = {}
  for name, new in next, value do
    local field = V.fields[name]
    if not (field and field.state) then
      mistake("it returns a value of no state field:%s", V.unknown(name, true))
    end
    list[name] = new
  end
  return list
end
