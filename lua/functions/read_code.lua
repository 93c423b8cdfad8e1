-- read_code.lua -- decode the bytecode of a function, from string.dump of Lua 5.4.
--
-- The layout is that of ldump.c and lopcodes.h. An instruction has 32 bits:
--
--      bit  31      24 23      16   15   14       7 6         0
--          |    C     |    B     |  k  |    A      | operation |
--          |          Bx or sBx        |    A      | operation |
--          |              Ax or sJ                 | operation |
--
local V = ...
local unpack, dump, insert = string.unpack, string.dump, table.insert
local ipairs = ipairs

local HEADER <const> = 4 + 2 + 6 + 3 + 8 + 8 + 1 -- bytes before the function
local ABSOLUTE <const> = -128 -- in place of a difference of lines: the line is in a second list

local OPERATIONS = {}
for name in string.gmatch([[MOVE LOADI LOADF LOADK LOADKX LOADFALSE LFALSESKIP LOADTRUE LOADNIL
  GETUPVAL SETUPVAL GETTABUP GETTABLE GETI GETFIELD SETTABUP SETTABLE SETI SETFIELD NEWTABLE SELF
  ADDI ADDK SUBK MULK
  MODK POWK DIVK IDIVK BANDK BORK BXORK SHRI SHLI ADD SUB MUL MOD POW DIV IDIV BAND BOR BXOR SHL SHR
  MMBIN MMBINI MMBINK UNM BNOT NOT LEN CONCAT CLOSE TBC JMP EQ LT LE EQK EQI LTI LEI GTI GEI TEST
  TESTSET CALL TAILCALL RETURN RETURN0 RETURN1 FORLOOP FORPREP TFORPREP TFORCALL TFORLOOP SETLIST
  CLOSURE VARARG VARARGPREP EXTRAARG]], "%w+") do
  insert(OPERATIONS, name)
end

local text, at -- the dump, and the position of the next byte

local function take(format)
  local value
  value, at = unpack(format, text, at)
  return value
end

-- An unsigned number, 7 bits per byte, high bits first; the last byte has its bit 7 set.
local function take_count()
  local value = 0
  repeat
    local byte = take "B"
    value = value << 7 | byte & 127
  until byte >= 128
  return value
end

-- A string, or nil.
local function take_string()
  local size = take_count()
  return size > 0 and take("c" .. size - 1) or nil
end

local function take_list(item)
  local list = {}
  for i = 1, take_count() do
    list[i] = item(i)
  end
  return list
end

local function take_instruction()
  local word = take "I4"
  return { operation = OPERATIONS[(word & 127) + 1], A = word >> 7 & 255, k = word >> 15 & 1 == 1,
    B = word >> 16 & 255, C = word >> 24, Bx = word >> 15, sBx = (word >> 15) - 0xffff,
    Ax = word >> 7, sJ = (word >> 7) - 0xffffff, sB = (word >> 16 & 255) - 127,
    sC = (word >> 24) - 127 }
end

-- By the type tag of a constant (lobject.h).
local CONSTANTS = { [3] = function() return take "j" end, [19] = function() return take "n" end,
  [4] = take_string, [20] = take_string, [17] = function() return true end,
  [1] = function() return false end, [0] = function() return nil end }

local function take_constant()
  return CONSTANTS[take "B"]()
end

local function take_upvalue()
  local upvalue = { in_register = take "B" == 1, number = take "B" }
  take "B"
  return upvalue
end

-- The line of each instruction.
local function take_lines(line)
  local changes = take_list(function() return take "b" end)
  local absolute = {}
  for _ = 1, take_count() do
    absolute[take_count() + 1] = take_count()
  end
  for i, change in ipairs(changes) do
    line = change == ABSOLUTE and absolute[i] or line + change
    changes[i] = line
  end
  return changes
end

-- A local variable; in scope from the instruction after `first` up to `last`.
local function take_variable()
  take_string() -- its name
  return { first = take_count(), last = take_count() }
end

-- A function: the list of its instructions, with members. `captured`: the registers that closures
-- made in it capture.
local function take_function(source)
  source = take_string() or source
  local first, last, parameters = take_count(), take_count(), take "B"
  local vararg, registers = take "B" == 1, take "B"
  local code = take_list(take_instruction)
  code.file, code.first, code.last, code.registers = source, first, last, registers
  code.parameters, code.vararg, code.captured = parameters, vararg, {}
  code.constants = take_list(take_constant)
  code.upvalues = take_list(take_upvalue)
  code.functions = take_list(function() return take_function(source) end)
  code.lines = take_lines(first)
  code.variables, code.in_scope = take_list(take_variable), {}
  for i = 1, take_count() do
    code.upvalues[i].name = take_string()
  end
  for _, inner in ipairs(code.functions) do
    for _, upvalue in ipairs(inner.upvalues) do
      if upvalue.in_register then
        insert(code.captured, upvalue.number)
      end
    end
  end
  return code
end

-- The captured registers whose variables are in scope at an instruction.
function V.captured_at(code, place)
  local found = code.in_scope[place]
  if not found then
    local holds, register = {}, 0
    for _, variable in ipairs(code.variables) do
      if variable.first < place and place <= variable.last then
        holds[register], register = true, register + 1
      end
    end
    found = {}
    for _, captured in ipairs(code.captured) do
      if holds[captured] then
        insert(found, captured)
      end
    end
    code.in_scope[place] = found
  end
  return found
end

-- The code of a Lua function.
function V.code_of(f)
  text, at = dump(f), HEADER + 1
  return take_function(nil)
end
