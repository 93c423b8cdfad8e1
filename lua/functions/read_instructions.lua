-- read_instructions.lua -- symbolic execution of the instructions of Lua 5.4 (lopcodes.h).
--
-- Each function takes the state, the instruction and the registers. An instruction is repeated
-- after a fork, so it must ask for all conditions before it changes the state.
local V = ...
local ipairs, math_type, type = ipairs, math.type, type
local format, gmatch, sub = string.format, string.gmatch, string.sub
local getupvalue = V.getupvalue
local refuse, class_of, value_of = V.refuse, V.class_of, V.value_of
local holds, operate, index, assign = V.holds, V.operate, V.index, V.assign

local I = {}
V.instructions = I

-- ---- values ----

-- The operand C: a constant or a register.
local function operand_c(s, i, r)
  if i.k then
    return s.code.constants[i.C + 1]
  end
  return r[i.C]
end

function I.MOVE(_, i, r) r[i.A] = r[i.B] end
function I.LOADI(_, i, r) r[i.A] = i.sBx end
function I.LOADF(_, i, r) r[i.A] = i.sBx + 0.0 end
function I.LOADK(s, i, r) r[i.A] = s.code.constants[i.Bx + 1] end

function I.LOADKX(s, i, r)
  r[i.A] = s.code.constants[s.code[s.pc].Ax + 1]
  s.pc = s.pc + 1
end

function I.LOADFALSE(_, i, r) r[i.A] = false end
function I.LOADTRUE(_, i, r) r[i.A] = true end

function I.LFALSESKIP(s, i, r)
  r[i.A], s.pc = false, s.pc + 1
end

function I.LOADNIL(_, i, r)
  for k = i.A, i.A + i.B do
    r[k] = nil
  end
end

-- ---- captured variables (upvalues) ----

-- The value of upvalue `number` (from 0). Its box holds the value, or the script's function and the
-- number of its upvalue.
local function variable(s, number)
  local box = s.closure.boxes[number + 1]
  if box.f then
    return getupvalue(box.f, box.number)
  end
  return box[1]
end

function I.GETUPVAL(s, i, r) r[i.A] = variable(s, i.B) end

local function refuse_change(name)
  V.changes(format("'%s', a variable outside of it", sub(name, 1, 40)))
end

function I.SETUPVAL(s, i, r)
  local box = s.closure.boxes[i.B + 1]
  if box.f then
    refuse_change(s.code.upvalues[i.B + 1].name)
  end
  V.write(box, 1, r[i.A])
end

function I.CLOSURE(s, i, r)
  local code, boxes = s.code.functions[i.Bx + 1], {}
  for k, upvalue in ipairs(code.upvalues) do
    boxes[k] = upvalue.in_register and s.boxes[upvalue.number]
      or s.closure.boxes[upvalue.number + 1]
  end
  r[i.A] = V.closure(code, boxes)
end

function I.CLOSE(s, i)
  V.put_into_boxes(s)
  V.open_boxes(s, i.A)
end

function I.TBC() refuse "it declares a variable <close>" end

-- ---- tables ----

function I.GETTABUP(s, i, r)
  r[i.A] = index(variable(s, i.B), s.code.constants[i.C + 1])
end

function I.GETTABLE(_, i, r) r[i.A] = index(r[i.B], r[i.C]) end
function I.GETI(_, i, r) r[i.A] = index(r[i.B], i.C) end
function I.GETFIELD(s, i, r) r[i.A] = index(r[i.B], s.code.constants[i.C + 1]) end

function I.SELF(s, i, r)
  local object = r[i.B]
  local method = index(object, operand_c(s, i, r))
  r[i.A + 1], r[i.A] = object, method
end

function I.SETTABUP(s, i, r)
  if s.code.upvalues[i.A + 1].name == "_ENV" then
    refuse_change(s.code.constants[i.B + 1])
  end
  assign(variable(s, i.A), s.code.constants[i.B + 1], operand_c(s, i, r))
end

function I.SETTABLE(s, i, r) assign(r[i.A], r[i.B], operand_c(s, i, r)) end
function I.SETI(s, i, r) assign(r[i.A], i.B, operand_c(s, i, r)) end
function I.SETFIELD(s, i, r) assign(r[i.A], s.code.constants[i.B + 1], operand_c(s, i, r)) end

function I.NEWTABLE(s, i, r)
  r[i.A], s.pc = V.made {}, s.pc + 1
end

-- The values of `count` registers from `first` on; -1: up to and with the results of the last open
-- call.
local function values_from(s, first, count)
  local list, r = { n = count }, s.registers
  if count < 0 then
    count = s.list_at - first
    list.n = count + s.list.n
  end
  for k = 1, count do
    list[k] = r[first + k - 1]
  end
  for k = count + 1, list.n do
    list[k] = s.list[k - count]
  end
  return list
end

function I.SETLIST(s, i, r)
  local list, before = values_from(s, i.A + 1, i.B - (i.B == 0 and 1 or 0)), i.C
  if i.k then
    before, s.pc = before + s.code[s.pc].Ax * 256, s.pc + 1
  end
  for k = 1, list.n do
    V.write(r[i.A], before + k, list[k])
  end
end

-- ---- operators ----

-- Operators by the number of their metamethod (ltm.h), which begins at 6.
local EVENTS = { "ADD", "SUB", "MUL", "MOD", "POW", "DIV", "IDIV", "BAND", "BOR", "BXOR", "SHL",
  "SHR" }

-- Arithmetic. The next instruction, MMBIN..., has the operator and the operands as in the text.
local function arithmetic(s, i, r)
  local next_one = s.code[s.pc]
  local event, x = EVENTS[next_one.C - 5], r[next_one.A]
  local y
  if next_one.operation == "MMBIN" then
    y = r[next_one.B]
  elseif next_one.operation == "MMBINI" then
    y = next_one.sB
  else
    y = s.code.constants[next_one.B + 1]
  end
  if i.operation == "ADDI" and i.sC == 0 and event == "SUB" then -- Lua compiles x - 0 to x + 0
    event = "ADD"
  end
  if next_one.k then
    x, y = y, x
  end
  r[i.A], s.pc = operate(event, x, y), s.pc + 1
end
for name in gmatch([[ADDI ADDK SUBK MULK MODK POWK DIVK IDIVK BANDK BORK BXORK SHRI SHLI
  ADD SUB MUL MOD POW DIV IDIV BAND BOR BXOR SHL SHR]], "%w+") do
  I[name] = arithmetic
end

for name in gmatch("UNM BNOT LEN", "%w+") do
  I[name] = function(_, i, r) r[i.A] = operate(name, r[i.B]) end
end

function I.NOT(_, i, r) r[i.A] = V.negation(r[i.B]) end

function I.CONCAT(_, i, r)
  local text = r[i.A + i.B - 1]
  for k = i.A + i.B - 2, i.A, -1 do
    text = operate("CONCAT", r[k], text)
  end
  r[i.A] = text
end

-- ---- jumps ----

-- A jump back needs a test with a known value in the loop's body (s.tested). A loop that ends by a
-- condition of the cell alone would never end here.
local function jump(s, distance)
  local target = s.pc + distance
  if distance < 0 then
    if not s.tested or s.tested < target then
      refuse("the loop on line %d ends by a value that is known in a cell only",
        s.code.lines[target])
    end
    s.tested = nil
  end
  s.pc = target
end

function I.JMP(s, i) jump(s, i.sJ) end

-- Skips the next instruction, a jump, unless the truth value of `value` is i.k. Returns that truth
-- value.
local function test(s, i, v)
  local c = holds(v)
  if not class_of(v) then
    s.tested = s.at
  end
  s.pc = s.pc + (c == i.k and 0 or 1)
  return c
end

function I.EQ(s, i, r) test(s, i, V.equal(r[i.A], r[i.B])) end
function I.EQK(s, i, r) test(s, i, V.equal(r[i.A], s.code.constants[i.B + 1])) end
function I.EQI(s, i, r) test(s, i, V.equal(r[i.A], i.sB)) end
function I.LT(s, i, r) test(s, i, operate("LT", r[i.A], r[i.B])) end
function I.LE(s, i, r) test(s, i, operate("LE", r[i.A], r[i.B])) end
function I.LTI(s, i, r) test(s, i, operate("LT", r[i.A], i.sB)) end
function I.LEI(s, i, r) test(s, i, operate("LE", r[i.A], i.sB)) end
function I.GTI(s, i, r) test(s, i, operate("LT", i.sB, r[i.A])) end
function I.GEI(s, i, r) test(s, i, operate("LE", i.sB, r[i.A])) end

function I.TEST(s, i, r)
  r[i.A] = V.narrowed(r[i.A], test(s, i, r[i.A]))
end

function I.TESTSET(s, i, r)
  local c = test(s, i, r[i.B])
  if c == i.k then
    r[i.A] = V.narrowed(r[i.B], c)
  end
end

-- Whether a numeric loop {index, limit, step} has another round.
local function goes_on(range)
  return range[3] > 0 and range[1] <= range[2] or range[3] < 0 and range[1] >= range[2]
end

function I.FORPREP(s, i, r)
  local range = {}
  for k = 1, 3 do
    range[k] = value_of(r[i.A + k - 1])
    if class_of(range[k]) then
      refuse "the loop on line %L ends by a value that is known in a cell only"
    elseif type(range[k]) ~= "number" then
      V.mistake_if_reached "the bounds of a loop must be numbers"
    elseif k == 3 and range[k] == 0 then
      V.mistake_if_reached "the step of a loop must not be 0"
    end
  end
  if math_type(range[1]) == "float" or math_type(range[3]) == "float" then
    range[1] = range[1] + 0.0
  end
  r[i.A], r[i.A + 1], r[i.A + 2], r[i.A + 3] = range[1], range[2], range[3], range[1]
  if not goes_on(range) then
    s.pc = s.pc + i.Bx + 1
  end
end

function I.FORLOOP(s, i, r)
  local range = { r[i.A] + r[i.A + 2], r[i.A + 1], r[i.A + 2] }
  if goes_on(range) then
    r[i.A], r[i.A + 3], s.pc = range[1], range[1], s.pc - i.Bx
  end
end

function I.TFORPREP(s, i, r)
  if r[i.A + 3] ~= nil then
    refuse "it declares a variable <close>"
  end
  s.pc = s.pc + i.Bx
end

-- ---- functions ----

-- Stores results in `count` registers; -1: as the open results from register `first` on.
local function store_results(s, first, count, list)
  if count < 0 then
    s.list, s.list_at = list, first
  end
  for k = 1, count do
    s.registers[first + k - 1] = list[k]
  end
end

function I.TFORCALL(s, i, r)
  store_results(s, i.A + 4, i.C, V.call(r[i.A], { n = 2, r[i.A + 1], r[i.A + 2] }))
end

function I.TFORLOOP(s, i, r)
  local control = value_of(r[i.A + 4])
  if control ~= nil then
    r[i.A + 2], s.pc = control, s.pc - i.Bx
  end
end

function I.CALL(s, i, r)
  store_results(s, i.A, i.C - 1, V.call(r[i.A], values_from(s, i.A + 1, i.B - 1)))
end

-- The RETURN that follows returns all results of the call.
function I.TAILCALL(s, i, r)
  store_results(s, i.A, -1, V.call(r[i.A], values_from(s, i.A + 1, i.B - 1)))
end

function I.RETURN(s, i)
  V.leave(s, values_from(s, i.A, i.B - 1))
end

function I.RETURN0(s) V.leave(s, { n = 0 }) end
function I.RETURN1(s, i, r) V.leave(s, { n = 1, r[i.A] }) end

function I.VARARG(s, i) store_results(s, i.A, i.C - 1, s.rest) end
function I.VARARGPREP() end
