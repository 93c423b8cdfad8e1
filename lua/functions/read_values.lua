-- read_values.lua -- symbolic values and path conditions.
--
-- Beside Lua's own values an execution has
--
--   SYMBOL    a number or condition that is a node of the graph: { n = node, ... }
--   CHOICE    if c then a else b, of any two values: { c = node, a = value, b = value }
--   CELL      the cell that a rule computes, or a neighbour: { dx, dy, dz }
--   CLOSURE   a function of the script: { code = ..., boxes = ... }
--   UNKNOWN   a lost value: an instruction that uses it ends the reading
--
-- Paths form a tree: each adds one condition to that of the path above it. An instruction is
-- reached where the conditions of its path and of all paths above hold.
--
--      { level 0 } <- { n: x < 1 } <- { n: y < 2 }         reached where x < 1 and y < 2
--                  <- { n: not x < 1 }
--
-- The path decides further conditions, and so picks sides of choices. An undecided choice of two
-- numbers or of two conditions becomes a SELECT node when it is used. Any other undecided choice
-- aborts the instruction, which is repeated on one path for each side (read_states.lua).
--
-- `V` holds the functions of read.c, which handle nodes by number, and what the files of the reader
-- share.
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

-- A class is a metatable that scripts can neither see nor set.
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

-- Raised to abort an instruction: FORK, to decide FORK.condition first; DEAD, since Lua would raise
-- an error on this path.
local FORK, DEAD = {}, {}
V.FORK, V.DEAD = FORK, DEAD

-- Ends the reading, with the reason why Lua has to evaluate the function. %L stands for the line.
local function refuse(text, ...)
  text = gsub(text, "%%L", V.line())
  error({ text = format(text, ...) }, 0)
end

-- As refuse(), for a mistake of the script. In a rule it is an error at the present line.
local function mistake(text, ...)
  error({ text = format(text, ...), line = V.line(), file = V.file(), mistake = true }, 0)
end
V.refuse, V.mistake = refuse, mistake

-- A mistake if the path is reached, which is certain only without conditions. Otherwise the
-- function fails on this path, so that Lua evaluates it there, and the comparison with Lua
-- (compare.c) finds out.
local function mistake_if_reached(text, ...)
  local _, e = pcall(mistake, text, ...)
  if not V.path().above then
    error(e, 0)
  end
  V.doubt = V.doubt or e
  V.raise()
end
V.mistake_if_reached = mistake_if_reached

-- The class of a symbolic value; nil: a value of Lua.
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

local path -- the present path
local fails -- node: where Lua would raise an error

-- A path below `above` with one more condition:
--   n       the condition, a node
--   facts   by node: the truth value of conditions that the path decides; inherited
--   weight  the fraction of all cases: joined paths with the weight of their ancestor cover it
--   cost    a measure of the operations that its conditions take
--   since   time of its creation
--   split   time of the last fork into paths below
local function extend(above, n, weight, since)
  local below = { above = above, n = n, level = above.level + 1, weight = weight, since = since,
    cost = above.cost + (parts(n) == op.NOT and 3 or 2),
    facts = setmetatable({}, { __index = above.facts, __metatable = false }) }
  if below.level > MOST_LEVELS then
    refuse("it has more than %d conditions inside each other", MOST_LEVELS)
  end
  return below
end

-- The conjunction of all conditions of a path: a node.
local function reached(from)
  from.all = from.all or (from.above and build(op.AND, reached(from.above), from.n) or constant(1))
  return from.all
end

-- Lua raises an error on this path where condition n is false. `whole`, a condition: only where it
-- holds, since the operand is an integer there.
local function fail_unless(n, whole)
  if whole and whole ~= true then
    n = build(op.OR, build(op.NOT, whole), n)
  end
  if known(n) ~= 1 then
    fails = build(op.OR, fails, build(op.AND, reached(path), build(op.NOT, n)))
  end
end

-- Lua raises an error wherever this path is reached.
function V.raise()
  fail_unless(constant(0))
  error(DEAD, 0)
end

local decided
local queries, depth = 0, 0 -- number of outermost queries; nesting depth of the present one
local undecided_in -- by node: the query that left it undecided

-- The value of a composed condition by those of its operands: true, false or nil (undecided).
local function decided_by_operands(n)
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

-- As above. A node that is shared by several conditions is evaluated once per query.
local function decided_once(n)
  if depth == 0 then
    queries = queries + 1
  elseif undecided_in[n] == queries then
    return nil
  end
  depth = depth + 1
  local value = decided_by_operands(n)
  depth = depth - 1
  undecided_in[n] = value == nil and queries or nil
  return value
end

-- The value of a condition on this path: true, false or nil (undecided).
function decided(n)
  local fact, facts = path.facts[n], path.facts
  if fact == nil then
    local value = known(n)
    if value then
      return value ~= 0
    end
    fact = decided_once(n)
    facts[n] = fact
  end
  return fact
end

-- Adds to the facts that condition n is `value`, and what follows for its operands.
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

-- Whether the present path can be reached: its facts make no condition of the paths above false.
local function is_possible()
  local up = path.above
  while up.above do
    if decided_once(up.n) == false then
      return false
    end
    up = up.above
  end
  return true
end

-- The negation of a condition.
local function opposite(n)
  local operation, a = parts(n)
  return operation == op.NOT and a or build(op.NOT, n)
end

-- A path below `above` on which condition n holds as well; nil: n cannot hold there.
local function side(above, n, since)
  path = extend(above, n, above.weight / 2, since)
  assume(path.facts, n, true)
  return is_possible() and path or nil
end

-- Forks the path: one path on which the condition holds, one on which it does not; nil for an
-- impossible one.
function V.split(c, since)
  local above = path
  above.split = since
  local yes, no = side(above, c, since), side(above, opposite(c), since)
  path = above
  return yes, no
end

-- f(a) on the path where the condition holds, and f(b) on the other; nil for a side that always
-- ends in an error.
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

-- From here on the condition holds on this path.
function V.assume(c)
  assume(path.facts, c, true)
end

-- Replaces the path above by this one when no other path below it is left.
function V.widen(p)
  while p.above and p.weight == p.above.weight do
    local above = p.above
    p.above, p.n, p.level, p.cost, p.all = above.above, above.n, above.level, above.cost, nil
    p.joined, p.since = above.joined, above.since
  end
end

-- Ends a path: its weight is taken from all paths above.
function V.abandon(ended)
  local weight = ended.weight
  repeat
    ended.weight = ended.weight - weight
    ended = ended.above
  until not ended
end

-- ---- numbers and conditions ----

-- The number at node n. `whole`: whether Lua has an integer: true, false (nil) or a condition. An
-- integer lies between low and high.
local function number(n, whole, low, high)
  local value = known(n)
  if value and (whole == true or not whole) then
    return whole and tointeger(value) or value
  elseif whole == true then
    bounds(n, low, high)
  end
  return setmetatable({ n = n, whole = whole or false, low = low, high = high }, SYMBOL)
end

-- The condition at node n, or true or false.
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

-- A number with the members of a symbol; a number of Lua becomes a constant.
local function lift(v)
  if type(v) == "number" then
    local whole = math_type(v) == "integer"
    if whole and (v >= LIMIT or v <= -LIMIT) then
      refuse("it computes with the integer %d, beyond 2^53", v)
    end
    local bound = v == v and v + 0.0 or nil -- a choice with a NaN has no bounds
    return { n = constant(v), whole = whole, low = bound, high = bound }
  elseif class_of(v) == SYMBOL and not v.condition then
    return v
  end
  mistake_if_reached("it computes with a %s value", name_of(v))
end

-- The condition "if c then a else b". `a`, `b` and the result: a node, true or false.
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

-- The value "if c then a else b".
local function merge(c, a, b)
  if same(a, b) then
    return a
  end
  return setmetatable({ c = c, a = a, b = b }, CHOICE)
end

-- The SELECT of a choice between numbers or between conditions; nil: it has other values too.
-- Kept in v.node: { value }, or false.
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

-- Follows a choice as far as the path decides it.
local function follow(v)
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

-- The value on this path, and whether it is still an undecided choice.
local function resolve(v)
  if type(v) ~= "table" then
    return v, false
  end
  v = follow(v)
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

-- Aborts the instruction: the state forks by the condition.
local function fork_by(c)
  FORK.condition = c
  error(FORK, 0)
end

-- The value on this path. Forks on an undecided choice.
local function value_of(v)
  local value, open = resolve(v)
  if open then
    fork_by(value.c)
  end
  return value
end

-- Whether the value counts as true: a node, true or false. `seen` keeps the result for choices,
-- which share parts.
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

-- As truth(), but true or false: forks on an undecided condition.
function V.holds(v)
  local c = truth(v)
  if type(c) == "boolean" then
    return c
  end
  local value = decided(c)
  if value == nil then
    fork_by(c)
  end
  return value
end

-- not v
function V.negation(v)
  local c = truth(v)
  if type(c) == "boolean" then
    return not c
  end
  return condition(build(op.NOT, c))
end

-- Narrows a value to the sides that count as true (`wanted`), or as false. `seen` and `truths` keep
-- results for choices, which share parts.
function V.narrowed(v, wanted, seen, truths)
  local value, open = resolve(v)
  seen, truths = seen or {}, truths or {}
  if open and seen[value] then
    return seen[value][1]
  elseif open then
    local result
    if truth(value.a, truths) == not wanted then
      result = V.narrowed(value.b, wanted, seen, truths)
    elseif truth(value.b, truths) == not wanted then
      result = V.narrowed(value.a, wanted, seen, truths)
    else
      result = merge(value.c, V.narrowed(value.a, wanted, seen, truths),
        V.narrowed(value.b, wanted, seen, truths))
    end
    seen[value] = { result }
    return result
  elseif is_condition(value) then
    return wanted
  end
  return value
end

-- Begins the reading of a function.
function V.begin()
  path = { level = 0, weight = 1, cost = 0, since = 0, facts = {} }
  fails, V.kept, V.doubt, undecided_in, depth = constant(0), false, nil, {}, 0
end

-- The node that is true where Lua would raise an error.
function V.fails()
  return fails
end

-- The present path, after setting it to `other` if that is given.
function V.path(other)
  path = other or path
  return path
end

V.opposite, V.extend, V.pick = opposite, extend, pick
V.number, V.condition = number, condition
V.class_of, V.name_of, V.fail_unless, V.lift, V.merge = class_of, name_of, fail_unless, lift, merge
V.is_number, V.is_condition, V.follow, V.resolve = is_number, is_condition, follow, resolve
V.value_of, V.truth = value_of, truth
