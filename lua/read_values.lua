-- read_values.lua -- the values that a function is read with, and what is known of them.
--
-- Beside Lua's own there are: symbols, numbers and conditions that are nodes of a graph; choices,
-- of which a condition picks one of two values; cells; closures that the function makes; and the
-- value that is not known, which no instruction may use: the reading ends there.
--
-- What is read is reached where some conditions hold: those of the paths from the present one up.
-- They decide other conditions: choices are made by them, and a choice of two numbers or of two
-- conditions becomes a node when it is used. Any other choice that is still open ends the
-- instruction: it is done again, on a path for each of the two values (read_states.lua).
--
-- `V` is what C gives (read.c), whose numbers are nodes, and what these files share.
local V = ...
local build, constant, known, parts, bounds = V.build, V.constant, V.known, V.parts,
  V.bounds
local op, metatable, max, min, huge = V.op, V.getmetatable, math.max, math.min, math.huge
local math_type, tointeger, format = math.type, math.tointeger, string.format
local gsub = string.gsub
local error, pcall, rawequal, setmetatable = error, pcall, rawequal, setmetatable
local type = type

local LIMIT <const> = 0x1p53 -- below it all whole numbers are exact in f64
local MOST_LEVELS <const> = 1000

-- No script sees that a value is of them, nor makes one.
local function new_class()
  return { __metatable = false }
end

local SYMBOL, CHOICE, CELL = new_class(), new_class(), new_class()
local CLOSURE, NOTHING = new_class(), new_class()
V.SYMBOL, V.CELL, V.CLOSURE = SYMBOL, CELL, CLOSURE
local CLASSES = { [SYMBOL] = true, [CHOICE] = true, [CELL] = true, [CLOSURE] = true,
  [NOTHING] = true }
local UNKNOWN = setmetatable({}, NOTHING)
V.UNKNOWN = UNKNOWN

-- What ends an instruction: a condition that must be decided first, or an error of Lua's.
local FORK, DEAD = {}, {}
V.FORK, V.DEAD = FORK, DEAD

-- Ends the reading: Lua evaluates the function, for this reason; %L is the line.
local function refuse(text, ...)
  text = gsub(text, "%%L", V.line())
  error({ text = format(text, ...) }, 0)
end

-- As above; where a rule is read it is an error, with the line.
local function mistake(text, ...)
  error({ text = format(text, ...), line = V.line(), file = V.file(), mistake = true }, 0)
end
V.refuse, V.mistake = refuse, mistake

-- A mistake if the path is reached. Of a branch that is not known: there the function fails, so
-- that Lua is asked, and the comparison with Lua tells whether it is one.
local function slip(text, ...)
  local _, e = pcall(mistake, text, ...)
  if not V.path().above then
    error(e, 0)
  end
  V.doubt = V.doubt or e
  V.raise()
end
V.slip = slip

-- The class of a value; that of a table of the script is nil.
local function class_of(v)
  local class = type(v) == "table" and metatable(v)
  return class and CLASSES[class] and class or nil
end

local function name_of(v)
  local class = class_of(v)
  return class == SYMBOL and (v.condition and "condition" or "number") or class == CELL and "cell"
    or class == CLOSURE and "function" or type(v)
end

-- ---- paths ----

local path, fails -- the present one; where Lua raises an error: a node

-- A path has a condition `n` beside those above it; `facts` are the conditions that it decides.
-- Its weight is the part of all cases that it stands for, so that paths which meet know whether
-- there are others; the cost is that of computing its conditions; `since` is when it began, and
-- `split` when those below it parted.
local function extend(above, n, weight, since)
  local below = { above = above, n = n, level = above.level + 1, weight = weight, since = since,
    cost = above.cost + (parts(n) == op.NOT and 3 or 2),
    facts = setmetatable({}, { __index = above.facts, __metatable = false }) }
  if below.level > MOST_LEVELS then
    refuse("it has more than %d conditions inside each other", MOST_LEVELS)
  end
  return below
end

-- All conditions of a path.
local function reached(from)
  from.all = from.all or (from.above and build(op.AND, reached(from.above), from.n) or constant(1))
  return from.all
end

-- Lua raises an error where the node is 0; not where `whole`, of a number, says that it is a float.
local function need(n, whole)
  if whole and whole ~= true then
    n = build(op.OR, build(op.NOT, whole), n)
  end
  if known(n) ~= 1 then
    fails = build(op.OR, fails, build(op.AND, reached(path), build(op.NOT, n)))
  end
end

-- Error at all that is reached.
function V.raise()
  need(constant(0))
  error(DEAD, 0)
end

local decided
local questions, depth = 0, 0 -- so many conditions were asked for; and the one inside others
local asked -- by node: the question in which its operands said nothing

-- What its operands say of a condition.
local function said(n)
  local operation, a, b, c = parts(n)
  if operation == op.NOT then
    local value = decided(a)
    if value ~= nil then
      return not value
    end
  elseif operation == op.AND or operation == op.OR then
    local decisive, x = operation == op.OR, decided(a)
    if x == decisive then
      return x
    end
    local y = decided(b)
    if y == decisive or x ~= nil then
      return y
    end
  elseif operation == op.SELECT then
    local chosen = decided(a)
    if chosen ~= nil then
      return decided(chosen and b or c)
    end
    local x = decided(b)
    if x ~= nil and x == decided(c) then
      return x
    end
  end
end

-- As above, once a question: conditions share parts.
local function composed(n)
  if depth == 0 then
    questions = questions + 1
  elseif asked[n] == questions then
    return nil
  end
  depth = depth + 1
  local value = said(n)
  depth = depth - 1
  asked[n] = value == nil and questions or nil
  return value
end

-- What the path says of a condition: true, false or nil.
function decided(n)
  local fact, facts = path.facts[n], path.facts
  if fact == nil then
    local value = known(n)
    if value then
      return value ~= 0
    end
    fact = composed(n)
    facts[n] = fact
  end
  return fact
end

-- Notes in the facts that the condition has this value.
local function assume(facts, n, value)
  local operation, a, b = parts(n)
  facts[n] = value
  if operation == op.NOT then
    assume(facts, a, not value)
  elseif operation == (value and op.AND or op.OR) then
    assume(facts, a, value)
    assume(facts, b, value)
  end
end

-- Whether the conditions of the paths above allow the facts of the present one.
local function is_possible()
  local up = path.above
  while up.above do
    if composed(up.n) == false then
      return false
    end
    up = up.above
  end
  return true
end

-- The condition that holds where the other does not.
local function opposite(n)
  local operation, a = parts(n)
  return operation == op.NOT and a or build(op.NOT, n)
end

-- The path on which the condition holds; nil where that cannot be.
local function side(above, n, since)
  path = extend(above, n, above.weight / 2, since)
  assume(path.facts, n, true)
  return is_possible() and path or nil
end

-- The paths on which the condition holds, and does not.
function V.split(c, since)
  local above = path
  above.split = since
  local yes, no = side(above, c, since), side(above, opposite(c), since)
  path = above
  return yes, no
end

-- f(a) where the condition holds and f(b) where not: nil where that fails.
function V.on_sides(c, f, a, b)
  local above, found = path, {}
  local yes, no = V.split(c, path.since)
  for i = 1, 2 do
    local below = i == 1 and yes or i == 2 and no
    if below then
      path = below
      local done, value = pcall(f, i == 1 and a or b)
      path = above
      if done then
        found[i] = value
      elseif value ~= DEAD then
        error(value, 0)
      end
    end
  end
  if not found[1] and not found[2] then
    error(DEAD, 0)
  end
  return found[1], found[2]
end

-- The condition holds on the rest of the path.
function V.assume(c)
  assume(path.facts, c, true)
end

-- Where all other paths below the one above have ended, the path takes the place of that one.
function V.widen(p)
  while p.above and p.weight == p.above.weight do
    local above = p.above
    p.above, p.n, p.level, p.cost, p.all = above.above, above.n, above.level, above.cost, nil
    p.joined, p.since = above.joined, above.since
  end
end

-- The path ends, and leaves its part to those that are left.
function V.abandon(ended)
  local weight = ended.weight
  repeat
    ended.weight = ended.weight - weight
    ended = ended.above
  until not ended
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

local function condition(n)
  if type(n) == "boolean" then
    return n
  end
  local value = known(n)
  return value and value ~= 0 or not value and setmetatable({ n = n, condition = true }, SYMBOL)
end

local function is_number(v)
  return type(v) == "number" or (class_of(v) == SYMBOL and not v.condition)
end

local function is_condition(v)
  return type(v) == "boolean" or (class_of(v) == SYMBOL and v.condition)
end

-- A number as a symbol.
local function lift(v)
  if type(v) == "number" then
    local whole = math_type(v) == "integer"
    if whole and (v >= LIMIT or v <= -LIMIT) then
      refuse("it computes with the integer %d, beyond 2^53", v)
    end
    local bound = v == v and v + 0.0 or nil -- a NaN bounds no choice that it is part of
    return { n = constant(v), whole = whole, low = bound, high = bound }
  elseif class_of(v) == SYMBOL and not v.condition then
    return v
  end
  slip("it computes with a %s value", name_of(v))
end

-- A condition that is `a` where c holds, else `b`; each is a node, true or false.
local function pick(c, a, b)
  if a == b then
    return a
  elseif type(a) == "boolean" and type(b) == "boolean" then
    return a and c or opposite(c)
  elseif a == true then
    return build(op.OR, c, b)
  elseif b == true then
    return build(op.OR, opposite(c), a)
  elseif a == false then
    return build(op.AND, opposite(c), b)
  elseif b == false then
    return build(op.AND, c, a)
  end
  return build(op.SELECT, c, a, b)
end

-- ---- choices ----

local function same(a, b)
  if class_of(a) == SYMBOL and class_of(b) == SYMBOL then
    return a.n == b.n and a.whole == b.whole and a.condition == b.condition
  end
  return rawequal(a, b) and math_type(a) == math_type(b) and (a ~= 0 or 1 / a == 1 / b)
end

-- What is `a` where c holds, else `b`.
local function merge(c, a, b)
  if same(a, b) then
    return a
  end
  return setmetatable({ c = c, a = a, b = b }, CHOICE)
end

-- The number or the condition that the choice always is; nil: it is none.
local function node_of_choice(v)
  if v.node == nil then
    local a, b, c = v.a, v.b, v.c
    if class_of(a) == CHOICE then
      a = node_of_choice(a)
    end
    if class_of(b) == CHOICE then
      b = node_of_choice(b)
    end
    v.node = false
    if is_number(a) and is_number(b) then
      a, b = lift(a), lift(b)
      local low, high = min(a.low or huge, b.low or huge), max(a.high or -huge, b.high or -huge)
      v.node = { number(build(op.SELECT, c, a.n, b.n), pick(c, a.whole, b.whole), low, high) }
    elseif is_condition(a) and is_condition(b) then
      v.node = { condition(pick(c, type(a) == "table" and a.n or a,
        type(b) == "table" and b.n or b)) }
    end
  end
  if v.node then
    return v.node[1]
  end
end

-- The value with the choices made that the path has made.
local function settled(v)
  while class_of(v) == CHOICE do
    local made = decided(v.c)
    if made == nil then
      return v
    elseif made then
      v = v.a
    else
      v = v.b
    end
  end
  return v
end

-- What is known of a value; and whether it is a choice that is open.
local function resolve(v)
  if type(v) ~= "table" then
    return v, false
  end
  v = settled(v)
  if class_of(v) == CHOICE then
    local node = node_of_choice(v)
    if node == nil then
      return v, true
    end
    v = node
  end
  if rawequal(v, UNKNOWN) then
    refuse "on line %L it uses a value that the reader has lost"
  elseif class_of(v) == SYMBOL and v.condition then
    local value = decided(v.n)
    if value ~= nil then
      return value, false
    end
  end
  return v, false
end

-- Ends the instruction: the condition must be decided first.
local function fork(c)
  FORK.condition = c
  error(FORK, 0)
end

-- The value, which is no choice.
local function value_of(v)
  local value, open = resolve(v)
  if open then
    fork(value.c)
  end
  return value
end

-- Whether the value counts as true: a node, true or false. Choices share parts: `seen` has what was
-- found for them.
local function truth(v, seen)
  local value, open = resolve(v)
  if open then
    seen = seen or {}
    if seen[value] == nil then
      seen[value] = pick(value.c, truth(value.a, seen), truth(value.b, seen))
    end
    return seen[value]
  elseif class_of(value) == SYMBOL and value.condition then
    return value.n
  end
  return value ~= nil and value ~= false
end

-- As above: true or false.
function V.holds(v)
  local c = truth(v)
  if type(c) == "boolean" then
    return c
  end
  local value = decided(c)
  if value == nil then
    fork(c)
  end
  return value
end

function V.negation(v)
  local c = truth(v)
  if type(c) == "boolean" then
    return not c
  end
  return condition(build(op.NOT, c))
end

-- What the value is where it counts as true, or as false.
function V.as(v, wanted, seen, truths)
  local value, open = resolve(v)
  seen, truths = seen or {}, truths or {}
  if open and seen[value] then
    return seen[value][1]
  elseif open then
    local result
    if truth(value.a, truths) == not wanted then
      result = V.as(value.b, wanted, seen, truths)
    elseif truth(value.b, truths) == not wanted then
      result = V.as(value.a, wanted, seen, truths)
    else
      result = merge(value.c, V.as(value.a, wanted, seen, truths),
        V.as(value.b, wanted, seen, truths))
    end
    seen[value] = { result }
    return result
  elseif is_condition(value) then
    return wanted
  end
  return value
end

-- Begins a reading.
function V.begin()
  path = { level = 0, weight = 1, cost = 0, since = 0, facts = {} }
  fails, V.kept, V.doubt, asked, depth = constant(0), false, nil, {}, 0
end

function V.fails()
  return fails
end

-- The present path, where it is not changed to another one.
function V.path(other)
  path = other or path
  return path
end

V.opposite, V.extend, V.pick = opposite, extend, pick
V.number, V.condition = number, condition
V.class_of, V.name_of, V.need, V.lift, V.merge = class_of, name_of, need, lift, merge
V.is_number, V.is_condition, V.settled, V.resolve = is_number, is_condition, settled, resolve
V.value_of, V.truth = value_of, truth
