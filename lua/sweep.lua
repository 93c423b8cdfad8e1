-- sweep.lua -- `selenite sweep`: a run for each combination of parameters, a row for each run.
--
-- Every run is a process of its own, `selenite run FILE name=value ... -o DIR/RUN`; what it leaves
-- in run.json is all that the sweep knows of it. So a sweep that was killed, or is called again
-- with more values, goes on where it was: runs that ended are kept, others go on from their
-- checkpoint.
--
-- `host` is what C gives (sweep.c): processes, the lock of the folder, pictures.
local host = ...
local plots = host.load("sweep_plot")

local MOST_RUNS = 10000
local MOST_ATTEMPTS = 3 -- of a run that is killed
local MOST_LETTERS = 160 -- of a folder's name
local PAUSE = 0.1 -- seconds between looks at the runs

local function fail(format, ...) error({ usage = format:format(...) }) end

function host.read(path)
  local file = io.open(path, "rb")
  local text = file and file:read("a")
  if file then file:close() end
  return text
end

function host.replace(path, text)
  local file, why = io.open(path .. ".tmp", "wb")
  local written = file and file:write(text) and file:close() and os.rename(path .. ".tmp", path)
  if not written then error(why or path .. ": cannot be written") end
end

-- The cells of a CSV: those of the first line, and the others; each has the number of its line.
function host.read_csv(path)
  local names, rows, number = nil, {}, 0
  local text = host.read(path) or fail("%s: cannot be read", path)
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do
    number = number + 1
    if line:find("%S") and not line:find("^%s*#") then
      local cells = { line = number }
      for cell in (line .. ","):gmatch("([^,]*),") do
        cells[#cells + 1] = cell:match('^%s*"?(.-)"?%s*$')
      end
      if names then rows[#rows + 1] = cells else names = cells end
    end
  end
  return names or fail("%s: is empty", path), rows
end

-- ---- values: 1,2,3   from:to:step   log:from:to:n   words ----

local function numbers_of(word, item, ...)
  local values = { ... }
  for i, text in ipairs(values) do
    local value = tonumber(text)
    if not value or value - value ~= 0 then
      fail("%s: '%s' in '%s' is no number", word, text, item)
    end
    values[i] = value
  end
  return table.unpack(values)
end

-- Both return a function of k = 0, 1, ... and the last k.
local function logarithmic(word, item, ...)
  if not ... then fail("%s: '%s' should be log:from:to:n, as log:1:100:5", word, item) end
  local from, to, n = numbers_of(word, item, ...)
  if from <= 0 or to <= 0 then fail("%s: '%s': from and to must be above 0", word, item) end
  if not math.tointeger(n) or n < 2 then fail("%s: '%s': n must be 2 or more", word, item) end
  return function(k) return ("%.6g"):format(from * (to / from) ^ (k / (n - 1))) end, n - 1
end

local function linear(word, item, ...)
  if not ... then fail("%s: '%s' should be from:to:step, as 0:1:0.25", word, item) end
  local from, to, step = numbers_of(word, item, ...)
  if step == 0 or (to - from) / step < 0 then
    fail("%s: '%s': steps of %g do not lead from %g to %g", word, item, step, from, to)
  end
  return function(k) return ("%.12g"):format(from + k * step) end, (to - from) / step + 1e-9
end

-- "name=1,2,3" as an axis: names, and rows of their values.
local function read_word(word)
  local name, list = word:match("^([%a_][%w_]*)=(.*)$")
  local axis, seen = { names = { name }, rows = {} }, {}
  if not name then fail("'%s' should be name=value,... of a parameter", word) end
  for item in (list .. ","):gmatch("([^,]*),") do
    local value, last = function() return item end, 0
    if item == "" then fail("%s: a value is missing", word) end
    if item:find("^log:") then
      value, last = logarithmic(word, item, item:match("^log:([^:]*):([^:]*):([^:]*)$"))
      axis.logarithmic = true
    elseif tonumber(item:match("^([^:]*):")) then
      value, last = linear(word, item, item:match("^([^:]*):([^:]*):([^:]*)$"))
    end
    if last >= MOST_RUNS then fail("%s: '%s' are more than %d values", word, item, MOST_RUNS) end
    for k = 0, math.floor(last) do
      if seen[value(k)] then fail("%s: '%s' stands there twice", word, value(k)) end
      seen[value(k)] = true
      axis.rows[#axis.rows + 1] = { value(k) }
    end
  end
  return axis
end

local function read_rows(path)
  local names, rows = host.read_csv(path)
  if #rows == 0 then fail("%s has no rows: names in the first line, then values", path) end
  for _, row in ipairs(rows) do
    if #row ~= #names then
      fail("%s:%d: %d values for the %d names of the first line", path, row.line, #row, #names)
    end
  end
  return { names = names, rows = rows }
end

-- ---- runs ----

-- A folder's name from the parameters: what a shell or a file system may mind is written as %41.
local function name_of(assignments)
  local name = table.concat(assignments, ","):gsub("[^%w.,=_+-]", function(c)
    return ("%%%02x"):format(c:byte())
  end)
  local hash = 5381
  for i = 1, #name do hash = (hash * 33 + name:byte(i)) & 0xffffffff end
  return #name <= MOST_LETTERS and name or ("%s~%08x"):format(name:sub(1, MOST_LETTERS), hash)
end

-- Each value is checked once, with the others as they are by default: a slip costs no run.
local function check(file, axes)
  local seen = {}
  for _, axis in ipairs(axes) do
    for i, name in ipairs(axis.names) do
      if seen[name] then fail("parameter '%s' is given twice", name) end
      seen[name] = true
      for _, row in ipairs(axis.rows) do
        local word = name .. "=" .. row[i]
        local why = not seen[word] and host.check(file, word)
        seen[word] = true
        if why then fail("%s", why) end
      end
    end
  end
end

-- All combinations, the last name changes fastest.
local function combine(axes)
  local runs = { { values = {} } }
  for _, axis in ipairs(axes) do
    local more = {}
    if #runs * #axis.rows > MOST_RUNS then fail("these are more than %d runs", MOST_RUNS) end
    for _, run in ipairs(runs) do
      for _, row in ipairs(axis.rows) do
        local values = { table.unpack(run.values) }
        more[#more + 1] = { values = table.move(row, 1, #row, #values + 1, values) }
      end
    end
    runs = more
  end
  return runs
end

-- Reads run.json, an entry per line as the engine writes it; `names` are those of the results.
local function look(run)
  local text = host.read(run.path .. "/run.json")
  local record = { results = {}, names = {}, saved = text and text:match('"([^"]*%.sel)"') }
  for key, value in (text or ""):gmatch('\n  "([%w_]+)": ([^\n]*)') do
    value = value:gsub(",$", "")
    record[key] = tonumber(value) or value:match('^"(.*)"$') or record[key]
    for name, result in (key == "results" and value or ""):gmatch('"([^"]+)": ([^,}]+)') do
      record.names[#record.names + 1] = name
      record.results[name] = tonumber(result)
    end
  end
  run.record = record
  return record
end

local UNFINISHED = { running = true, interrupted = true, error = true }

-- A folder that another script or other settings have filled is not ours to go on with.
local function take_up(o, run, script)
  local record, kept = look(run), host.read(run.path .. "/run.lua")
  local other = kept and kept ~= script and "another text of " .. o.file
  if kept and o.precision and o.precision ~= record.precision then other = record.precision end
  if other then
    fail("%s holds a run of %s; --force runs all again, -o takes another folder", run.path, other)
  end
  if record.stopped_by and not UNFINISHED[record.stopped_by] then
    run.state = record.stopped_by == "diverged" and "failed" or "done"
    os.remove(run.path .. ".log")
  end
end

-- ---- sweep.csv ----

local function cell(value)
  local text = math.type(value) == "float" and ("%.17g"):format(value) or tostring(value or "")
  return text:find('[",\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

local function write_table(sweep)
  local results, lines = {}, {}
  for _, run in ipairs(sweep.runs) do
    for _, name in ipairs(run.state and run.record.names or {}) do
      if not results[name] then results[#results + 1], results[name] = name, true end
    end
  end
  for _, run in ipairs(sweep.runs) do
    local record = run.record
    local cells = { run.name, table.unpack(run.values) }
    for _, value in ipairs { run.state or "", record.stopped_by or "refused",
      record.stop_reason and record.stop_reason:gsub("\\(.)", "%1") or run.reason or "",
      record.steps or "", record.time or "" } do
      cells[#cells + 1] = value
    end
    for _, name in ipairs(results) do cells[#cells + 1] = record.results[name] or "" end
    cells[#cells + 1] = record.mcells_per_second or ""
    for i, value in ipairs(cells) do cells[i] = cell(value) end
    if run.state then lines[#lines + 1] = table.concat(cells, ",") end
  end
  local head = { "run", table.unpack(sweep.names) }
  table.move({ "state", "stopped_by", "reason", "steps", "time" }, 1, 5, #head + 1, head)
  for _, name in ipairs(results) do
    local taken = (","  .. table.concat(head, ",") .. ","):find("," .. name .. ",", 1, true)
    head[#head + 1] = taken and "result." .. name or name
  end
  table.insert(lines, 1, table.concat(head, ",") .. ",mcells_per_second")
  host.replace(sweep.directory .. "/sweep.csv", table.concat(lines, "\n") .. "\n")
end

-- ---- the loop ----

local function start(o, run, slot)
  local arguments = { "/proc/self/exe", "run", o.file, table.unpack(run.assignments) }
  local record = look(run)
  local saved = record.saved and host.read(run.path .. "/" .. record.saved)
  local threads = tostring(math.max(1, o.threads // o.jobs))
  local how = saved and not run.anew and "--resume" or "--force"
  for _, word in ipairs { "-o", run.path, "--quiet", how, "--threads", threads,
    table.unpack(o.pass) } do
    arguments[#arguments + 1] = word
  end
  if o.devices > 0 then
    table.move({ "--device", tostring((slot - 1) % o.devices) }, 1, 2, #arguments + 1, arguments)
  end
  run.slot, run.begun, run.attempts = slot, host.now(), (run.attempts or 0) + 1
  run.pid = host.start(arguments, run.path .. ".log")
end

-- Its process has ended. Returns true if the run is to be started again.
local function ended(sweep, run, signal, code)
  local log = run.path .. ".log"
  run.pid, run.anew, run.reason = nil, false, (host.read(log) or ""):match("[^\n]+")
  look(run)
  if not run.reason then os.remove(log) end
  if (signal or code == 130) and sweep.stopping then return false end
  if signal and run.attempts < MOST_ATTEMPTS then return true end
  if signal then run.reason = ("killed by signal %d, %d times"):format(signal, run.attempts) end
  run.state = code == 0 and not signal and "done" or "failed"
  sweep.seconds[#sweep.seconds + 1] = host.now() - run.begun
  write_table(sweep)
  return false
end

local function duration(seconds)
  return seconds < 100 and ("%.0f s"):format(seconds) or seconds < 6000
    and ("%.0f min"):format(seconds / 60) or ("%.1f h"):format(seconds / 3600)
end

-- Shows what runs and how much is left: what runs say of themselves, and the mean of those that
-- ended for those that wait. Returns how many there are of each state.
local function show(sweep, waiting)
  local counts, lines, left, mean = { done = 0, failed = 0 }, {}, 0, 0
  for _, seconds in ipairs(sweep.seconds) do mean = mean + seconds / #sweep.seconds end
  for _, run in ipairs(sweep.runs) do
    if run.state then counts[run.state] = counts[run.state] + 1 end
    if run.pid then
      local record = look(run)
      local known = record.stopped_by == "running" and record.seconds_left
      left = left + (known or math.max(0, mean - (host.now() - run.begun)))
      lines[#lines + 1] = ("  %s%s"):format(run.name,
        known and (": step %d, %s left"):format(record.steps, duration(known)) or "")
    end
  end
  if sweep.quiet then return counts end
  host.show(("%d running, %d done, %d failed, %d waiting%s"):format(#lines, counts.done,
    counts.failed, waiting, #sweep.seconds > 0 and "; "
      .. duration((left + mean * waiting) / sweep.jobs) .. " left" or ""), lines)
  return counts
end

local function run_all(o, sweep)
  local waiting, running, free = {}, {}, {}
  for _, run in ipairs(sweep.runs) do
    if not run.state then waiting[#waiting + 1] = run end
  end
  for slot = sweep.jobs, 1, -1 do free[#free + 1] = slot end
  while next(running) or (#waiting > 0 and not sweep.stopping) do
    if host.interrupted() and not sweep.stopping then
      sweep.stopping = true
      for pid in pairs(running) do host.stop(pid) end
    end
    while #free > 0 and #waiting > 0 and not sweep.stopping do
      local run = table.remove(waiting, 1)
      start(o, run, table.remove(free))
      running[run.pid] = run
    end
    show(sweep, #waiting)
    local pid, signal, code = host.wait(PAUSE)
    local run = running[pid or 0]
    if run then
      running[pid] = nil
      free[#free + 1] = run.slot
      if ended(sweep, run, signal, code) then table.insert(waiting, 1, run) end
    end
  end
end

-- The pairs that sel_sweep is called with.
local function read_options(list)
  local o = { words = {}, plots = {}, pass = {} }
  for i = 1, #list, 2 do
    local key, value = list[i], list[i + 1]
    if o[key] then table.insert(o[key], value) else o[key] = math.tointeger(value) or value end
  end
  return o
end

-- Returns the number of runs that failed; and a text if the sweep was interrupted.
return function(list)
  local o = read_options(list)
  local sweep = { names = {}, axes = {}, directory = o.directory, jobs = o.jobs, seconds = {},
    quiet = o.quiet }
  local wanted = {}
  if o.rows then sweep.axes[1] = read_rows(o.rows) end
  for _, word in ipairs(o.words) do sweep.axes[#sweep.axes + 1] = read_word(word) end
  if #sweep.axes == 0 then fail("sweep needs a parameter with values: %s Re=100,200", o.file) end
  check(o.file, sweep.axes)
  for _, axis in ipairs(sweep.axes) do
    table.move(axis.names, 1, #axis.names, #sweep.names + 1, sweep.names)
  end
  sweep.runs = combine(sweep.axes)
  for i, text in ipairs(o.plots) do wanted[i] = plots.read(text, fail) end
  host.lock(o.directory)
  local script = host.read(o.file)
  for _, run in ipairs(sweep.runs) do
    local varied, place = {}, 0
    run.assignments = {}
    for _, axis in ipairs(sweep.axes) do
      for _, name in ipairs(axis.names) do
        place = place + 1
        run.assignments[place] = name .. "=" .. run.values[place]
        if #axis.rows > 1 then varied[#varied + 1] = run.assignments[place] end
      end
    end
    run.label = table.concat(varied, " ") -- in plots
    run.name = name_of(run.assignments)
    run.path, run.anew, run.record = o.directory .. "/" .. run.name, o.force, { results = {} }
    if not o.force then take_up(o, run, script) end
  end
  run_all(o, sweep)
  write_table(sweep)
  local counts = show(sweep, 0)
  if sweep.stopping then return counts.failed, "interrupted; called again, it goes on" end
  for _, plot in ipairs(wanted) do plots.draw(plot, sweep, host, fail) end
  return counts.failed
end
