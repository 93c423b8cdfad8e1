-- read_states.lua -- symbolic execution with path merging: fork, run and join symbolic states.
--
-- A state is a program counter with registers, the results of the last open call (one whose number
-- of results is variable), a log of writes to variables and tables, and a path (read_values.lua).
-- A state forks where an instruction needs a condition that the state's path does not decide. The
-- state with the lowest program counter runs next. States that reach the same program counter are
-- joined: a register or field with two values becomes a choice between them.
--
--      pc   if c then y = 1 else y = 2 end        states
--       1   TEST c                                [pc 1]
--       2     LOADI y 1     (c)                   [pc 2, path c]    [pc 4, path not c]
--       3     JMP 5                               [pc 5, path c]    [pc 4, path not c]
--       4     LOADI y 2     (not c)               [pc 5, path c]    [pc 5, path not c]
--       5   ...                                   [pc 5, y = choice(c, 1, 2)]
--
-- So the code after an `if` is executed once, however many conditions come before it. Loops,
-- breaks, jumps and early returns need no rules of their own.
--
-- Lua tables hold the writes of the running state only. Every other state keeps its writes in its
-- log, which is swapped with the tables when the state starts and stops running.
--
-- The fields of a state:
--
--   pc, at         the next instruction (huge: the function has returned); the present one
--   code, closure  the function
--   registers      by number from 0
--   list, list_at  results of the last open call, and its first register; after the return, the
--                  results of the function
--   rest           the variable arguments (...)
--   boxes, stored  by captured register: its box, and the value that the box holds
--   log            array of entries {t, k, value}; log.of[t][k] is the same entry
--   path           the conditions under which the state is reached
--   forked         true: the state has just forked, and repeats its instruction
--   tested         the number of the last instruction that tested a known value; nil: none since
--                  the last jump back
--   calls, results number of calls that the present instruction has made; their results
local V = ...
local build, op = V.build, V.op
local error, huge, insert, ipairs = error, math.huge, table.insert, ipairs
local max, min, pcall = math.max, math.min, pcall
local rawequal, rawget, rawset, remove = rawequal, rawget, rawset, table.remove
local pack, unpack = table.pack, table.unpack
local FORK, DEAD, refuse, follow, merge = V.FORK, V.DEAD, V.refuse, V.follow, V.merge
local UNKNOWN = V.UNKNOWN

local MOST_CALLS <const> = 150
local MOST_FORKS <const> = 20000
local MOST_STEPS <const> = 1000000

local running -- the state that runs
local clock -- logical time: advances with each created object, fork and join
local births -- by table or box that the function creates: the time of its creation
local calls, forks, steps -- call depth; number of forks and of instructions executed

-- ---- writes ----

-- Registers a table or box that the function creates; returns it.
function V.made(t)
  clock = clock + 1
  births[t], V.lines[t] = clock, V.line()
  return t
end

function V.is_made(t)
  return births[t] ~= nil
end

-- Whether the running state created `t` since its last fork or join: no other state sees it.
local function is_new(t)
  return births[t] > V.path().since
end

-- The log entry {t, k, value} of t[k]; created with the present value. In the log of the running
-- state, `value` is the value before the state's writes; in any other log, the value written.
local function entry_of(log, t, k)
  local of = log.of[t]
  if not of then
    of = {}
    log.of[t] = of
  end
  if not of[k] then
    of[k] = { t, k, rawget(t, k) }
    insert(log, of[k])
  end
  return of[k]
end

-- t[k] as the state of the log sees it while that state does not run.
local function value_in(log, t, k)
  local entry = log.of[t] and log.of[t][k]
  if entry then
    return entry[3]
  end
  return rawget(t, k)
end

local function write(t, k, value)
  if not is_new(t) then
    entry_of(running.log, t, k)
  end
  rawset(t, k, value)
end

-- Exchanges the logged values with those in the tables.
local function swap(log)
  for i = 1, #log do
    local t, k, value = unpack(log[i], 1, 3)
    log[i][3] = rawget(t, k)
    rawset(t, k, value)
  end
end

-- ---- captured variables (upvalues) ----
--
-- A captured variable lives in its register while its function runs. It lives in a box, which
-- closures share, while another function is called and after its function has returned.

local function new_box()
  return V.made { UNKNOWN }
end

-- Copies captured registers into their boxes, except values that the boxes hold already
-- (`stored`).
function V.put_into_boxes(state)
  for _, register in ipairs(state.code.captured) do
    local value = state.registers[register]
    if not rawequal(state.stored[register], value) then
      write(state.boxes[register], 1, value)
      state.stored[register] = value
    end
  end
end

local function take_from_boxes(state)
  for _, register in ipairs(state.code.captured) do
    local value = state.boxes[register][1]
    state.registers[register], state.stored[register] = value, value
  end
end

-- Creates new boxes for the captured registers from `first` on.
function V.open_boxes(state, first)
  local boxes, stored = {}, {}
  for _, register in ipairs(state.code.captured) do
    local old = register < first
    boxes[register] = old and state.boxes[register] or new_box()
    stored[register] = UNKNOWN
    if old then
      stored[register] = state.stored[register]
    end
  end
  state.boxes, state.stored = boxes, stored
end

-- ---- states ----

-- The registers of a function, all unknown.
local function new_registers(code)
  local registers = {}
  for k = 0, code.registers - 1 do
    registers[k] = UNKNOWN
  end
  return registers
end

-- Returns from the function with a list of results: the state waits at the program counter `huge`.
function V.leave(state, list)
  V.put_into_boxes(state)
  state.list, state.registers, state.boxes, state.pc = list, new_registers(state.code), {}, huge
end

-- A copy of state s on another path, with registers and a log of its own.
local function copy(s, path)
  local other = { pc = s.pc, code = s.code, closure = s.closure, registers = {}, list = s.list,
    list_at = s.list_at, boxes = s.boxes, stored = {}, rest = s.rest, tested = s.tested,
    forked = s.forked, results = s.results and pack(unpack(s.results, 1, s.results.n)),
    path = path, log = { of = {} } }
  for k = 0, s.code.registers - 1 do
    other.registers[k], other.stored[k] = s.registers[k], s.stored[k]
  end
  for i = 1, #s.log do
    local t, k, value = unpack(s.log[i], 1, 3)
    entry_of(other.log, t, k)[3] = value
  end
  return other
end

-- ---- joining states ----

-- The nearest common ancestor of two paths.
local function common(p, q)
  while p ~= q do
    if p.level >= q.level then
      p = p.above
    else
      q = q.above
    end
  end
  return p
end

-- The conjunction of the conditions from p up to, but without, `top`: a node, or true.
local function all_of(p, top)
  if p == top or p.above == top then
    return p == top or p.n
  end
  return build(op.AND, all_of(p.above, top), p.n)
end

-- The ancestor of p, or p itself, directly below `top`.
local function first_below(top, p)
  while p.above ~= top do
    p = p.above
  end
  return p
end

-- The path on which p or q holds; `top` is their common ancestor. If the first conditions below
-- `top` are opposites, the condition is a choice by the first condition of the cheaper side.
local function joined(top, p, q)
  local weight, n = p.weight + q.weight
  local a, b = first_below(top, p), first_below(top, q)
  if weight == top.weight and weight - p.weight == q.weight and weight - q.weight == p.weight then
    return top -- p and q together have all of its weight: no other path below it is left
  elseif V.opposite(a.n) ~= b.n then
    n = build(op.OR, all_of(p, top), all_of(q, top))
  elseif a.cost <= b.cost then
    n = V.pick(a.n, all_of(p, a), all_of(q, b))
  else
    n = V.pick(b.n, all_of(q, b), all_of(p, a))
  end
  if n == true then -- p and q cover `top`; other paths below it are left, but no cell takes them
    n = V.constant(1)
  end
  local path = V.extend(top, n, weight, clock)
  path.joined, path.facts[n], path.cost = true, true, p.cost + q.cost - top.cost
  return path
end

-- Joins two states with the same program counter into the state with the cheaper path. Returns the
-- joined state.
local function join(s, t)
  local top = common(s.path, t.path)
  if t.path.cost < s.path.cost then
    s, t = t, s
  end
  local c = all_of(s.path, top)
  local function merged(x, y)
    V.path(s.path)
    x = follow(x)
    V.path(t.path)
    y = follow(y)
    if rawequal(x, UNKNOWN) or rawequal(y, UNKNOWN) then -- no instruction uses the unknown value
      return rawequal(x, UNKNOWN) and y or x
    end
    return merge(c, x, y)
  end
  -- An object that was created after the fork is seen by one of the states only: its value stays.
  local parted = top.split
  for i = 1, #s.log do
    local entry = s.log[i]
    if births[entry[1]] <= parted then
      entry[3] = merged(entry[3], value_in(t.log, entry[1], entry[2]))
    end
  end
  for i = 1, #t.log do
    local u, k, value = unpack(t.log[i], 1, 3)
    if not (s.log.of[u] and s.log.of[u][k]) then
      if births[u] <= parted then
        value = merged(rawget(u, k), value)
      end
      entry_of(s.log, u, k)[3] = value
    end
  end
  local registers, boxes, stored, list = {}, {}, {}, { n = max(s.list.n, t.list.n) }
  for k = 0, s.code.registers - 1 do
    registers[k] = merged(s.registers[k], t.registers[k])
  end
  for i = 1, list.n do
    list[i] = merged(s.list[i], t.list[i])
  end
  if s.pc < huge then
    for _, register in ipairs(s.code.captured) do -- two boxes: the variable is out of scope
      local box = s.boxes[register]
      local same = box == t.boxes[register]
      boxes[register], stored[register] = same and box or new_box(), UNKNOWN
      if same then
        stored[register] = registers[register]
      end
    end
  end
  clock = clock + 1
  s.registers, s.boxes, s.stored, s.list = registers, boxes, stored, list
  s.tested = s.tested or t.tested
  s.path = joined(top, s.path, t.path)
  return s
end

-- Joins all states of a list, the last to fork first.
local function join_all(states)
  while states[2] do
    local s = remove(states)
    states[#states] = join(states[#states], s)
  end
  return states[1]
end

-- Whether two states may be joined. Not while a captured variable is in scope for which each state
-- has a box of its own: closures of one state would not see the box of the other.
local function may_join(s, t)
  for _, register in ipairs(V.captured_at(s.code, s.pc)) do
    if s.boxes[register] ~= t.boxes[register] then
      return false
    end
  end
  return true
end

-- ---- execution ----

-- Removes the states with the lowest program counter from the list and joins them. Returns the
-- joined state and the lowest program counter of the states left. A state that has just forked
-- comes first and is not joined; the returned 0 limits the state to the repeated instruction.
local function take(states)
  local first, next_place, group = huge, huge, {}
  for i = 1, #states do
    if states[i].forked then
      states[i].forked = nil
      return remove(states, i), 0
    end
    first = min(first, states[i].pc)
  end
  for i = #states, 1, -1 do
    if states[i].pc == first and (not group[1] or may_join(states[i], group[1])) then
      insert(group, 1, remove(states, i))
    else
      next_place = min(next_place, states[i].pc)
    end
  end
  return join_all(group), next_place
end

-- Executes at least one instruction, until the program counter reaches `stop`.
local function execute(state, stop)
  local code = state.code
  repeat
    state.at = state.pc
    state.pc = state.at + 1
    steps = steps + 1
    if steps > MOST_STEPS then
      refuse("it takes more than %d instructions", MOST_STEPS)
    elseif steps & 255 == 0 and V.is_late() then
      refuse "reading it takes too long"
    end
    local i = code[state.at]
    state.calls = 0
    V.instructions[i.operation](state, i, state.registers)
    state.results = nil
  until state.pc >= stop
end

-- Forks the state by the condition that its instruction needs. Both states repeat the instruction.
local function fork(state, states)
  local c = FORK.condition
  clock, forks = clock + 1, forks + 1
  local yes, no = V.split(c, clock)
  if forks > MOST_FORKS then
    refuse("it has more than %d sides of branches", MOST_FORKS)
  end
  state.pc, state.forked = state.at, true
  insert(states, state)
  if yes and no then
    insert(states, copy(state, no))
    state.path = yes
  else
    V.assume(yes and c or V.opposite(c))
  end
end

-- Joins the states with the lowest program counter, and executes the joined state until it forks,
-- ends or reaches the program counter of another state.
local function advance(states)
  local state, stop = take(states)
  if state.pc == huge then
    return insert(states, state)
  end
  running = state
  V.path(state.path)
  V.widen(state.path)
  swap(state.log)
  local done, problem = pcall(execute, state, stop)
  state.path = V.path()
  if done and state.pc < huge then
    V.put_into_boxes(state)
  end
  swap(state.log)
  if done then
    insert(states, state)
  elseif problem == FORK then
    fork(state, states)
  elseif problem == DEAD then
    V.abandon(state.path)
  else
    error(problem, 0)
  end
end

-- Calls a closure with a list of values; returns the list of its results.
local function run(closure, list)
  local outer, code = running, closure.code
  local state = { pc = 1, code = code, closure = closure, registers = new_registers(code),
    list = { n = 0 }, path = V.path(), log = { of = {} }, rest = { n = 0 } }
  local states = { state }
  calls = calls + 1
  if calls > MOST_CALLS then
    refuse("it calls functions more than %d deep", MOST_CALLS)
  end
  for i = 1, code.parameters do
    state.registers[i - 1] = list[i]
  end
  for i = code.parameters + 1, list.n do
    state.rest[i - code.parameters], state.rest.n = list[i], i - code.parameters
  end
  V.put_into_boxes(outer)
  V.open_boxes(state, 0)
  while states[1] and (states[2] or states[1].pc < huge) do
    advance(states)
  end
  calls, running = calls - 1, outer
  if not states[1] then
    error(DEAD, 0)
  end
  state = states[1]
  V.path(state.path)
  for i = 1, #state.log do
    write(unpack(state.log[i], 1, 3))
  end
  take_from_boxes(outer)
  return state.list
end

-- As run(). An instruction that is repeated after a fork takes the results of its calls from the
-- first time, so that no call happens twice.
function V.run(closure, list)
  local caller = running
  local number, results = caller.calls + 1, caller.results or { n = 0 }
  caller.calls = number
  if number > results.n then
    local given = run(closure, list)
    results[number], results.n, caller.results = given, number, results
  end
  return results[number]
end

-- The line of the present instruction.
function V.line()
  return running.code.lines[running.at]
end

-- Sets the line that messages name for the present instruction; nil: no change.
function V.at_line(line)
  running.code.lines[running.at] = line or running.code.lines[running.at]
end

function V.file()
  return running.code.file
end

-- Resets the execution; messages before the first instruction name `file` and `line`.
function V.begin_states(line, file)
  clock, births, V.lines, calls, forks, steps = 0, {}, {}, 0, 0, 0
  running = { code = { captured = {}, file = file, lines = { line } }, at = 1, calls = 0,
    log = { of = {} } }
end

V.write, V.is_new = write, is_new
