-- read_statements.lua -- parse statements: each becomes a function that does it, for an activation.
local host = ...
local V, P = host.values, host.parser
local pack, format, next, type = table.pack, string.format, next, type
local is, try, take, declare, at_end = P.is, P.try, P.take, P.declare, P.at_end
local expression, expressions, explist = P.expression, P.expressions, P.explist
local suffixed, function_body, set_variable = P.suffixed, P.function_body, P.set_variable

local MOST_STEPS <const> = 200000

local steps, block

local function assigned(target)
  local variable, name, line = target.variable, target.outside, P.line()
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
    local t, k = target.object(env), target.key(env)
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
  end
  if constants[#names] and #list == #names then -- Lua's compiler puts its value into the text
    variables[#names].zero = list[#names].zero
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
  local target, is_method = P.variable_named(name), false
  while is "." or is ":" do
    is_method = take() == ":"
    name = take()
    target = P.indexed(target, P.literal(name), P.line())
  end
  local set, made = assigned(target), function_body(name, is_method).run
  return function(env) set(env)(made(env)) end
end

local function branches()
  local conditions, bodies, where, otherwise = {}, {}, {}, nil
  repeat
    where[#where + 1] = P.line()
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
  local scope = P.scope()
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
  local line, condition = P.line(), expression(0).run
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
  local line, condition = P.line(), nil
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
  P.open_block()
  local variable = declare(name)
  local body, loop = in_loop(block)
  P.close_block()
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
  P.open_block()
  for i = 1, #names do
    variables[i] = declare(names[i])
  end
  local body, loop = in_loop(block)
  P.close_block()
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
  local line, name = P.line(), take()
  if try "=" then
    return number_loop(name, line)
  end
  return list_loop(name, line)
end

local function return_statement()
  local list = (at_end() or is ";") and {} or expressions()
  try ";"
  local values, code = explist(list), P.scope().code
  code.early = code.early or P.scope().block.above.above ~= nil
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
  local loop = P.scope().loop
  loop.left = true
  return function(env) V.leave(env[loop], { n = 0 }) end
end

-- Jumps forward leave a frame that ends at the label.
local function goto_statement()
  local jump, gotos = { line = P.line(), name = take() }, P.scope().block.gotos
  gotos[#gotos + 1] = jump
  return function(env)
    if not jump.label then
      V.refuse("it jumps back by goto on line %d", jump.line)
    end
    V.leave(env[jump.label], { n = 0 })
  end
end

local function label()
  local name, block_of, here = take(), P.scope().block, {}
  local labels = block_of.labels
  take()
  for _, jump in next, block_of.gotos do
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
  local word = P.keyword(STATEMENTS)
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

-- Parses statements up to the word that ends them; `behind` parses on in their scope.
function block(behind)
  local list, is_label = {}, {}
  P.open_block()
  local labels = P.scope().block.labels
  while not at_end() do
    if not try ";" then
      local run, here = statement()
      list[#list + 1] = run
      is_label[#list] = here and here.used
    end
  end
  if behind then
    behind()
  end
  P.close_block()
  return function(env)
    for i = #labels, 1, -1 do
      env[labels[i]] = V.open()
    end
    steps = steps + #list + 1
    if steps > MOST_STEPS then
      V.refuse("it takes more than %d steps", MOST_STEPS)
    elseif host.is_late() then
      V.refuse "reading it takes too long"
    end
    for i = 1, #list do
      if is_label[i] or not V.is_dead() then
        list[i](env)
      elseif #labels == 0 then
        return
      end
    end
  end
end

P.block = block

function P.begin_steps()
  steps = 0
end
