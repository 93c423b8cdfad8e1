-- read_survey.lua -- collect the numbers that a function sees: the places near which its program is
-- compared with Lua (compare.c).
local V = ...
local getupvalue, next, type, rawget = V.getupvalue, next, type, rawget
local sort = table.sort

local DEEPEST <const>, MOST_ENTRIES <const>, MOST_FUNCTIONS <const> = 4, 1000, 100

-- Instructions with a number of the text as an operand.
local OPERANDS = { LOADI = "sBx", LOADF = "sBx", ADDI = "sC", SHRI = "sC", SHLI = "sC", EQI = "sB",
  LTI = "sB", LEI = "sB", GTI = "sB", GEI = "sB" }

-- The sorted numbers in the code of f, its upvalues, the globals that it reads, and the tables and
-- functions among them. Tables with more than MOST_ENTRIES entries are data, and left out.
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
      local seen_value = getupvalue(value, i)
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
