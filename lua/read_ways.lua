-- read_ways.lua -- the values that a function is read with, and what its branches do to them.
--
-- Beside Lua's own there are: symbols, numbers and conditions that are nodes of a graph; choices,
-- of which a condition picks one of two values that no node can hold (tables, nil, functions);
-- cells; and closures that the function makes. Numbers are merged to nodes at once, choices are
-- asked when they are used.
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
local op, metatable, max, min, huge = host.op, host.getmetatable, math.max, math.min, math.huge
local math_type, tointeger, unpack, format = math.type, math.tointeger, table.unpack, string.format
local rawequal, rawget, rawset, setmetatable, type = rawequal, rawget, rawset, setmetatable, type
local error = error

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

-- The number of a node. Whole: whether Lua has an integer there, known or a node; such a number
-- lies between low and high.
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
    local equal = a == b and (a ~= 0 or 1 / a == 1 / b)
    return math_type(a) == math_type(b) and (equal or (a ~= a and b ~= b))
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

-- The value with all choices made that the path has made, also those inside of others.
local function settle(v)
  local value, open = resolve(v)
  if not open then
    return value
  end
  local mark, c = #trail, value.c
  assume(c, true)
  local a = settle(value.a)
  forget(mark)
  assume(c, false)
  local b = settle(value.b)
  forget(mark)
  if rawequal(a, value.a) and rawequal(b, value.b) then
    return value
  end
  return merge(c, a, b)
end

local function settle_list(list)
  for i = 1, list and list.n or 0 do
    list[i] = settle(list[i])
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

function V.is_made(t)
  return births[t]
end

-- Whether it was made in the side that is read.
function V.is_new(t)
  return births[t] and births[t] > journal.start
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
  local result = settle_list(f())
  for i = #j, 1, -1 do
    local t, k = j[i][1], j[i][2]
    rawset(t, k, settle(rawget(t, k)))
  end
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
  for i = #others, 1, -1 do -- done again while the first side's are merged with them
    local t, k, new = unpack(others[i], 1, 3)
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
  settle_list(values)
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
        exit[#exit + 1] = { t, k, settle(rawget(t, k)) }
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
  for i = 1, #j do
    local t, k = j[i][1], j[i][2]
    rawset(t, k, settle(rawget(t, k)))
  end
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

-- f of two values, neither of them a choice, and of `extra`.
function V.each_of_two(a, b, f, extra)
  local x, a_open = resolve(a)
  local y, b_open = resolve(b)
  if a_open then
    return each(x, function(value) return V.each_of_two(value, y, f, extra) end)
  elseif b_open then
    return each(y, function(value) return f(x, value, extra) end)
  end
  return f(x, y, extra)
end

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

function V.is_open(v)
  local _, open = resolve(v)
  return open
end

V.SYMBOL, V.CELL, V.class_of, V.name_of, V.need = SYMBOL, CELL, class_of, name_of, need
V.condition, V.is_number, V.lift, V.pick, V.merge = condition, is_number, lift, pick, merge
V.truth_of_condition, V.is_condition = truth_of_condition, is_condition
V.resolve, V.write, V.assume = resolve, write, assume
host.values = V
