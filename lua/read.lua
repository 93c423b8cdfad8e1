-- read.lua -- read the text of functions: each statement and expression becomes a function that does
-- it with the values of read_values.lua, for an activation `env`: a table of the variables.
--
-- Functions are found by their lines; of several in the same lines the one whose compiled code is
-- that of the function (lines and names apart).
local host = ...
local V = host.values
local unpack, pack, format, next = table.unpack, table.pack, string.format, next
local dump, load, pcall, type = string.dump, load, pcall, type

local MOST_STEPS <const>, MOST_CALLS <const> = 200000, 150

local words, kinds, lines, at -- the tokens that are parsed, and which comes next
local scope -- of the function that is parsed: its blocks; `above` is that around it
local steps, calls

local KEYWORDS = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat " ..
  "return then true until while"):gmatch "%w+" do
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

-- The text was compiled, so that what must stand there does.
local function take()
  at = at + 1
  return words[at - 1]
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

local expression, block, explist, function_body

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
  return { run = function() return value end, zero = value == 0 and math.type(value) == "integer" }
end

local function called(f, list, line, method)
  local arguments = explist(list)
  return { multi = true, call = true, run = function(env)
    local target, values = f.run(env)
    if method then
      local object = target
      V.line = line
      target, values = V.index(object, method), arguments(env, object)
    else
      values = arguments(env)
    end
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
      local values = open and i == #items and pack(item.value.run(env)) or { n = 1, (item.value.run(env)) }
      local key = item.key and item.key(env) or item.position
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

-- Whether Lua's compiler puts the integer 0 in the place of the expression: it makes x + 0 of x - 0.
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
  local name, line, left = kinds[at] == "other" or words[at] == "not", lines[at], nil
  name = name and UNARY[words[at]]
  if name then
    take()
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
    local word = take()
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

local function expressions()
  local list = { expression(0) }
  while try "," do
    list[#list + 1] = expression(0)
  end
  return list
end

-- ---- functions ----

local function new_scope(above)
  scope = { above = above, free = {}, seen = {}, outside = above and above.outside or {}, file = V.file }
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
  code.body = block()
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
  local line, file, values = V.line, V.file, nil
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
  if env.frame then
    V.line = code.last
    values = V.close(env.frame)
  else
    values = V.is_dead() and { n = 1, V.NOTHING } or env.result or { n = 0 }
  end
  calls = calls - 1
  V.line, V.file = line, file
  return unpack(values, 1, values.n)
end

-- ---- statements: functions of env ----

local function assigned(target)
  local variable, name, object, key, line = target.variable, target.outside, target.object, target.key, lines[at]
  if variable then
    return function(env)
      return function(value) V.set(env[variable], value) end
    end
  elseif name then
    return function()
      return function()
        V.line = line
        V.changes(format("'%s', a variable outside of it", name:sub(1, 40)))
      end
    end
  end
  return function(env)
    local t, k = object(env), key(env)
    return function(value)
      V.line = line
      V.assign(t, k, value)
    end
  end
end

local function assignment(first)
  local targets = { assigned(first) }
  while try "," do
    targets[#targets + 1] = assigned(suffixed())
  end
  take()
  local values = explist(expressions())
  return function(env)
    local set = {}
    for i = 1, #targets do
      set[i] = targets[i](env)
    end
    local list = values(env)
    for i = #targets, 1, -1 do
      set[i](list[i])
    end
  end
end

local function local_variables()
  local names, constants, list = {}, {}, {}
  repeat
    names[#names + 1] = take()
    if try "<" then
      constants[#names] = take() == "const"
      take()
      if not constants[#names] then
        V.refuse "it declares a variable <close>"
      end
    end
  until not try ","
  list = try "=" and expressions() or list
  local values, variables = explist(list), {}
  for i = 1, #names do
    variables[i] = declare(names[i])
    variables[i].zero = constants[i] and list[i] and list[i].zero and i == #names and #list == #names
  end
  return function(env)
    local found = values(env)
    for i = 1, #variables do
      set_variable(env, variables[i], found[i])
    end
  end
end

local function local_function()
  local name = take()
  local variable = declare(name)
  local made = function_body(name, false).run
  return function(env)
    set_variable(env, variable, nil)
    env[variable][1] = made(env)
  end
end

local function function_statement()
  local name = take()
  local target, is_method = variable_named(name), false
  while is "." or is ":" do
    is_method = take() == ":"
    name = take()
    target = indexed(target, literal(name), lines[at])
  end
  local set, made = assigned(target), function_body(name, is_method).run
  return function(env) set(env)(made(env)) end
end

local function branches()
  local conditions, bodies, where, otherwise = {}, {}, {}, nil
  repeat
    where[#where + 1] = lines[at]
    conditions[#conditions + 1] = expression(0).run
    take()
    bodies[#bodies + 1] = block()
  until not try "elseif"
  if try "else" then
    otherwise = block()
  end
  take()
  local function choose(i, env)
    if not conditions[i] then
      return otherwise and otherwise(env)
    end
    V.line = where[i]
    local c = V.truth(conditions[i](env))
    if c == true then
      return bodies[i](env)
    elseif c == false then
      return choose(i + 1, env)
    end
    V.branch(c, function() bodies[i](env) end, function() choose(i + 1, env) end)
  end
  return function(env) choose(1, env) end
end

-- A loop whose body is parsed by `parse`; `break` in it leaves the loop's frame.
local function in_loop(parse)
  local loop = { above = scope.loop }
  scope.loop = loop
  local body = parse()
  scope.loop = loop.above
  return body, function(env, run)
    env[loop] = loop.left and V.open()
    run()
    if env[loop] then
      V.close(env[loop])
    end
  end
end

local function goes_on(c, line)
  if type(c) ~= "boolean" then
    V.refuse("the loop on line %d ends where a value says so that is known in a cell only", line)
  end
  return c
end

local function while_loop()
  local line, condition = lines[at], expression(0).run
  take()
  local body, loop = in_loop(block)
  take()
  return function(env)
    loop(env, function()
      while not V.is_dead() do
        local c = V.truth(condition(env))
        if type(c) ~= "boolean" then -- once is enough where its body returns
          V.branch(c, function()
            body(env)
            if not V.is_dead() then
              goes_on(c, line)
            end
          end, function() end)
          break
        elseif not c then
          break
        end
        body(env)
      end
    end)
  end
end

local function repeat_loop()
  local line, condition = lines[at], nil
  local body, loop = in_loop(function()
    return block(function()
      take()
      condition = expression(0).run
    end)
  end)
  return function(env)
    loop(env, function()
      repeat
        body(env)
      until V.is_dead() or goes_on(V.truth(condition(env)), line)
    end)
  end
end

local function number_loop(name, line)
  local bounds = explist(expressions())
  take()
  open_block()
  local variable = declare(name)
  local body, loop = in_loop(block)
  close_block()
  take()
  return function(env)
    local range = bounds(env)
    for i = 1, 3 do
      range[i] = V.each(range[i], function(v)
        if type(v) == "table" then
          goes_on(v, line)
        end
        return v
      end)
    end
    V.line = line
    loop(env, function()
      if type(range[1]) ~= "number" or type(range[2]) ~= "number" or (range[3] or 1) == 0 then
        V.mistake "the bounds of a loop must be numbers"
      end
      for i = range[1], range[2], range[3] or 1 do
        set_variable(env, variable, i)
        body(env)
        if V.is_dead() then
          break
        end
      end
    end)
  end
end

local function list_loop(first, line)
  local names, variables = { first }, {}
  while try "," do
    names[#names + 1] = take()
  end
  take()
  local values = explist(expressions())
  take()
  open_block()
  for i = 1, #names do
    variables[i] = declare(names[i])
  end
  local body, loop = in_loop(block)
  close_block()
  take()
  return function(env)
    local list = values(env)
    local control = list[3]
    loop(env, function()
      while not V.is_dead() do
        V.line = line
        local found = pack(V.call(list[1], { n = 2, list[2], control }))
        if V.is_open(found[1]) then
          goes_on(nil, line)
        elseif found[1] == nil or found[1] == V.NOTHING then
          break
        end
        control = found[1]
        for i = 1, #variables do
          set_variable(env, variables[i], found[i])
        end
        body(env)
      end
    end)
  end
end

local function for_loop()
  local line, name = lines[at], take()
  if try "=" then
    return number_loop(name, line)
  end
  return list_loop(name, line)
end

local function return_statement()
  local list = {}
  local ends = { ["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true, [";"] = true }
  if kinds[at] == "string" or not ends[words[at]] then
    list = expressions()
  end
  try ";"
  local values, code = explist(list), scope.code
  code.early = code.early or scope.block.above.above ~= nil
  return function(env)
    local found = values(env)
    if env.frame then
      V.leave(env.frame, found)
    else
      env.result = found
    end
  end
end

local function break_statement()
  local loop = scope.loop
  loop.left = true
  return function(env) V.leave(env[loop], { n = 0 }) end
end

-- Jumps forward leave a frame that ends at the label.
local function goto_statement()
  local jump = { name = take(), line = lines[at - 1] }
  scope.block.gotos[#scope.block.gotos + 1] = jump
  return function(env)
    if not jump.label then
      V.refuse("it jumps back by goto on line %d", jump.line)
    end
    V.leave(env[jump.label], { n = 0 })
  end
end

local function label()
  local name, labels = take(), scope.block.labels
  local here = { name = name }
  take()
  for _, jump in next, scope.block.gotos do
    if jump.name == name and not jump.label then
      jump.label, here.used = here, true
    end
  end
  if here.used then
    labels[#labels + 1] = here
  end
  return function(env)
    if here.used then
      V.close(env[here])
    end
  end, here
end

local STATEMENTS = {
  ["if"] = branches, ["while"] = while_loop, ["repeat"] = repeat_loop, ["for"] = for_loop,
  ["function"] = function_statement, ["return"] = return_statement, ["break"] = break_statement,
  ["goto"] = goto_statement, ["::"] = label,
  ["do"] = function()
    local body = block()
    take()
    return body
  end,
  ["local"] = function()
    return try "function" and local_function() or local_variables()
  end,
}

local function statement()
  local word = kinds[at] ~= "string" and STATEMENTS[words[at]] and take()
  if word then
    return STATEMENTS[word]()
  end
  local e = suffixed()
  if e.call then
    local run = e.run
    return function(env) run(env) end
  end
  return assignment(e)
end

local ENDS = { ["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true }

-- Parses statements up to the word that ends them; `behind` parses on in their scope.
function block(behind)
  local list, is_label = {}, {}
  open_block()
  local labels = scope.block.labels
  while not (ENDS[words[at]] and kinds[at] ~= "string") do
    if not try ";" then
      local run, here = statement()
      list[#list + 1] = run
      is_label[#list] = here and here.used
    end
  end
  if behind then
    behind()
  end
  close_block()
  return function(env)
    for i = #labels, 1, -1 do
      env[labels[i]] = V.open()
    end
    for i = 1, #list do
      steps = steps + 1
      if steps > MOST_STEPS then
        V.refuse("it takes more than %d steps", MOST_STEPS)
      end
      if is_label[i] or not V.is_dead() then
        list[i](env)
      elseif #labels == 0 then
        return
      end
    end
  end
end

-- ---- the text of a function ----

local NESTING = { ["{"] = 1, ["("] = 1, ["["] = 1, ["function"] = 1, ["if"] = 1, ["do"] = 1, ["repeat"] = 1,
  ["}"] = -1, [")"] = -1, ["]"] = -1, ["end"] = -1, ["until"] = -1 }

-- A variable `name <const>` around token `from` whose value Lua's compiler has put into the text.
local function find_constant(name, from)
  local depth = 0
  for i = from - 1, 1, -1 do
    local nesting = kinds[i] ~= "string" and NESTING[words[i]] or 0
    depth = depth - nesting < 0 and 0 or depth - nesting
    if depth == 0 and words[i] == name and words[i + 1] == "<" and words[i + 2] == "const" then
      local count = 1
      for k = i - 1, 1, -1 do
        if words[k] == "local" then
          break
        end
        count = count + (words[k] == "," and 1 or 0)
      end
      at = i + 5
      new_scope(nil)
      return expressions()[count]
    end
  end
end

local function parse_at(start, name)
  at, scope = start, nil
  local is_method = false
  while not is "(" do
    name = words[at]
    is_method = take() == ":" or is_method
  end
  return parse_function(name, is_method)
end

-- The tokens of a function on their lines, but for what stands before its parameters.
local function text_from(first, last, line)
  local list, i, is_method = { "function " }, first + 1, false
  while words[i] ~= "(" do
    is_method = is_method or words[i] == ":"
    i = i + 1
  end
  list[2] = is_method and (words[i + 1] == ")" and "(self" or "(self,") or "("
  for k = i + 1, last do
    list[#list + 1] = ("\n"):rep(lines[k] - line) .. words[k] .. " "
    line = lines[k]
  end
  return table.concat(list)
end

-- The functions in the text from line `first` to `last`.
local function candidates(source, first, last)
  local list = {}
  words, kinds, lines = host.tokens(source, first, last)
  if not words then
    V.refuse "it calls a function whose text is not known"
  end
  local w, k, l, depth = words, kinds, lines, nil
  for i = 1, #w do
    if w[i] == "function" and k[i] == "name" and l[i] <= first then
      local j = i
      depth = 0
      repeat
        depth = depth + (k[j] ~= "string" and NESTING[w[j]] or 0)
        j = j + 1
      until depth == 0 or j > #w
      if depth == 0 and l[j - 1] == last then
        words, kinds, lines = w, k, l
        list[#list + 1] = { code = parse_at(i + 1, w[i - 1] == "=" and w[i - 2] or nil),
          text = text_from(i, j - 1, first) }
      end
    end
  end
  return list
end

-- Whether the function may have this code, by its parameters and by what it sees of outside.
local function may_be(f, code, upvalues, info)
  if info.nparams ~= #code.names or info.isvararg ~= (code.vararg or false) then
    return false
  end
  for i, name in next, code.names do
    if host.getlocal(f, i) ~= name then
      return false
    end
  end
  for name in next, upvalues do
    if not code.outside[name] and name ~= "_ENV" then
      return false
    end
  end
  return true
end

-- Whether the text compiles to the function's code. How its upvalues are reached is not compared:
-- where that stands in the code is seen by compiling the text in two ways.
local function compiles_to(f, text, names, line)
  local gap = ("\n"):rep(line - 1)
  local declared = #names > 0 and "local " .. table.concat(names, ",") .. " " or ""
  local one = load(gap .. "local before " .. declared .. "return " .. text)
  local two = load(gap .. declared .. "return (function() return " .. text .. " end)()")
  if not (one and two) then
    return false
  end
  local a, b, code, first = dump(one(), true), dump(two(), true), dump(f, true), 1
  while first <= #a and a:byte(first) == b:byte(first) do
    first = first + 1
  end
  return #code == #a and code:sub(1, first - 1) == a:sub(1, first - 1)
    and code:sub(first + 3 * #names) == a:sub(first + 3 * #names)
end

local function find_text(f)
  local info = host.getinfo(f, "Su")
  if info.what == "C" then
    return {}
  end
  local index, names, list = {}, {}, {}
  for i = 1, info.nups do
    names[i] = host.getupvalue(f, i)
    index[names[i]] = i
  end
  for _, candidate in next, candidates(info.source, info.linedefined, info.lastlinedefined) do
    if may_be(f, candidate.code, index, info) then
      list[#list + 1] = candidate
    end
  end
  for i = #list, 1, -1 do
    if #list > 1 and not compiles_to(f, list[i].text, names, info.linedefined) then
      table.remove(list, i)
    end
  end
  if #list == 0 then
    V.refuse("it calls a function on line %d that cannot be told from others there", info.linedefined)
  end
  local code = list[1].code
  for name in next, code.outside do
    if not index[name] and host.has_constant(info.source, name) then
      words, kinds, lines = host.tokens(info.source, 1, info.linedefined)
      code.constants[name] = find_constant(name, #words + 1)
    end
  end
  return { code = code, f = f, index = index, file = info.source }
end

local texts = setmetatable({}, { __mode = "k" })

-- The code of a function of Lua, and the function as a closure; nothing of one of C.
function V.text_of(f)
  if type(f) ~= "function" then
    return nil
  end
  texts[f] = texts[f] or find_text(f)
  return texts[f].code, texts[f]
end

-- ---- the whole ----

-- Reads the function with these arguments: nodes, or false for the cell.
local function read(f, arguments)
  local list = { n = #arguments }
  local code, closure = V.text_of(f)
  for i = 1, #arguments do
    list[i] = arguments[i] and V.number(arguments[i]) or V.cell()
  end
  V.line, V.file = code.line, closure.file
  local values = pack(V.run(code, closure, list))
  if V.is_dead() then
    V.refuse "it always ends in an error"
  end
  V.line, V.file = code.line, closure.file
  return values, code
end

-- Each returns nodes and the node of the failure, or nil with the reason: its text and, for a
-- mistake, file and line.
local function guarded(what, ...)
  steps, calls = 0, 0
  V.begin()
  local result = pack(pcall(what, ...))
  if result[1] then
    return unpack(result, 2, result.n)
  elseif type(result[2]) == "table" then
    local e = result[2]
    return nil, e.text, e.mistake and e.file, e.line, V.kept
  end
  return nil, format("reading it fails on line %d: %s", V.line, tostring(result[2]))
end

-- A law: as many values as `results`; or a predicate.
function V.read_law(f, arguments, results, predicate)
  V.fields = nil
  return guarded(function()
    local values = read(f, arguments)
    if values.n ~= results then
      V.refuse("it returns %d value%s", values.n, values.n == 1 and "" or "s")
    end
    for i = 1, results do
      values[i] = V.node_of(values[i], predicate)
    end
    return values, V.fails()
  end)
end

-- A function of cells with these fields: names, each with index, low, high, state; `only`: the name
-- of the only state field, where bare numbers are allowed. Without state: numbers.
function V.read_rule(f, arguments, fields, dims, reach, only, numbers)
  V.fields, V.state, V.dims, V.reach, V.only = fields, {}, dims, reach, only
  for name, field in next, fields do
    V.state[name] = field.state and field or nil
  end
  return guarded(function()
    local values, code = read(f, arguments)
    local nodes = {}
    V.last = code.last
    if values.n == 0 then
      V.line = V.last
      V.mistake "it returns nothing on some way"
    elseif numbers then
      for i = 1, values.n do
        nodes[i] = { i - 1, (V.node_of(values[i])) }
      end
      return nodes, V.fails(), code.name
    end
    local given = V.fields_of(values[1])
    for name in host.globals.pairs(given) do
      local field = fields[name]
      local n, whole = V.node_of(given[name])
      if field.low and whole ~= true then
        V.mistake("it returns a real number for the whole number '%s'; math.floor makes it whole", name)
      end
      nodes[#nodes + 1] = { field.index, n }
    end
    return nodes, V.fails(), code.name
  end)
end

return V
