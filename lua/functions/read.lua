-- read.lua -- the entry points for read.c: V.read_law and V.read_rule read a function into nodes of
-- a graph, V.numbers_of collects the numbers that it sees.
local V = ...
local pack, unpack, sort, format = table.pack, table.unpack, table.sort, string.format
local next, pcall, rawget, tostring, type = next, pcall, rawget, tostring, type

-- ---- functions become graphs ----

-- Executes f symbolically. `arguments`: nodes, or false for the cell. Returns the list of results,
-- and the code.
local function read(f, arguments)
  local list, closure = { n = #arguments }, V.closure_of(f)
  V.begin_states(closure.code.first, closure.code.file)
  for i = 1, #arguments do
    list[i] = arguments[i] and V.number(arguments[i]) or V.cell()
  end
  return V.run(closure, list), closure.code
end

-- Returns what `what` returns: nodes and the failure node. Where it is refused: nil, the reason,
-- file and line (of a mistake only), and whether the function changes something outside of it.
local function guarded(what, ...)
  V.begin()
  local result = pack(pcall(what, ...))
  if result[1] then
    return unpack(result, 2, result.n)
  elseif result[2] == V.DEAD and not V.doubt then
    return nil, "it always ends in an error"
  elseif type(result[2]) == "table" then
    local e = result[2] == V.DEAD and V.doubt or result[2]
    return nil, e.text, e.mistake and e.file, e.line, V.kept
  end
  return nil, format("reading it fails on line %s: %s", V.line(), tostring(result[2]))
end

-- Reads a function with `results` results; `predicate`: they are conditions.
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

-- Reads a function of cells.
--   fields   by name: { index, state, low, high }; low and high: of a field of integers
--   reach    the largest distance of a neighbour
--   only     the name of the only state field, for which a bare number may be returned; or nil
--   numbers  it returns numbers, not a table of fields
--   unknown  unknown(name, state): a text, for messages, on a field that does not exist
-- Returns { {index, node} ... }, the failure node, the function's name, and the mistake that it
-- makes if an undecided branch is reached.
function V.read_rule(f, arguments, fields, dims, reach, only, numbers, unknown)
  V.fields, V.dims, V.reach, V.only, V.unknown = fields, dims, reach, only, unknown
  return guarded(function()
    local values, code = read(f, arguments)
    local nodes, called = {}, V.function_name(code.file, code.first)
    V.last = code.last
    if values.n == 0 then
      V.at_line(V.last)
      V.mistake "it returns nothing on some way"
    elseif numbers then
      for i = 1, values.n do
        nodes[i] = { i - 1, (V.node_of(values[i])) }
      end
      return nodes, V.fails(), called, V.doubt
    end
    local given = V.fields_of(values[1])
    for name in next, given do
      local field = fields[name]
      local n, whole = V.node_of(given[name])
      if field.low and whole ~= true then
        V.mistake("it returns a real number for the whole number '%s'; math.floor makes it whole",
          name)
      end
      nodes[#nodes + 1] = { field.index, n }
    end
    return nodes, V.fails(), called, V.doubt
  end)
end

-- ---- the numbers that a function sees ----

local DEEPEST <const>, MOST_ENTRIES <const>, MOST_FUNCTIONS <const> = 4, 1000, 100

-- Instructions with a number of the text as an operand.
local OPERANDS = { LOADI = "sBx", LOADF = "sBx", ADDI = "sC", SHRI = "sC", SHLI = "sC", EQI = "sB",
  LTI = "sB", LEI = "sB", GTI = "sB", GEI = "sB" }

-- The sorted numbers in the code of f, its upvalues, the globals that it reads, and the tables and
-- functions among them. Near them compare.c compares the program with Lua. Tables with more than
-- MOST_ENTRIES entries are data, and left out.
function V.numbers_of(f)
  local found, seen, functions = {}, {}, 0
  local visit

  local function note(n)
    if n == n then
      found[n] = true
    end
  end

  -- Notes the numbers of the code, and collects the names of the globals that it reads.
  local function visit_code(code, globals)
    for i = 1, #code do
      local instruction = code[i]
      local operand = OPERANDS[instruction.operation]
      if operand then
        note(instruction[operand])
      elseif instruction.operation == "GETTABUP" and globals then
        globals[code.constants[instruction.C + 1]] = true
      end
    end
    for _, constant in next, code.constants do
      if type(constant) == "number" then
        note(constant)
      end
    end
    for i = 1, #code.functions do
      visit_code(code.functions[i], globals)
    end
  end

  local function visit_function(value, depth)
    functions = functions + 1
    if functions > MOST_FUNCTIONS then
      return
    end
    local globals, code = {}, V.code_of(value)
    visit_code(code, globals)
    for i = 1, #code.upvalues do
      local seen_value = V.getupvalue(value, i)
      if code.upvalues[i].name == "_ENV" and type(seen_value) == "table" then
        for name in next, globals do
          visit(rawget(seen_value, name), depth + 1)
        end
      else
        visit(seen_value, depth + 1)
      end
    end
  end

  local function visit_table(value, depth)
    local count = 0
    for _ in next, value do
      count = count + 1
      if count > MOST_ENTRIES then
        return
      end
    end
    for _, entry in next, value do
      visit(entry, depth + 1)
    end
  end

  function visit(value, depth)
    local kind = type(value)
    if kind == "number" then
      note(value)
    elseif (kind == "function" or kind == "table") and not seen[value] and depth <= DEEPEST then
      seen[value] = true
      if kind == "table" then
        visit_table(value, depth)
      elseif V.kind_of(value) == "script" then
        visit_function(value, depth)
      end
    end
  end

  visit(f, 0)
  local list = {}
  for n in next, found do
    list[#list + 1] = n + 0.0
  end
  sort(list)
  return list
end
