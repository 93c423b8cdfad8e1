-- read_text.lua -- parse the text of functions: each expression becomes a function that gives its
-- value, for an activation `env`: a table of the variables. The text was compiled before, so that
-- what must stand somewhere does.
local host = ...
local V = host.values
local unpack, pack, next, type = table.unpack, table.pack, next, type
local load, math_type, tonumber = load, math.type, tonumber

local MOST_CALLS <const> = 150

local P = {} -- what read_statements.lua and read.lua get
local words, kinds, lines, at -- the tokens that are parsed, and which comes next
local scope -- of the function that is parsed: its blocks; `above` is that around it
local calls -- that are under way

local KEYWORDS = {}
local WORDS = "and break do else elseif end false for function goto if in local nil not or repeat "
for word in (WORDS .. "return then true until while"):gmatch "%w+" do
  KEYWORDS[word] = true
end

-- Operators: how strongly they bind to the left and to the right, and what they are called.
local BINARY = {
  ["or"] = { 1, 1 }, ["and"] = { 2, 2 }, ["<"] = { 3, 3, "LT" }, [">"] = { 3, 3, "LT" },
  ["<="] = { 3, 3, "LE" }, [">="] = { 3, 3, "LE" }, ["=="] = { 3, 3 }, ["~="] = { 3, 3 },
  ["|"] = { 4, 4, "BOR" }, ["~"] = { 5, 5, "BXOR" }, ["&"] = { 6, 6, "BAND" },
  ["<<"] = { 7, 7, "SHL" }, [">>"] = { 7, 7, "SHR" }, [".."] = { 9, 8, "CONCAT" },
  ["+"] = { 10, 10, "ADD" }, ["-"] = { 10, 10, "SUB" }, ["*"] = { 11, 11, "MUL" },
  ["/"] = { 11, 11, "DIV" }, ["//"] = { 11, 11, "IDIV" }, ["%"] = { 11, 11, "MOD" },
  ["^"] = { 14, 13, "POW" },
}
local UNARY = { ["-"] = "UNM", ["~"] = "BNOT", ["#"] = "LEN", ["not"] = "NOT" }

-- ---- tokens and names ----

local function is(word)
  return words[at] == word and kinds[at] ~= "string"
end

local function try(word)
  if is(word) then
    at = at + 1
    return true
  end
end

local function take()
  at = at + 1
  return words[at - 1]
end

-- Takes a word that is a key of the table.
function P.keyword(list)
  return kinds[at] ~= "string" and list[words[at]] and take()
end

local function is_name()
  return kinds[at] == "name" and not KEYWORDS[words[at]]
end

local function open_block()
  scope.block = { names = {}, above = scope.block, gotos = {}, labels = {} }
end

local function close_block()
  local block = scope.block
  scope.block = block.above
  for _, jump in next, block.above and block.gotos or {} do
    block.above.gotos[#block.above.gotos + 1] = jump
  end
end

local function declare(name)
  local variable = { name = name }
  scope.block.names[name] = variable
  return variable
end

-- The variable of that name in a function around; nil: it is from outside of the text.
local function find(name, from)
  local block = from.block
  while block do
    if block.names[name] then
      return block.names[name]
    end
    block = block.above
  end
  if not from.above then
    from.outside[name] = true
    return nil
  end
  local variable = find(name, from.above)
  if variable and not from.seen[variable] then
    from.seen[variable], variable.captured = true, true
    from.free[#from.free + 1] = variable
  end
  return variable
end

-- ---- expressions: tables with `run`; `multi` where it may give several values ----

local expression, explist, function_body

local function outside(env, name)
  local closure = env.closure
  local i = closure.index[name]
  if i then
    local _, value = host.getupvalue(closure.f, i)
    return value
  end
  local found = closure.code.constants[name]
  if found then
    return (found.run { closure = closure })
  end
  return V.index(host.environment(), name)
end

local function variable_named(name)
  local variable = find(name, scope)
  if variable then
    return { run = function(env) return env[variable][1] end, variable = variable,
      zero = variable.zero }
  end
  local line = lines[at - 1]
  return { outside = name, run = function(env)
    V.line = line
    return outside(env, name)
  end }
end

local function indexed(of, key, line)
  local a, b = of.run, key.run
  return { object = a, key = b, run = function(env)
    local t, k = a(env), b(env)
    V.line = line
    return V.index(t, k)
  end }
end

local function literal(value)
  return { run = function() return value end, zero = value == 0 and math_type(value) == "integer" }
end

local function called(f, list, line, method)
  local arguments = explist(list)
  return { multi = true, call = true, run = function(env)
    local target, object = f.run(env), nil
    if method then
      V.line = line
      target, object = V.index(target, method), target
    end
    local values = arguments(env, object)
    V.line = line
    return V.call(target, values)
  end }
end

-- { ... }
local function constructor()
  local line, items, position = lines[at], {}, 0
  take()
  while not is "}" do
    local item = {}
    if is "[" then
      take()
      item.key = expression(0).run
      take()
      take()
    elseif is_name() and words[at + 1] == "=" then
      item.key = literal(take()).run
      take()
    else
      position = position + 1
      item.position = position
    end
    item.value = expression(0)
    items[#items + 1] = item
    if not (try "," or try ";") then
      break
    end
  end
  take()
  local last = items[#items]
  local open = last and last.position and last.value.multi
  return { run = function(env)
    local t = {}
    for i = 1, #items do
      local item = items[i]
      local key = item.key and item.key(env) or item.position
      local values = pack(item.value.run(env))
      values.n = open and i == #items and values.n or 1
      V.line = line
      for k = 1, values.n do
        V.put(t, item.key and key or key + k - 1, values[k])
      end
    end
    V.line = line
    return V.made(t)
  end }
end

local function arguments_of_call()
  if kinds[at] == "string" or is "{" then
    return { expression(15) }
  end
  local list = {}
  take()
  while not is ")" do
    list[#list + 1] = expression(0)
    try ","
  end
  take()
  return list
end

-- A name or an expression in parentheses, with what follows it.
local function suffixed()
  local e
  if try "(" then
    local inner = expression(0).run
    take()
    e = { run = function(env) return (inner(env)) end }
  else
    e = variable_named(take())
  end
  while true do
    local line = lines[at]
    if try "." then
      e = indexed(e, literal(take()), line)
    elseif try "[" then
      e = indexed(e, expression(0), line)
      take()
    elseif try ":" then
      local method = take()
      e = called(e, arguments_of_call(), line, method)
    elseif kinds[at] == "string" or is "(" or is "{" then
      e = called(e, arguments_of_call(), line)
    else
      return e
    end
  end
end

local CONSTANTS = { ["nil"] = true, ["true"] = true, ["false"] = true }

local function simple()
  local word, kind = words[at], kinds[at]
  if kind == "string" then
    take()
    return literal(load("return " .. word)())
  elseif kind == "other" and word:find "^%.?%d" then
    take()
    return literal(tonumber(word))
  elseif CONSTANTS[word] then
    take()
    return literal(word == "true" or (word == "false" and false or nil))
  elseif word == "{" then
    return constructor()
  elseif try "function" then
    return function_body(nil, false)
  elseif try "..." then
    return { multi = true, run = function(env) return unpack(env.rest, 1, env.rest.n) end }
  end
  return suffixed()
end

-- `a and b`, `a or b`
local function logical(word, a, b)
  local decisive = word == "or" -- what a must be for it to be the value
  return function(env)
    local x = a(env)
    local c = V.truth(x)
    if type(c) == "boolean" then
      if c == decisive then
        return x
      end
      return (b(env))
    end
    local function first()
      return { n = 1, V.as(x, decisive) }
    end
    local function second()
      return { n = 1, (b(env)) }
    end
    return V.branch(c, decisive and first or second, decisive and second or first)[1]
  end
end

-- Whether Lua's compiler sees the integer 0 there: it makes x + 0 of x - 0.
local function is_zero(e, env)
  local constants = env.closure.code.constants
  return e.zero or (e.outside and constants[e.outside] and constants[e.outside].zero)
end

local function binary(word, left, right, line)
  local name, a, b = BINARY[word][3], left.run, right.run
  if word == "and" or word == "or" then
    return logical(word, a, b)
  elseif word == "==" or word == "~=" then
    return function(env)
      local x, y = a(env), b(env)
      V.line = line
      local equal = V.equal(x, y)
      if word == "~=" then
        return V.negation(equal)
      end
      return equal
    end
  end
  local swapped = word == ">" or word == ">="
  return function(env)
    local x, y = a(env), b(env)
    V.line = line
    if swapped then
      return V.operate(name, y, x)
    end
    return V.operate(y == 0 and word == "-" and is_zero(right, env) and "ADD" or name, x, y)
  end
end

function expression(limit)
  local line, word = lines[at], P.keyword(UNARY)
  local left
  if word then
    local name = UNARY[word]
    local operand = expression(12)
    local a = operand.run
    left = { zero = name == "UNM" and operand.zero, run = function(env)
      local x = a(env)
      V.line = line
      if name == "NOT" then
        return V.negation(x)
      end
      return V.operate(name, x)
    end }
  else
    left = simple()
  end
  while kinds[at] ~= "string" and BINARY[words[at]] and BINARY[words[at]][1] > limit do
    line = lines[at]
    word = take()
    local right = expression(BINARY[word][2])
    left = { run = binary(word, left, right, line) }
  end
  return left
end

-- What gives the list of values of the expressions, behind the value `first`.
function explist(list)
  local n = #list
  local last = list[n]
  return function(env, first)
    local values, before = {}, 0
    if first ~= nil then
      values[1], before = first, 1
    end
    for i = 1, n - 1 do
      values[before + i] = list[i].run(env)
    end
    values.n = before + n
    if n > 0 and last.multi then
      local more = pack(last.run(env))
      for k = 1, more.n do
        values[before + n - 1 + k] = more[k]
      end
      values.n = before + n - 1 + more.n
    elseif n > 0 then
      values[before + n] = last.run(env)
    end
    return values
  end
end

function P.expressions()
  local list = { expression(0) }
  while try "," do
    list[#list + 1] = expression(0)
  end
  return list
end

-- ---- functions ----

local function new_scope(above)
  scope = { above = above, free = {}, seen = {}, outside = above and above.outside or {} }
  open_block()
end

-- Parses `(a, b) ... end`.
local function parse_function(name, is_method)
  new_scope(scope)
  local code = { name = name, parameters = {}, names = {}, constants = {}, line = lines[at] }
  local own = scope
  own.code = code
  local function parameter(word)
    code.parameters[#code.parameters + 1], code.names[#code.names + 1] = declare(word), word
  end
  if is_method then
    parameter "self"
  end
  take()
  while not is ")" do
    if try "..." then
      code.vararg = true
    else
      parameter(take())
    end
    try ","
  end
  take()
  code.body = P.block()
  code.last = lines[at]
  take()
  code.free, code.outside = own.free, own.outside
  scope = own.above
  return code
end

function function_body(name, is_method)
  local code = parse_function(name, is_method)
  return { run = function(env)
    local variables = { f = env.closure.f, index = env.closure.index, file = env.closure.file }
    code.constants = env.closure.code.constants
    for i = 1, #code.free do
      variables[code.free[i]] = env[code.free[i]]
    end
    return V.closure(code, variables)
  end }
end

local function set_variable(env, variable, value)
  env[variable] = V.variable(value, not variable.captured)
end

-- Calls a function with a list of values.
function V.run(code, closure, list)
  local env, count = { closure = closure }, #code.parameters
  local line, file = V.line, V.file
  calls = calls + 1
  if calls > MOST_CALLS then
    V.refuse("it calls functions more than %d deep", MOST_CALLS)
  end
  for i = 1, #code.free do
    env[code.free[i]] = closure[code.free[i]]
  end
  for i = 1, count do
    set_variable(env, code.parameters[i], list[i])
  end
  env.rest = code.vararg and pack(unpack(list, count + 1, math.max(list.n, count)))
  env.frame = code.early and V.open()
  V.file = closure.file
  code.body(env)
  local values = env.frame and V.close(env.frame)
    or V.is_dead() and { n = 1, V.NOTHING } or env.result or { n = 0 }
  calls = calls - 1
  V.line, V.file = line, file
  return unpack(values, 1, values.n)
end

-- ---- for the parser of statements ----

local ENDS = { ["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true }

-- Whether the word is one that ends a block.
function P.at_end()
  return ENDS[words[at]] and kinds[at] ~= "string"
end

function P.line()
  return lines[at]
end

function P.scope()
  return scope
end

function P.begin()
  calls = 0
end

-- Parses from token `start` on by `how`.
function P.parse(list, start, how, ...)
  words, kinds, lines = unpack(list, 1, 3)
  at, scope = start, nil
  return how(...)
end

-- Parses `(a, b) ... end` of a function, whose token comes next, called so by what stands before.
function P.whole_function(name)
  local is_method = false
  take()
  while not is "(" do
    name = words[at]
    is_method = take() == ":" or is_method
  end
  return parse_function(name, is_method)
end

-- The expression of that number in a list.
function P.initial(number)
  new_scope(nil)
  return P.expressions()[number]
end

P.is, P.try, P.take, P.declare, P.open_block, P.close_block = is, try, take, declare, open_block,
  close_block
P.expression, P.explist, P.suffixed, P.indexed = expression, explist, suffixed, indexed
P.variable_named, P.literal, P.set_variable = variable_named, literal, set_variable
P.function_body = function_body
host.parser = P
