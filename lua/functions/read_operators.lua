-- read_operators.lua -- operators, indexing and assignment on symbolic values.
--
-- Nodes are f64, Lua's integers have 64 bits. Integer arithmetic is exact in f64 below 2^53, so
-- intervals of integers are tracked. Where a result may reach 2^53, or an integer is divided by 0,
-- the function fails in that cell, and Lua evaluates it there.
local V = ...
local build, constant, op, metatable = V.build, V.constant, V.op, V.getmetatable
local abs, floor, max, min, huge = math.abs, math.floor, math.max, math.min, math.huge
local tointeger, unpack, pack = math.tointeger, table.unpack, table.pack
local error, next, pcall, rawequal, rawget = error, next, pcall, rawequal, rawget
local rawlen, setmetatable, type = rawlen, setmetatable, type
local find, gsub, lower = string.find, string.gsub, string.lower
local SYMBOL, CELL, CLOSURE = V.SYMBOL, V.CELL, V.CLOSURE
local class_of, name_of = V.class_of, V.name_of
local refuse, mistake, fail_unless = V.refuse, V.mistake, V.fail_unless
local number, condition = V.number, V.condition
local is_number, lift, pick, is_condition = V.is_number, V.lift, V.pick, V.is_condition
local truth, value_of = V.truth, V.value_of

local LIMIT <const> = 0x1p53
local MOST_HANDLERS <const> = 2000

-- ---- arithmetic ----

-- The least and the largest of f at the corners of the two intervals.
local function span(a, b, f)
  local p, q, r, s = f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)
  return min(p, q, r, s), max(p, q, r, s)
end

local function may_be_zero(a)
  return a.low <= 0 and a.high >= 0
end

-- The least 2^k - 1 that is not below x.
local function all_bits(x)
  local n = 1.0
  while n <= x do
    n = n * 2
  end
  return n - 1
end

-- Integer operations on intervals. They return the bounds of the result, whether f64 may give -0
-- for it, and whether the operation divides by b.
local INTEGERS = {
  UNM = function(a) return -a.high, -a.low, may_be_zero(a) end,
  BNOT = function(a) return -a.high - 1, -a.low - 1 end,
  ADD = function(a, b) return a.low + b.low, a.high + b.high end,
  SUB = function(a, b) return a.low - b.high, a.high - b.low end,
  MUL = function(a, b)
    local low, high = span(a, b, function(x, y) return x * y end)
    return low, high, (may_be_zero(a) and b.low < 0) or (may_be_zero(b) and a.low < 0)
  end,
  MOD = function(a, b)
    local high = a.low >= 0 and min(a.high, max(b.high - 1, 0)) or max(b.high - 1, 0)
    return min(b.low + 1, 0), high, a.low < 0, true
  end,
  FMOD = function(a, b)
    local most = max(abs(b.low), abs(b.high))
    return max(min(a.low, 0), -most), min(max(a.high, 0), most), a.low < 0, true
  end,
  IDIV = function(a, b)
    local minus_zero, most = may_be_zero(a) and b.low < 0, max(abs(a.low), abs(a.high))
    if may_be_zero(b) then
      return -most, most, minus_zero, true
    end
    local low, high = span(a, b, function(x, y) return floor(x / y) + 0.0 end)
    return low, high, minus_zero, true
  end,
  BAND = function(a, b)
    if a.low >= 0 or b.low >= 0 then
      return 0.0, min(a.low >= 0 and a.high or huge, b.low >= 0 and b.high or huge)
    end
    return -all_bits(-min(a.low, b.low)) - 1, max(a.high, b.high, 0)
  end,
  BOR = function(a, b)
    local most = all_bits(max(a.high, b.high, -a.low, -b.low))
    return (a.low < 0 or b.low < 0) and -most - 1 or 0.0, most
  end,
  SHL = function(a, b)
    if b.low < 0 or b.high > 63 then
      return -LIMIT, LIMIT
    end
    return span(a, b, function(x, y) return x * 2 ^ y end)
  end,
  SHR = function(a, b)
    if a.low >= 0 and b.low >= 0 and b.high < 64 then
      return 0.0, floor(a.high / 2 ^ b.low) + 0.0
    end
    return -LIMIT, LIMIT
  end,
}
INTEGERS.BXOR = INTEGERS.BOR
local BITS = { BAND = true, BOR = true, BXOR = true, BNOT = true, SHL = true, SHR = true }

-- The result n of an integer operation, checked where the condition `whole` holds: -0 becomes 0,
-- and a magnitude above 2^53 is a failure.
local function integer_result(n, whole, low, high, minus_zero)
  if minus_zero then
    local positive = build(op.WHOLE, n)
    n = whole == true and positive or build(op.SELECT, whole, positive, n)
  end
  if low <= -LIMIT or high >= LIMIT then
    fail_unless(build(op.LT, build(op.ABS, n), constant(LIMIT)), whole)
    low, high = max(low, -LIMIT), min(high, LIMIT)
  end
  return number(n, whole, low, high)
end

-- An operand of a bitwise operation: a float must have an integer value.
local function to_bits(a)
  if not V.fields then
    refuse "it computes with the bits of a number on line %L"
  end
  if a.whole ~= true then
    fail_unless(build(op.EQ, build(op.FLOOR, a.n), a.n))
    return lift(integer_result(build(op.WHOLE, a.n), true, -LIMIT, LIMIT))
  end
  return a
end

-- Whether both operands are integers: true, false or a condition.
local function both_whole(a, b)
  if a.whole == true then
    return b.whole
  elseif b.whole == true or not a.whole then
    return a.whole
  end
  return b.whole and build(op.AND, a.whole, b.whole)
end

-- An arithmetic or bitwise operation on two numbers, at least one of them a symbol. Unary: b is a.
local function compute(name, a, b)
  a, b = lift(a), lift(b)
  if BITS[name] then
    a, b = to_bits(a), to_bits(b)
  end
  local n, rule, whole = build(op[name], a.n, b.n), INTEGERS[name], both_whole(a, b)
  if not (rule and whole) then
    return number(n)
  end
  local low, high, minus_zero, divides = rule(a, b)
  if divides and may_be_zero(b) then
    fail_unless(build(op.NOT, build(op.EQ, b.n, constant(0))), whole)
  end
  return integer_result(n, whole, low, high, minus_zero)
end

local LUA_OPERATORS = {
  ADD = function(a, b) return a + b end, SUB = function(a, b) return a - b end,
  MUL = function(a, b) return a * b end, DIV = function(a, b) return a / b end,
  MOD = function(a, b) return a % b end, IDIV = function(a, b) return a // b end,
  POW = function(a, b) return a ^ b end, CONCAT = function(a, b) return a .. b end,
  BAND = function(a, b) return a & b end, BOR = function(a, b) return a | b end,
  BXOR = function(a, b) return a ~ b end, SHL = function(a, b) return a << b end,
  SHR = function(a, b) return a >> b end, LT = function(a, b) return a < b end,
  LE = function(a, b) return a <= b end, UNM = function(a) return -a end,
  BNOT = function(a) return ~a end, LEN = function(a) return #a end,
}

-- The metamethod of a table or a userdata; nil or false: it has none.
local function handler_of(v, event)
  local meta = not class_of(v) and metatable(v)
  return meta and value_of(rawget(meta, event))
end

local function is_function(v)
  return type(v) == "function" or class_of(v) == CLOSURE
end

-- Calls f in Lua itself. An error becomes a failure of this path.
local function call_native(f, ...)
  local list = pack(pcall(f, ...))
  if list[1] then
    return unpack(list, 2, list.n)
  end
  if type(list[2]) ~= "string" then
    error(list[2], 0)
  end
  local text = list[2]
  if find(text, "'n[/%%]") or find(text, "divide by zero") or find(text, "%(zero%)") then
    return V.raise()
  end
  text = gsub(gsub(text, "^%S+:%d+: ", ""), " %(%a+ '[^']*'%)$", "")
  V.mistake_if_reached("%s", text)
end

-- Whether a value is nil on some side of its undecided choices.
local function may_be_nil(v, seen)
  local value, open = V.resolve(v)
  if open and not seen[value] then -- choices share parts
    seen[value] = true
    return may_be_nil(value.a, seen) or may_be_nil(value.b, seen)
  end
  return value == nil
end

-- Makes sure which keys a table has: forks on a choice that may be nil, and removes nil entries.
local function resolve_table(t)
  for k, v in next, V.is_made(t) and t or {} do
    local value, open = V.resolve(v)
    if open and may_be_nil(value, {}) then
      value_of(value)
    elseif value == nil then
      V.write(t, k, nil)
    end
  end
end

-- A table without metatable in place of one with: the operator has no metamethod for it, so Lua
-- raises the same error.
local function bare(v)
  return type(v) == "table" and metatable(v) and {} or v
end

-- Applies the operator `name` ("ADD") to a and b; unary: b is nil.
function V.operate(name, a, b)
  if type(a) == "number" and type(b) == "number" and b ~= 0 then
    return LUA_OPERATORS[name](a, b)
  end
  a, b = value_of(a), value_of(b)
  local event = "__" .. lower(name)
  local handler = handler_of(a, event) or handler_of(b, event)
  if handler then
    return V.call(handler, pack(a, b))[1]
  elseif name == "LEN" then
    if type(a) == "table" and not class_of(a) then
      resolve_table(a)
      return rawlen(a)
    elseif class_of(a) then
      mistake("it takes the length of a %s value", name_of(a))
    end
  elseif name == "CONCAT" and (class_of(a) == SYMBOL or class_of(b) == SYMBOL) then
    refuse "on line %L it makes a text of a number that is known in a cell only"
  elseif class_of(a) or class_of(b) then
    if name == "LT" or name == "LE" then
      return condition(build(op[name], lift(a).n, lift(b).n))
    end
    return compute(name, a, b or a)
  end
  if name == "LE" and (handler_of(a, "__lt") or handler_of(b, "__lt")) then
    refuse "on line %L it compares by <= or >= what has __lt alone"
  end
  return call_native(LUA_OPERATORS[name], bare(a), bare(b))
end

-- x == y
function V.equal(x, y)
  x, y = value_of(x), value_of(y)
  if class_of(y) == SYMBOL then
    x, y = y, x
  end
  if class_of(x) ~= SYMBOL then
    local handler = type(x) == "table" and type(y) == "table" and not rawequal(x, y)
      and (handler_of(x, "__eq") or handler_of(y, "__eq"))
    if handler then
      return V.negation(V.negation(V.call(handler, pack(x, y))[1]))
    end
    return rawequal(x, y)
  elseif not x.condition and is_number(y) then
    return condition(build(op.EQ, x.n, lift(y).n))
  elseif not x.condition or not is_condition(y) then
    return false
  end
  local other = truth(y)
  return condition(pick(x.n, other, type(other) == "number" and build(op.NOT, other) or not other))
end

-- ---- tables and cells ----

local function known_key(k)
  if class_of(k) == SYMBOL then
    refuse "it indexes a table on line %L by a value that is known in a cell only"
  end
  return k
end

local function field_of(cell, name)
  local field = V.fields[name]
  if not field then
    mistake("a cell has no field%s", V.unknown(name, false))
  end
  local n = V.read(field.index, cell[1], cell[2], cell[3])
  return number(n, field.low ~= nil, field.low, field.high)
end

-- The cell at `distances` from a cell: c(dx, dy).
function V.neighbour(cell, distances)
  local at = setmetatable({ cell[1], cell[2], cell[3] }, CELL)
  if distances.n ~= V.dims then
    mistake("a cell takes %d distances: c(dx, dy%s)", V.dims, V.dims == 3 and ", dz" or "")
  end
  for axis = 1, V.dims do
    local distance = value_of(distances[axis])
    if class_of(distance) == SYMBOL then
      mistake "the distance of a neighbour must be known when the rule is read"
    end
    distance = type(distance) == "number" and tointeger(distance)
    if not distance then
      mistake("the distance of a neighbour must be a whole number, not a %s",
        name_of(distances[axis]))
    end
    at[axis] = at[axis] + max(min(distance, 99), -99)
    if abs(at[axis]) > V.reach then
      mistake("rules reach at most %d cells from the one that they compute", V.reach)
    end
  end
  return at
end

-- Chains of __index, __newindex or __call handlers are followed as far as Lua follows them. `steps`
-- counts the handlers so far.
local function next_handler(steps)
  if steps == MOST_HANDLERS then
    refuse "on line %L tables stand behind each other in a loop"
  end
  return steps + 1
end

-- t[k]
function V.index(t, k, steps)
  t, k = value_of(t), value_of(k)
  local class = class_of(t)
  if class == CELL then
    return field_of(t, k)
  elseif type(t) == "string" then
    return V.index(rawget(V.globals, "string"), k)
  elseif type(t) == "userdata" then
    return call_native(function() return t[known_key(k)] end)
  elseif type(t) ~= "table" or class then
    V.mistake_if_reached("it indexes a %s value ('%s')", name_of(t),
      type(k) == "string" and k or "?")
  end
  local value, handler = rawget(t, known_key(k)), handler_of(t, "__index")
  if not handler or value_of(value) ~= nil then
    return value
  elseif is_function(handler) then
    return V.call(handler, pack(t, k))[1]
  end
  return V.index(handler, k, next_handler(steps or 0))
end

-- Refuses a function that changes a variable or a table outside of it.
function V.changes(what)
  V.kept = true
  if V.fields then
    mistake("the rule keeps a value between calls: it changes %s", what)
  end
  refuse("it changes %s", what)
end

-- t[k] = value
function V.assign(t, k, value, steps)
  t, k = value_of(t), value_of(k)
  if class_of(t) == CELL then
    mistake "a cell cannot be assigned to; return the new values: return { NAME = value }"
  elseif type(t) ~= "table" or class_of(t) then
    V.mistake_if_reached("it assigns to a field of a %s value", name_of(t))
  elseif not V.is_made(t) then
    V.changes "a table outside of it"
  elseif known_key(k) == nil or k ~= k then
    V.mistake_if_reached "it assigns to the field nil of a table"
  end
  local handler = handler_of(t, "__newindex")
  if not handler or value_of(rawget(t, k)) ~= nil then
    V.write(t, k, value)
  elseif is_function(handler) then
    V.call(handler, pack(t, k, value))
  else
    V.assign(handler, k, value, next_handler(steps or 0))
  end
end

V.compute, V.call_native, V.resolve_table = compute, call_native, resolve_table
V.handler_of, V.next_handler = handler_of, next_handler
