-- read_states.lua -- carry out the code of a function in all the states that lead through it.
--
-- A state is a place in the code with its registers, the list of values that the last call left
-- open, its changes of variables and tables, and its path. Where a condition must be decided it
-- becomes two. The state that is furthest behind in the code goes on first, and states that come to
-- the same place become one, in which each value that differs is a choice. So nothing is computed
-- twice, whatever the number of conditions, and loops, breaks, jumps and early returns need no
-- rules of their own.
--
-- Only one state at a time has its changes in the tables; those of the others are in their logs.
local V = ...
local build, op = V.build, V.op
local error, huge, insert, ipairs = error, math.huge, table.insert, ipairs
local max, min, pcall = math.max, math.min, pcall
local rawequal, rawget, rawset, remove = rawequal, rawget, rawset, table.remove
local pack, unpack = table.pack, table.unpack
local FORK, DEAD, refuse, settled, merge = V.FORK, V.DEAD, V.refuse, V.settled, V.merge
local UNKNOWN = V.UNKNOWN

local MOST_CALLS <const> = 150
local MOST_FORKS <const> = 20000
local MOST_STEPS <const> = 1000000

local now -- the state that goes on
local clock, births -- the number of things made and of forks; when a table or a box was made
local calls, forks, steps

-- ---- changes ----

-- A table, or the box of a variable that closures see, made by the function.
function V.made(t)
  clock = clock + 1
  births[t], V.lines[t] = clock, V.line()
  return t
end

function V.is_made(t)
  return births[t] ~= nil
end

-- Whether no other state knows of it.
local function is_new(t)
  return births[t] > V.path().since
end

-- The entry of a log: what is there at present, or what was there before.
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

-- What is there in the state of the log, whose changes are not in the tables.
local function value_in(log, t, k)
  local entry = log.of[t] and log.of[t][k]
  if entry then
    return entry[3]
  end
  return rawget(t, k)
end

local function write(t, k, value)
  if not is_new(t) then
    entry_of(now.log, t, k)
  end
  rawset(t, k, value)
end

-- Exchanges what the log has with what is in the tables.
local function swap(log)
  for i = 1, #log do
    local t, k, value = unpack(log[i], 1, 3)
    log[i][3] = rawget(t, k)
    rawset(t, k, value)
  end
end

-- ---- variables that closures see ----
--
-- Such a variable is in its register while its function goes on, and in a box while another
-- function is called and when its function has ended.

local function new_box()
  return V.made { UNKNOWN }
end

-- Puts the variables into their boxes; what is in the box already is `stored`.
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

-- New boxes for the registers that closures see, from this one on.
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

-- Registers that nothing was written to.
local function new_registers(code)
  local registers = {}
  for k = 0, code.registers - 1 do
    registers[k] = UNKNOWN
  end
  return registers
end

-- The function ends in this state, with a list of results.
function V.leave(state, list)
  V.put_into_boxes(state)
  state.list, state.registers, state.boxes, state.pc = list, new_registers(state.code), {}, huge
end

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

-- ---- states that meet ----

-- The path that both are below of.
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

-- The conditions of the paths from below `top` to p: a node, or true.
local function all_of(p, top)
  if p == top or p.above == top then
    return p == top or p.n
  end
  return build(op.AND, all_of(p.above, top), p.n)
end

local function first_below(top, p)
  while p.above ~= top do
    p = p.above
  end
  return p
end

-- The path of those that came on p and on q, whose common path is `top`.
local function joined(top, p, q)
  local weight, n = p.weight + q.weight
  local a, b = first_below(top, p), first_below(top, q)
  if weight == top.weight and weight - p.weight == q.weight and weight - q.weight == p.weight then
    return top -- exactly: no others are left
  elseif V.opposite(a.n) ~= b.n then
    n = build(op.OR, all_of(p, top), all_of(q, top))
  elseif a.cost <= b.cost then
    n = V.pick(a.n, all_of(p, a), all_of(q, b))
  else
    n = V.pick(b.n, all_of(q, b), all_of(p, a))
  end
  if n == true then -- all of it, but for what is left on paths that no cell takes
    n = V.constant(1)
  end
  local path = V.extend(top, n, weight, clock)
  path.joined, path.facts[n], path.cost = true, true, p.cost + q.cost - top.cost
  return path
end

-- Makes one state of two at the same place.
local function join(s, t)
  local top = common(s.path, t.path)
  if t.path.cost < s.path.cost then
    s, t = t, s
  end
  local c = all_of(s.path, top)
  local function merged(x, y)
    V.path(s.path)
    x = settled(x)
    V.path(t.path)
    y = settled(y)
    if rawequal(x, UNKNOWN) or rawequal(y, UNKNOWN) then -- no instruction uses that one
      return rawequal(x, UNKNOWN) and y or x
    end
    return merge(c, x, y)
  end
  -- What was made since they parted, only one of them knows.
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
    for _, register in ipairs(s.code.captured) do -- another box: the variable has ended
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

-- Makes one state of all, those first that parted last.
local function join_all(states)
  while states[2] do
    local s = remove(states)
    states[#states] = join(states[#states], s)
  end
  return states[1]
end

-- Whether they may become one. Of a variable that each of them has made anew, closures of one do
-- not see what the other has: they stay apart while it is in scope.
local function may_join(s, t)
  for _, register in ipairs(V.captured_at(s.code, s.pc)) do
    if s.boxes[register] ~= t.boxes[register] then
      return false
    end
  end
  return true
end

-- ---- functions ----

-- Takes those that are furthest behind from a list, as one; and says where the next one is. Before
-- that the two of a fork do their instruction, one at a time.
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

-- Carries out instructions, one at least, up to place `stop`.
local function go_on(state, stop)
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

-- Makes the state two, each of which does the instruction again.
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

-- Goes on with those of the states that are furthest behind.
local function advance(states)
  local state, stop = take(states)
  if state.pc == huge then
    return insert(states, state)
  end
  now = state
  V.path(state.path)
  V.widen(state.path)
  swap(state.log)
  local done, problem = pcall(go_on, state, stop)
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

-- Calls a function that is read, with a list of values; the list of its results.
local function run(closure, list)
  local outer, code = now, closure.code
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
  calls, now = calls - 1, outer
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

-- As above. An instruction that is done again, after a fork, calls no metamethod again.
function V.run(closure, list)
  local caller = now
  local number, results = caller.calls + 1, caller.results or { n = 0 }
  caller.calls = number
  if number > results.n then
    local given = run(closure, list)
    results[number], results.n, caller.results = given, number, results
  end
  return results[number]
end

-- The line that is read, and its file.
function V.line()
  return now.code.lines[now.at]
end

-- Messages name this line from now on.
function V.at_line(line)
  now.code.lines[now.at] = line or now.code.lines[now.at]
end

function V.file()
  return now.code.file
end

-- Begins a reading.
function V.begin_states(line, file)
  clock, births, V.lines, calls, forks, steps = 0, {}, {}, 0, 0, 0
  now = { code = { captured = {}, file = file, lines = { line } }, at = 1, calls = 0,
    log = { of = {} } }
end

V.write, V.is_new = write, is_new
