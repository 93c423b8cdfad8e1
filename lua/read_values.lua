-- read_values.lua -- the values that a function is read with, and what becomes of them in its branches.
--
-- Beside Lua's own there are: symbols, numbers and conditions that are nodes of a graph; choices, of
-- which a condition picks one of two values that no node can hold (tables, nil, functions); cells;
-- and closures that the function makes. Numbers are merged to nodes at once, choices are asked when
-- they are used.
--
-- A branch runs both of its sides, one after the other, each from the same variables and tables: a
-- journal lists what a side changes, and merging gives each place what the condition picks. Where a
-- side ends by return, break or error, what follows is that of the other one alone; a frame (a
-- function or a loop) keeps what its exits found, and merges it when it is closed. So nothing is
-- computed twice, whatever the number of conditions.
--
-- `host` is what C gives (read.c): nodes are its numbers.
local host = ...
local build, constant, known, parts, bounds = host.build, host.constant, host.known, host.parts,
  host.bounds
local op, metatable = host.op, host.getmetatable
local abs, floor, max, min, huge = math.abs, math.floor, math.max, math.min, math.huge
local math_type, tointeger, unpack, pack = math.type, math.tointeger, table.unpack, table.pack
local error, next, pcall, rawequal, rawget, rawset = error, next, pcall, rawequal, rawget, rawset
local setmetatable, type, select, format, tostring = setmetatable, type, select, string.format, tostring

local LIMIT <const> = 0x1p53 -- below it all whole numbers are exact in f64
local MOST_SIDES <const> = 20000

local V = { line = 0 } -- what read.lua gets; the line that is read
local SYMBOL, CHOICE, CELL, CLOSURE = {}, {}, {}, {}
local NOTHING = {} -- the value of what has failed
V.CLOSURE, V.NOTHING = CLOSURE, NOTHING

local path, journal, facts, trail, clauses, births, fails, clock, sides

-- Begins a reading.
function V.begin()
  path, facts, trail, clauses, births, V.lines = { {} }, {}, {}, {}, {}, {}
  journal, fails, clock, sides = { start = 0, seen = {} }, constant(0), 0, 0
  V.kept = false
end

-- Ends the reading: Lua evaluates the function, for this reason.
local function refuse(text, ...)
  error({ text = format(text, ...) }, 0)
end

-- As above; where a rule is read it is an error, with the line.
local function mistake(text, ...)
  error({ text = format(text, ...), line = V.line, file = V.file, mistake = true }, 0)
end
V.refuse, V.mistake = refuse, mistake

-- The class of a value: SYMBOL, CHOICE, CELL, CLOSURE; that of a table of the script is nil.
local CLASSES = { [SYMBOL] = true, [CHOICE] = true, [CELL] = true, [CLOSURE] = true }
local function class_of(v)
  local class = type(v) == "table" and metatable(v)
  return class and CLASSES[class] and class or nil
end

local function name_of(v)
  local class = class_of(v)
  return class == SYMBOL and (v.condition and "condition" or "number") or class == CELL and "cell"
    or class == CLOSURE and "function" or type(v)
end

-- ---- where the reading is: conditions, facts, frames ----

-- The condition that the place that is read is reached, from entry `from` of the path on.
local function reached(from)
  local n = constant(1)
  for i = from, #path do
    local entry = path[i]
    n = entry.condition and build(op.AND, n, entry.condition) or n
    n = entry.gone and build(op.AND, n, build(op.NOT, entry.gone)) or n
  end
  return n
end

-- Lua raises an error where the node is 0.
local function need(n)
  if known(n) ~= 1 then
    fails = build(op.OR, fails, build(op.AND, reached(1), build(op.NOT, n)))
  end
end

-- Error at all that is reached.
function V.raise()
  need(constant(0))
  path[#path].dead = true
  return NOTHING
end

function V.is_dead()
  return path[#path].dead
end

function V.fails()
  return fails
end

-- What the path says of a condition: true, false or nil.
local function decided(n)
  local value = known(n)
  if value then
    return value ~= 0
  elseif facts[n] == nil then
    local operation, operand = parts(n)
    if operation == op.NOT and facts[operand] ~= nil then
      return not facts[operand]
    end
  end
  return facts[n]
end

local function assume(n, value)
  if facts[n] == nil then
    local operation, a, b = parts(n)
    facts[n], trail[#trail + 1] = value, n
    if operation == op.NOT then
      assume(a, not value)
    elseif operation == (value and op.AND or op.OR) then
      assume(a, value)
      assume(b, value)
    elseif operation == (value and op.OR or op.AND) then
      clauses[#clauses + 1] = { a, b, value, mark = #trail }
    end
    for i = 1, #clauses do -- one of the two has the value
      a, b, value = unpack(clauses[i], 1, 3)
      if decided(a) == not value then
        assume(b, value)
      elseif decided(b) == not value then
        assume(a, value)
      end
    end
  end
end

local function forget(mark)
  for i = #trail, mark + 1, -1 do
    facts[trail[i]], trail[i] = nil, nil
  end
  while clauses[1] and clauses[#clauses].mark > mark do
    clauses[#clauses] = nil
  end
end

-- ---- numbers and conditions ----

-- The number of a node. Whole: whether Lua has an integer there, known or a node; such a number lies
-- between low and high.
local function number(n, whole, low, high)
  local value = known(n)
  if value and (whole == true or not whole) then
    return whole and tointeger(value) or value
  elseif whole == true then
    bounds(n, low, high)
  end
  return setmetatable({ n = n, whole = whole or false, low = low, high = high }, SYMBOL)
end
V.number = number

local function condition(n)
  local value = decided(n)
  if value == nil then
    return setmetatable({ n = n, condition = true }, SYMBOL)
  end
  return value
end

local function is_number(v)
  return type(v) == "number" or (class_of(v) == SYMBOL and not v.condition)
end

-- A number as a symbol.
local function lift(v)
  if type(v) == "number" then
    local whole = math_type(v) == "integer"
    if whole and (v >= LIMIT or v <= -LIMIT) then
      refuse("it computes with the integer %d, beyond 2^53", v)
    end
    return { n = constant(v), whole = whole, low = v + 0.0, high = v + 0.0 }
  elseif class_of(v) == SYMBOL and not v.condition then
    return v
  end
  mistake("it computes with a %s value", name_of(v))
end

-- A condition that is `a` where c holds, else `b`; each is a node, true or false.
local function pick(c, a, b)
  if a == b then
    return a
  elseif type(a) == "boolean" and type(b) == "boolean" then
    return a and c or build(op.NOT, c)
  elseif a == true then
    return build(op.OR, c, b)
  elseif b == true then
    return build(op.OR, build(op.NOT, c), a)
  elseif a == false then
    return build(op.AND, build(op.NOT, c), b)
  elseif b == false then
    return build(op.AND, c, a)
  end
  return build(op.SELECT, c, a, b)
end

local function same(a, b)
  if type(a) == "number" and type(b) == "number" then
    return math_type(a) == math_type(b) and (a == b and (a ~= 0 or 1 / a == 1 / b) or a ~= a and b ~= b)
  elseif class_of(a) == SYMBOL and class_of(b) == SYMBOL then
    return a.n == b.n and a.whole == b.whole and a.condition == b.condition
  end
  return rawequal(a, b)
end

local function truth_of_condition(v)
  return type(v) == "boolean" and v or type(v) == "table" and v.n
end

local function is_condition(v)
  return type(v) == "boolean" or (class_of(v) == SYMBOL and v.condition)
end

-- What is `a` where c holds, else `b`.
local function merge(c, a, b)
  if same(a, b) or b == NOTHING then
    return a
  elseif a == NOTHING then
    return b
  elseif is_number(a) and is_number(b) then
    a, b = lift(a), lift(b)
    local low, high = min(a.low or huge, b.low or huge), max(a.high or -huge, b.high or -huge)
    return number(build(op.SELECT, c, a.n, b.n), pick(c, a.whole, b.whole), low, high)
  elseif is_condition(a) and is_condition(b) then
    local n = pick(c, truth_of_condition(a), truth_of_condition(b))
    return type(n) == "boolean" and n or condition(n)
  end
  return setmetatable({ c = c, a = a, b = b }, CHOICE)
end

local function merge_lists(c, a, b)
  local list = { n = max(a.n, b.n) }
  for i = 1, list.n do
    list[i] = merge(c, a[i], b[i])
  end
  return list
end

-- ---- variables and tables: what is changed where ----

-- A variable; `transient` where no closure sees it.
function V.variable(value, transient)
  clock = clock + 1
  return { value, born = clock, transient = transient }
end

-- A table that the function makes.
function V.made(t)
  clock = clock + 1
  births[t], V.lines[t] = clock, V.line
  return t
end

local function log(j, t, k, old, born)
  local seen = j.seen[t]
  if not seen then
    seen = {}
    j.seen[t] = seen
  end
  if not seen[k] then
    seen[k] = true
    j[#j + 1] = { t, k, old, born }
  end
end

local function write(t, k, value)
  local born = births[t] or t.born
  if not (t.transient and born > journal.start) then
    log(journal, t, k, rawget(t, k), born)
  end
  rawset(t, k, value)
end

function V.set(variable, value)
  write(variable, 1, value)
end

local function open_journal()
  journal = { start = clock, seen = {}, above = journal }
  return journal
end

-- Runs a side of a branch: what it gives, whether it goes on, and its changes, undone.
local function run_side(c, value, f)
  sides = sides + 1
  if sides > MOST_SIDES then
    refuse("it has more than %d sides of branches", MOST_SIDES)
  end
  local mark, j, changes = #trail, open_journal(), {}
  local entry = { condition = value and c or build(op.NOT, c) }
  path[#path + 1] = entry
  assume(c, value)
  local result = f()
  path[#path] = nil
  forget(mark)
  journal = j.above
  for i = #j, 1, -1 do
    local t, k, old, born = unpack(j[i], 1, 4)
    if born <= j.start then
      changes[#changes + 1] = { t, k, rawget(t, k) }
      rawset(t, k, old)
    elseif not t.transient then
      log(journal, t, k, old, born)
    end
  end
  return result, not entry.dead, changes, j.seen
end

-- Runs `yes` where c holds and `no` elsewhere; the lists of values that they give, merged.
local function branch(c, yes, no)
  local a, a_lives, changes = run_side(c, true, yes)
  local b, b_lives, others = run_side(c, false, no)
  if not (a_lives and b_lives) then
    changes = a_lives and changes or b_lives and others or {}
    for i = #changes, 1, -1 do
      write(unpack(changes[i], 1, 3))
    end
    if a_lives or b_lives then
      assume(c, a_lives)
    end
    path[#path].dead = not (a_lives or b_lives)
    return a_lives and a or b
  end
  local of = {} -- the changes of the second side, by table and key
  for i = #others, 1, -1 do
    local t, k, new = unpack(others[i], 1, 3)
    of[t] = of[t] or {}
    of[t][k] = true
    others[i][4] = rawget(t, k)
    rawset(t, k, new)
  end
  for i = #changes, 1, -1 do
    local t, k, new = unpack(changes[i], 1, 3)
    changes[i][3] = merge(c, new, rawget(t, k))
  end
  for i = #others, 1, -1 do
    local t, k, new, old = unpack(others[i], 1, 4)
    rawset(t, k, old)
    others[i][3] = merge(c, old, new)
  end
  for i = #others, 1, -1 do
    write(unpack(others[i], 1, 3))
  end
  for i = #changes, 1, -1 do
    write(unpack(changes[i], 1, 3))
  end
  return a and merge_lists(c, a, b)
end
V.branch = branch

-- ---- frames ----

-- Opens a frame: its exits are merged when it is closed.
function V.open()
  local frame = { exits = {}, mark = #trail, journal = open_journal() }
  path[#path + 1] = frame
  frame.depth = #path
  return frame
end

-- Leaves the frame from here, with a list of values.
function V.leave(frame, values)
  local top = path[#path]
  top.dead = true
  if top == frame then
    frame.final = values
    return
  end
  local exit = { c = reached(frame.depth + 1), values = values, clock = clock, seen = {} }
  local j = journal
  repeat
    for i = 1, #j do
      local t, k, _, born = unpack(j[i], 1, 4)
      local seen = exit.seen[t] or {}
      exit.seen[t] = seen
      if not seen[k] and not (t.transient and born > frame.journal.start) then
        seen[k] = true
        exit[#exit + 1] = { t, k, rawget(t, k) }
      end
    end
    local last = j == frame.journal
    j = j.above
  until last
  frame.gone = frame.gone and build(op.OR, frame.gone, exit.c) or exit.c
  frame.exits[#frame.exits + 1] = exit
end

-- Merges the exit with what the frame has so far; c nil: there is nothing else.
local function take_exit(frame, exit, c)
  local j = frame.journal
  local function take(t, k, value)
    if c then
      value = merge(c, value, rawget(t, k))
    end
    write(t, k, value)
  end
  for i = 1, #j do
    local t, k, old, born = unpack(j[i], 1, 4)
    if born <= exit.clock and not (exit.seen[t] and exit.seen[t][k]) then
      take(t, k, old)
    end
  end
  for i = 1, #exit do
    take(unpack(exit[i], 1, 3))
  end
end

-- The list of values that the frame was left with; none where it ends otherwise.
function V.close(frame)
  local j, exits = frame.journal, frame.exits
  local values, last = frame.final or not frame.dead and { n = 0 } or nil, #exits
  path[#path] = nil
  forget(frame.mark)
  if not values and last > 0 then
    take_exit(frame, exits[last])
    values, last = exits[last].values, last - 1
  end
  for i = last, 1, -1 do
    take_exit(frame, exits[i], exits[i].c)
    values = merge_lists(exits[i].c, exits[i].values, values)
  end
  journal = j.above
  for i = 1, #j do
    local t, k, old, born = unpack(j[i], 1, 4)
    if not (t.transient and born > journal.start) then
      log(journal, t, k, old, born)
    end
  end
  path[#path].dead = path[#path].dead or not values
  return values or { n = 1, NOTHING }
end

-- ---- choices ----

-- A choice that the path has made is the value chosen; whether it is still open.
local function resolve(v)
  while class_of(v) == CHOICE do
    local value = decided(v.c)
    if value == nil then
      return v, true
    elseif value then
      v = v.a
    else
      v = v.b
    end
  end
  return v, false
end

-- f of a value; of a choice, for each of its two.
local function each(v, f)
  local value, open = resolve(v)
  if not open then
    return f(value)
  end
  return branch(value.c, function() return { n = 1, (each(value.a, f)) } end,
    function() return { n = 1, (each(value.b, f)) } end)[1]
end
V.each = each

-- Whether the value counts as true: a node, true or false.
local function truth(v)
  local value, open = resolve(v)
  if open then
    return pick(value.c, truth(value.a), truth(value.b))
  elseif class_of(value) == SYMBOL and value.condition then
    local known_now = decided(value.n)
    if known_now == nil then
      return value.n
    end
    return known_now
  end
  return value ~= NOTHING and value ~= nil and value ~= false
end
V.truth = truth

function V.negation(v)
  local c = truth(v)
  if type(c) == "boolean" then
    return not c
  end
  return condition(build(op.NOT, c))
end

-- ---- arithmetic ----

-- The least and the largest of f at the ends of both intervals.
local function span(a, b, f)
  local p, q, r, s = f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)
  return min(p, q, r, s), max(p, q, r, s)
end

local function may_be_zero(a)
  return a.low <= 0 and a.high >= 0
end

-- A whole number of as many bits as x needs, all 1.
local function all_bits(x)
  local n = 1.0
  while n <= x do
    n = n * 2
  end
  return n - 1
end

-- What integers give: bounds, whether the formula may give -0, whether it divides by b.
local INTEGERS = {
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
local BITS = { BAND = true, BOR = true, BXOR = true, SHL = true, SHR = true }

-- The rules that integers add to the value n of an operation.
local function integers(n, whole, low, high, minus_zero)
  if minus_zero then
    local positive = build(op.WHOLE, n)
    n = whole == true and positive or build(op.SELECT, whole, positive, n)
  end
  if low <= -LIMIT or high >= LIMIT then
    local fits = build(op.LT, build(op.ABS, n), constant(LIMIT))
    need(whole == true and fits or build(op.OR, build(op.NOT, whole), fits))
    low, high = max(low, -LIMIT), min(high, LIMIT)
  end
  return number(n, whole, low, high)
end

-- As Lua's integers: floats of operations on bits must be whole.
local function to_bits(a)
  if not V.fields then
    refuse("it computes with the bits of a number on line %d", V.line)
  end
  if a.whole ~= true then
    need(build(op.EQ, build(op.FLOOR, a.n), a.n))
    return lift(integers(build(op.WHOLE, a.n), true, -LIMIT, LIMIT))
  end
  return a
end

local function both_whole(a, b)
  if a.whole == true then
    return b.whole
  elseif b.whole == true or not a.whole then
    return a.whole
  end
  return b.whole and build(op.AND, a.whole, b.whole)
end

-- Of two numbers of which one at least is a symbol.
local function binary(name, a, b)
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
    local divisible = build(op.NOT, build(op.EQ, b.n, constant(0)))
    need(whole == true and divisible or build(op.OR, build(op.NOT, whole), divisible))
  end
  return integers(n, whole, low, high, minus_zero)
end

local function negative(a)
  a = lift(a)
  local n = build(op.UNM, a.n)
  return a.whole and integers(n, a.whole, -a.high, -a.low, may_be_zero(a)) or number(n)
end

local PLAIN = {
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

-- The metamethod of a table or a userdata.
local function handler_of(v, event)
  local meta = not class_of(v) and metatable(v)
  return meta and rawget(meta, event)
end

-- What Lua itself gives, with its error.
local function plainly(f, ...)
  local list = pack(pcall(f, ...))
  if list[1] then
    return unpack(list, 2, list.n)
  end
  local text = type(list[2]) == "string" and list[2] or "an error"
  if text:find "'n[/%%]" or text:find "divide by zero" or text:find "%(zero%)" then
    return V.raise()
  end
  mistake("%s", (text:gsub("^%S+:%d+: ", ""):gsub(" %(%a+ '[^']*'%)$", "")))
end

-- A table whose end is known: what each of its places holds is there on all ways.
local function whole_table(t)
  for _, v in next, births[t] and t or {} do
    local value, open = resolve(v)
    if open and (value.a == nil or value.b == nil) then
      refuse("it looks through a table on line %d of which a value is there on some ways only", V.line)
    end
  end
end

-- An operator on values that are no choices.
local function operate(name, a, b)
  if a == NOTHING or b == NOTHING then
    return NOTHING
  end
  local event = "__" .. name:lower()
  local handler = handler_of(a, event) or handler_of(b, event)
  if handler then
    return (V.call(handler, pack(a, b)))
  elseif name == "LEN" then
    if type(a) == "table" and not class_of(a) then
      whole_table(a)
      return #a
    end
  elseif name == "CONCAT" and (class_of(a) == SYMBOL or class_of(b) == SYMBOL) then
    refuse("it makes a text of a number on line %d that is known in a cell only", V.line)
  elseif class_of(a) or class_of(b) then
    if name == "LT" or name == "LE" then
      return condition(build(op[name], lift(a).n, lift(b).n))
    elseif name == "UNM" then
      return negative(a)
    elseif name == "BNOT" then
      a = to_bits(lift(a))
      return number(build(op.BNOT, a.n), true, -a.high - 1, -a.low - 1)
    end
    return binary(name, a, b)
  end
  return plainly(PLAIN[name], a, b)
end

-- The operator called so; b nil: of one operand.
function V.operate(name, a, b)
  if type(a) == "number" and type(b) == "number" and b ~= 0 then
    return PLAIN[name](a, b)
  end
  return each(a, function(x)
    return each(b, function(y) return operate(name, x, y) end)
  end)
end

local function equal(x, y)
  if class_of(y) == SYMBOL then
    x, y = y, x
  end
  if class_of(x) ~= SYMBOL then
    local handler = type(x) == "table" and type(y) == "table" and not rawequal(x, y)
      and (handler_of(x, "__eq") or handler_of(y, "__eq"))
    return handler and V.negation(V.negation(V.call(handler, pack(x, y)))) or rawequal(x, y)
  elseif not x.condition and is_number(y) then
    return condition(build(op.EQ, x.n, lift(y).n))
  elseif not x.condition or not is_condition(y) then
    return false
  end
  local other = truth_of_condition(y)
  local n = pick(x.n, other, type(other) == "number" and build(op.NOT, other) or not other)
  return type(n) == "boolean" and n or condition(n)
end

-- a == b
function V.equal(a, b)
  return each(a, function(x)
    return each(b, function(y) return equal(x, y) end)
  end)
end

-- ---- tables and cells ----

local function known_key(k)
  if class_of(k) == SYMBOL then
    refuse("it indexes a table on line %d by a value that is known in a cell only", V.line)
  end
  return k
end

local function field_of(cell, name)
  local field = V.fields[name]
  if not field then
    mistake("a cell has no field%s", host.suggestion(tostring(name), V.fields))
  end
  local n = host.read(field.index, cell[1], cell[2], cell[3])
  return number(n, field.low ~= nil, field.low, field.high)
end

-- The cell `distances` further.
local function neighbour(cell, distances)
  local at = setmetatable({ cell[1], cell[2], cell[3] }, CELL)
  if distances.n ~= V.dims then
    mistake("a cell takes %d distances: c(dx, dy%s)", V.dims, V.dims == 3 and ", dz" or "")
  end
  for axis = 1, V.dims do
    local distance = distances[axis]
    if class_of(distance) == SYMBOL then
      mistake "the distance of a neighbour must be known when the rule is read"
    end
    distance = type(distance) == "number" and tointeger(distance)
    if not distance then
      mistake("the distance of a neighbour must be a whole number, not a %s", name_of(distances[axis]))
    end
    at[axis] = at[axis] + max(min(distance, 99), -99)
    if abs(at[axis]) > V.reach then
      mistake("rules reach at most %d cells from the one that they compute", V.reach)
    end
  end
  return at
end

local function index(t, k)
  local class = class_of(t)
  if t == NOTHING then
    return NOTHING
  elseif class == CELL then
    return field_of(t, k)
  elseif type(t) == "string" then
    return string[k]
  elseif type(t) == "userdata" then
    return plainly(function() return t[known_key(k)] end)
  elseif type(t) ~= "table" or class then
    mistake("it indexes a %s value ('%s')", name_of(t), type(k) == "string" and k or "?")
  end
  local value = rawget(t, known_key(k))
  local handler = value == nil and handler_of(t, "__index")
  if not handler then
    return value
  elseif type(handler) == "function" then
    return (V.call(handler, pack(t, k)))
  end
  return V.index(handler, k)
end

function V.index(t, k)
  return each(t, function(x)
    return each(k, function(y) return index(x, y) end)
  end)
end

-- The function changes what is outside of it.
function V.changes(what)
  V.kept = true
  if V.fields then
    mistake("the rule keeps a value between calls: it changes %s", what)
  end
  refuse("it changes %s", what)
end

local function assign(t, k, value)
  if t == NOTHING then
    return
  elseif class_of(t) == CELL then
    mistake "a cell cannot be assigned to; return the new values: return { NAME = value }"
  elseif type(t) ~= "table" or class_of(t) then
    mistake("it assigns to a field of a %s value", name_of(t))
  elseif not births[t] then
    V.changes "a table outside of it"
  elseif known_key(k) == nil or k ~= k then
    mistake "it assigns to the field nil of a table"
  end
  local handler = rawget(t, k) == nil and handler_of(t, "__newindex")
  if type(handler) == "function" then
    V.call(handler, pack(t, k, value))
  elseif handler then
    V.assign(handler, k, value)
  else
    write(t, k, value)
  end
end

function V.assign(t, k, value)
  each(t, function(x)
    each(k, function(y) assign(x, y, value) end)
  end)
end

-- ---- functions of the library ----

-- Those that may run as they are: what they do to symbols is to pass them on, or they get none.
local PLAINLY, HANDLERS = {}, {}
for _, name in next, { "ipairs", "pairs", "next", "select", "rawget", "rawlen", "rawequal", "tostring",
  "tonumber", "getmetatable" } do
  PLAINLY[host.globals[name]] = name
end
for _, library in next, { math, string, table } do
  for name, f in next, library do
    PLAINLY[f] = name
  end
end
for _, f in next, { math.random, math.randomseed, string.gsub, string.dump, table.insert, table.remove,
  table.sort, table.move } do
  PLAINLY[f] = nil
end
local NAMES = {} -- for messages
for _, library in next, { host.globals, coroutine, utf8 } do
  for name, f in next, library do
    NAMES[f] = name
  end
end
local PASSES_ON = { ipairs = true, pairs = true, next = true, select = true, rawget = true,
  unpack = true, pack = true }

-- What is recorded of a function of math follows lmathlib.c.
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
    need(a.whole and build(op.OR, a.whole, fits) or fits)
    return number(build(op.WHOLE, n), true, -LIMIT, LIMIT)
  end
end

-- Keeps the kind of the one chosen.
local function extreme(name)
  return function(first, ...)
    local found = lift(first)
    for i = 1, select("#", ...) do
      local a, b = found, lift((select(i, ...)))
      local second = name == "MAX" and build(op.LT, a.n, b.n) or build(op.LT, b.n, a.n)
      local whole = pick(second, b.whole, a.whole)
      local best = name == "MAX" and max or min
      local low, high = best(a.low or -huge, b.low or -huge), best(a.high or huge, b.high or huge)
      if whole ~= true or not (a.low and b.low) then
        low, high = min(a.low or huge, b.low or huge), max(a.high or -huge, b.high or -huge)
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
  fmod = function(a, b) return binary("FMOD", a, b) end,
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
      refuse("the base of math.log on line %d is not a number known beforehand", V.line)
    end
    local name = base == 2 and "LOG2" or base == 10 and "LOG10" or "LOG"
    local n = build(op[name], lift(a).n)
    return number(base and name == "LOG" and build(op.DIV, n, constant(math.log(base))) or n)
  end,
  -- The part before the point as a float, and the rest.
  modf = function(a)
    a = lift(a)
    local n, zero = a.n, constant(0)
    local part = build(op.SELECT, build(op.LT, n, zero), build(op.CEIL, n), build(op.FLOOR, n))
    local rest = build(op.SELECT, build(op.EQ, part, n), zero, build(op.SUB, n, part))
    return rounded "FLOOR"(number(part)), number(rest)
  end,
}
for name in ("sqrt exp sin cos tan sinh cosh tanh asin acos log10"):gmatch "%w+" do
  RECORDED[name] = unary(name:upper())
end
for name, f in next, RECORDED do
  if math[name] then
    HANDLERS[math[name]] = f
  end
end

HANDLERS[host.globals.type] = function(v)
  local name = name_of(v)
  return name == "cell" and "userdata" or name == "condition" and "boolean" or name
end
HANDLERS[math.type] = function(v)
  if class_of(v) ~= SYMBOL or v.condition then
    return nil
  elseif type(v.whole) ~= "boolean" then
    refuse("it asks for the type of a number on line %d that is an integer on some ways only", V.line)
  end
  return v.whole and "integer" or "float"
end
HANDLERS[math.tointeger] = function(v)
  v = lift(v)
  if v.whole ~= true then
    refuse("it asks on line %d whether a number is whole that is known in a cell only", V.line)
  end
  return v
end

-- Those that are handled also where no argument is a symbol.
local ALWAYS = {
  [host.globals.error] = V.raise,
  [host.globals.assert] = function(v, ...)
    local c = truth(v)
    if c == false then
      return V.raise()
    elseif c ~= true then
      need(c)
      assume(c, true)
    end
    return v, ...
  end,
  [host.globals.setmetatable] = function(t, meta)
    if type(t) ~= "table" or not births[t] or births[t] < journal.start or metatable(t) then
      refuse("it gives a table a metatable on line %d that is not new", V.line)
    end
    return setmetatable(t, meta)
  end,
  [table.insert] = function(t, v, ...)
    if select("#", ...) > 0 then
      refuse("it inserts into a list on line %d elsewhere than at its end", V.line)
    end
    V.assign(t, V.operate("LEN", t) + 1, v)
  end,
  [table.pack] = function(...) return V.made(pack(...)) end,
}

-- A look-up. With symbols it gives NaN outside its data, where Lua tells the error.
local function look_up(f, list)
  local symbols = false
  for i = 1, list.n do
    symbols = symbols or class_of(list[i]) ~= nil
  end
  if not symbols then
    local result = pack(pcall(f, unpack(list, 1, list.n)))
    return result[1] and result[2] or V.raise()
  end
  for i = 1, list.n do
    list[i] = lift(list[i]).n
  end
  local n = host.look_up(f, unpack(list, 1, list.n))
  need(build(op.EQ, n, n))
  return number(n)
end

-- sel.NAME, called `known_as` by the library.
function V.library(f, known_as)
  if known_as == "step" then
    HANDLERS[f] = function(a) return number(build(op.LE, constant(0), lift(a).n)) end
    PLAINLY[f] = "step"
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
    ALWAYS[f] = function(...) return look_up(f, pack(...)) end
  end
end

-- ---- calls ----

-- Calls a function of the library; no argument is a choice.
local function call_library(f, list, symbols)
  local name, handler = PLAINLY[f], ALWAYS[f] or symbols and HANDLERS[f]
  if handler then
    return handler(unpack(list, 1, list.n))
  elseif symbols and not PASSES_ON[name] then
    refuse("it calls %s on line %d with what is known in a cell only", name or "a function", V.line)
  elseif type(list[1]) == "table" then
    whole_table(list[1])
  end
  return plainly(f, unpack(list, 1, list.n))
end

local function call(f, list)
  local class, symbols = class_of(f), false
  for i = 1, list.n do
    symbols = symbols or class_of(list[i]) ~= nil
  end
  if f == NOTHING then
    return NOTHING
  elseif class == CLOSURE then
    return V.run(f.code, f, list)
  elseif class == CELL then
    return neighbour(f, list)
  elseif type(f) == "userdata" then
    return look_up(f, list)
  elseif type(f) == "table" and not class and handler_of(f, "__call") then
    return V.call(handler_of(f, "__call"), pack(f, unpack(list, 1, list.n)))
  elseif type(f) ~= "function" then
    mistake("it calls a %s value", name_of(f))
  elseif ALWAYS[f] or PLAINLY[f] or HANDLERS[f] or (not symbols and host.is_library(f)) then
    return call_library(f, list, symbols)
  end
  local code, closure = V.text_of(f)
  if not code then
    refuse("it calls %s on line %d, which cannot be followed", NAMES[f] or "a library function", V.line)
  end
  return V.run(code, closure, list)
end

-- An open choice among the arguments of a function of C is chosen both ways; those of others see it.
local function call_chosen(f, list)
  local follows = class_of(f) == CLOSURE or (type(f) == "function" and not host.is_library(f))
  for i = 1, follows and 0 or list.n do
    local value, open = resolve(list[i])
    list[i] = value
    if value == NOTHING then
      return NOTHING
    elseif open then
      local function side(chosen)
        local copy = { unpack(list, 1, list.n) }
        copy[i], copy.n = chosen, list.n
        return function() return pack(call_chosen(f, copy)) end
      end
      local results = branch(value.c, side(value.a), side(value.b))
      return unpack(results, 1, results.n)
    end
  end
  return call(f, list)
end

-- Calls a value with a list of arguments.
function V.call(f, list)
  local value, open = resolve(f)
  if not open then
    return call_chosen(value, list)
  end
  local results = branch(value.c, function() return pack(V.call(value.a, list)) end,
    function() return pack(V.call(value.b, list)) end)
  return unpack(results, 1, results.n)
end

-- A cell at no distance.
function V.cell()
  return setmetatable({ 0, 0, 0 }, CELL)
end

-- A closure of the code, with the variables that it sees.
function V.closure(code, variables)
  variables.code = code
  return setmetatable(variables, CLOSURE)
end

-- ---- results ----

-- A value that must be a number (or a condition): its node, and whether it is an integer.
local function node_of(v, predicate)
  local value, open = resolve(v)
  if open then
    mistake("it returns a %s on one way and a %s on another", name_of(resolve(value.a)), name_of(resolve(value.b)))
  elseif value == NOTHING then
    return constant(0), true
  elseif predicate and is_condition(value) then
    local c = truth_of_condition(value)
    return type(c) == "boolean" and constant(c and 1 or 0) or c
  elseif predicate or not is_number(value) then
    mistake("it returns a %s", name_of(value))
  elseif type(value) == "number" then -- an integer beyond 2^53 too
    return constant(value), math_type(value) == "integer"
  end
  return value.n, value.whole
end
V.node_of = node_of

function V.is_open(v)
  return (select(2, resolve(v)))
end

-- What the value is where it counts as `side`, true or false.
function V.as(v, side)
  local value, open = resolve(v)
  if open and truth(value.a) == not side then
    return V.as(value.b, side)
  elseif open and truth(value.b) == not side then
    return V.as(value.a, side)
  elseif open then
    return merge(value.c, V.as(value.a, side), V.as(value.b, side))
  elseif is_condition(value) then
    return side
  end
  return value
end

-- Puts a value into a table that is being made.
function V.put(t, k, value)
  if known_key((resolve(k))) == nil or k ~= k then
    mistake "it assigns to the field nil of a table"
  end
  t[k] = value
end

-- The fields that the value gives: what each of its ways gives must be called the same.
function V.fields_of(v)
  local value, open = resolve(v)
  V.line = type(value) == "table" and V.lines[value] or V.line
  if open then
    local a, b = V.fields_of(value.a), V.fields_of(value.b)
    for name in host.globals.pairs(a) do
      if b[name] == nil then
        mistake("it returns '%s' on one way and not on another", name)
      end
      a[name] = merge(value.c, a[name], b[name])
    end
    for name in host.globals.pairs(b) do
      if a[name] == nil then
        mistake("it returns '%s' on one way and not on another", name)
      end
    end
    return a
  elseif value == nil then
    V.line = V.last
    mistake "it returns nothing on some way"
  elseif type(value) ~= "table" or class_of(value) then
    if not (is_number(value) and V.only) then
      mistake("it returns a %s; a rule returns { NAME = new value, ... }", name_of(value))
    end
    return { [V.only] = value }
  end
  local list = {}
  for name, new in host.globals.pairs(value) do
    local field = V.fields[name]
    if not (field and field.state) then
      mistake("it returns a value for%s; that is no state field", host.suggestion(tostring(name), V.state))
    end
    list[name] = new
  end
  return list
end

return V
