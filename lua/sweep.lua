-- sweep.lua -- `selenite sweep`: a run for each combination of parameters, a row for each run.
--
-- Every run is a process of its own, `selenite run FILE name=value ... -o DIR/RUN`; what it leaves
-- in run.json is all that the sweep knows of it. So a sweep that was killed, or is called again
-- with more values, goes on where it was: runs that ended are kept, others go on from their
-- checkpoint.
--
-- `host` is what C gives (sweep.c): processes, the lock of the folder, pictures; `load_plots` is
-- sweep_plot.lua; the others are sel_sweep_options. Returns the number of runs that failed; nil if
-- the sweep was interrupted.
local host, load_plots, scenario, directory, words, given, threads, devices = ...

local MOST_RUNS = 10000
local MOST_ATTEMPTS = 3 -- of a run that is killed
local MOST_LETTERS = 160 -- of a folder's name
local PAUSE = 0.1 -- seconds between looks at the runs
local INTERRUPTED = 130 -- the exit status of a run that a signal has ended

local function append(list, more) return table.move(more, 1, #more, #list + 1, list) end

function host.fail(format, ...) error({ usage = format:format(...) }) end
local fail = host.fail

function host.read(path)
  local file = io.open(path, "rb")
  local text = file and file:read("a")
  if file then file:close() end
  return text
end

function host.replace(path, text)
  local file, why = io.open(path .. ".tmp", "wb")
  local written = file and file:write(text) and file:close() and os.rename(path .. ".tmp", path)
  if not written then error(why or path .. ": cannot be written", 0) end
end

-- The cells of a line of a CSV: one in quotes may hold commas, and quotes as "".
local function cells_of(line)
  local cells, at = {}, 1
  while at <= #line + 1 do
    local text = line:match("^[^,]*", at)
    local comma = at + #text
    text = text:match("^%s*(.-)%s*$")
    if line:find('^%s*"', at) then
      local parts, behind = {}, line:find('"', at, true)
      repeat
        parts[#parts + 1], behind = line:match('([^"]*)"?()', behind + 1)
      until line:sub(behind, behind) ~= '"'
      text, comma = table.concat(parts, '"'), line:find(",", behind, true) or #line + 1
    end
    cells[#cells + 1], at = text, comma + 1
  end
  return cells
end

-- The cells of a CSV: those of the first line, and the others; each has the number of its line.
function host.read_csv(path)
  local names, rows, number = nil, {}, 0
  local text = (host.read(path) or fail("%s: cannot be read", path)):gsub("^\xEF\xBB\xBF", "")
  for line in (text .. "\n"):gmatch("(.-)\r?\n") do
    number = number + 1
    if line:find("%S") and not line:find("^%s*#") then
      local cells = cells_of(line)
      cells.line = number
      if names then rows[#rows + 1] = cells else names = cells end
    end
  end
  return names or fail("%s: is empty", path), rows
end

local plots = load_plots(host)

-- Options that each run gets.
local PASSED = { ["--backend"] = true, ["--precision"] = true, ["--trust"] = true,
  ["--script-limit"] = true }

local option, passed, wanted = {}, {}, {}
for i = 1, #given, 2 do
  local name, value = given[i], given[i + 1]
  option[name] = value
  if PASSED[name] then append(passed, { name, value ~= "" and value or nil }) end
  if name == "--plot" then append(wanted, { plots.read(value) }) end
end
local jobs = tonumber(option["-j"]) or math.max(1, devices)

-- ---- axes: names, and rows of their values ----

-- The values of "from:to:step" or "log:from:to:n", or of a word, which is its own.
local function values_of(word, item)
  local log = item:match("^log:(.*)$")
  if not log and not tonumber(item:match("^([^:]*):")) then return { item } end
  local texts, numbers, values = { (log or item):match("^([^:]*):([^:]*):([^:]*)$") }, {}, {}
  local function wrong(format, ...) fail("%s: '%s'" .. format, word, item, ...) end
  if #texts == 0 then
    wrong(" should be %s", log and "log:from:to:n, as log:1:100:5" or "from:to:step, as 0:1:0.25")
  end
  for i, text in ipairs(texts) do
    numbers[i] = tonumber(text)
    if not numbers[i] or numbers[i] - numbers[i] ~= 0 then
      fail("%s: '%s' in '%s' is no number", word, text, item)
    end
  end
  local from, to, step = table.unpack(numbers)
  if log and (from <= 0 or to <= 0) then wrong(": from and to must be above 0") end
  if log and (not math.tointeger(step) or step < 2) then wrong(": n must be 2 or more") end
  if not log and (step == 0 or (to - from) / step < 0) then
    wrong(": steps of %g do not lead from %g to %g", step, from, to)
  end
  local last = log and step - 1 or (to - from) / step + 1e-9
  if last >= MOST_RUNS then wrong(" are more than %d values", MOST_RUNS) end
  for k = 0, math.floor(last) do
    values[k + 1] = log and ("%.6g"):format(from * (to / from) ^ (k / last))
      or ("%.12g"):format(from + k * step)
  end
  if log then values[1], values[#values] = texts[1], texts[2] end
  return values, log ~= nil
end

-- Of "name=1,2,3".
local function read_word(word)
  local name, list = word:match("^([%a_][%w_]*)=(.*)$")
  local axis, seen = { names = { name }, rows = {} }, {}
  if not name then fail("'%s' should be name=value,... of a parameter", word) end
  for item in (list .. ","):gmatch("([^,]*),") do
    if item == "" then fail("%s: a value is missing", word) end
    local values, logarithmic = values_of(word, item)
    for _, value in ipairs(values) do
      if seen[value] then fail("%s: '%s' stands there twice", word, value) end
      seen[value] = true
      axis.rows[#axis.rows + 1] = { value }
    end
    axis.logarithmic = axis.logarithmic or logarithmic
  end
  return axis
end

local function read_rows(path)
  local names, rows = host.read_csv(path)
  if #rows == 0 then fail("%s has no rows: names in the first line, then values", path) end
  for _, name in ipairs(names) do
    if not name:find("^[%a_][%w_]*$") then
      fail("%s: '%s' in the first line is no name of a parameter", path, name)
    end
  end
  for _, row in ipairs(rows) do
    if #row ~= #names then
      fail("%s:%d: %d values for the %d names of the first line", path, row.line, #row, #names)
    end
  end
  return { names = names, rows = rows }
end

-- Each value is checked once, with the others as they are by default: a slip costs no run.
local function check(axes)
  local seen = {}
  for _, axis in ipairs(axes) do
    for i, name in ipairs(axis.names) do
      if seen[name] then fail("parameter '%s' is given twice", name) end
      seen[name] = true
      for _, row in ipairs(axis.rows) do
        local word = name .. "=" .. row[i]
        local why = not seen[word]
          and host.check(scenario, word, option["--trust"], option["--script-limit"])
        seen[word] = true
        if why then fail("%s", why) end
      end
    end
  end
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

-- All combinations, the last name changes fastest.
local function combine(axes)
  local total, runs, seen = 1, {}, {}
  for _, axis in ipairs(axes) do
    total = total * #axis.rows
    if total > MOST_RUNS then fail("these are more than %d runs", MOST_RUNS) end
  end
  for n = 0, total - 1 do
    local values, assignments, varied, alike = {}, {}, {}, total
    for _, axis in ipairs(axes) do
      alike = alike // #axis.rows -- runs with the same row follow each other
      for i, value in ipairs(axis.rows[n // alike % #axis.rows + 1]) do
        local word = axis.names[i] .. "=" .. value
        append(values, { value })
        append(assignments, { word })
        append(varied, #axis.rows > 1 and { word } or {})
      end
    end
    local name = name_of(assignments)
    if seen[name] then fail("there are two runs %s", table.concat(assignments, " ")) end
    seen[name] = true
    runs[n + 1] = { name = name, path = directory .. "/" .. name, values = values,
      assignments = assignments, label = table.concat(varied, " "), attempts = 0,
      record = { names = {}, results = {} } }
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
local function take_up(run, script)
  local record, kept = look(run), host.read(run.path .. "/run.lua")
  local other = kept and kept ~= script and "another text of " .. scenario
  local precision = option["--precision"] or record.precision
  if kept and precision ~= record.precision then other = record.precision end
  if other then
    fail("%s holds a run of %s; --force runs all again, -o takes another folder", run.path, other)
  end
  if record.stopped_by and not UNFINISHED[record.stopped_by] then
    run.state = record.stopped_by == "diverged" and "failed" or "done"
    os.remove(run.path .. ".log")
  end
end

-- ---- sweep.csv ----

local function line_of(cells)
  for i, value in ipairs(cells) do
    local text = math.type(value) == "float" and ("%.17g"):format(value) or tostring(value)
    cells[i] = text:find('[",\n]') and '"' .. text:gsub('"', '""') .. '"' or text
  end
  return table.concat(cells, ",") .. "\n"
end

local function write_table(sweep)
  local head = append(append({ "run" }, sweep.names),
    { "state", "stopped_by", "reason", "steps", "time" })
  local results, taken, lines = {}, {}, {}
  sweep.results = results
  for _, name in ipairs(head) do taken[name] = "result." .. name end
  for _, run in ipairs(sweep.runs) do
    for _, name in ipairs(run.state and run.record.names or {}) do
      if not results[name] then
        results[#results + 1], results[name] = name, true
        head[#head + 1] = taken[name] or name
      end
    end
  end
  lines[1] = line_of(append(head, { "mcells_per_second" }))
  for _, run in ipairs(sweep.runs) do
    local record = run.record
    local reason = record.stop_reason and record.stop_reason:gsub("\\(.)", "%1") or run.reason
    local stopped_by = record.stopped_by == "running" and "killed" or record.stopped_by
    local cells = append(append({ run.name }, run.values), { run.state or "",
      stopped_by or "refused", reason or "", record.steps or "", record.time or "" })
    for _, name in ipairs(results) do cells[#cells + 1] = record.results[name] or "" end
    cells[#cells + 1] = record.mcells_per_second or ""
    if run.state then lines[#lines + 1] = line_of(cells) end
  end
  host.replace(directory .. "/sweep.csv", table.concat(lines))
end

-- ---- the loop ----

local function start(run, slot)
  local record = look(run)
  local saved = record.saved and host.read(run.path .. "/" .. record.saved)
  local arguments = append({ "/proc/self/exe", "run", scenario }, run.assignments)
  append(arguments, { "-o", run.path, "--quiet", saved and not run.anew and "--resume" or "--force",
    "--threads", tostring(math.max(1, threads // jobs)) })
  append(arguments, passed)
  if devices > 0 then append(arguments, { "--device", tostring((slot - 1) % devices) }) end
  run.slot, run.begun, run.attempts = slot, os.time(), run.attempts + 1
  run.pid = host.start(run.path .. ".log", table.unpack(arguments))
end

-- Its process has ended: with an exit status, or killed by a signal. A run that gets no state is to
-- be started again.
local function ended(sweep, run, status, signal)
  local log = run.path .. ".log"
  run.pid, run.anew, run.reason = nil, false, (host.read(log) or ""):match("[^\n]+")
  look(run)
  if not run.reason then os.remove(log) end
  local killed = not status or status == INTERRUPTED
  if killed and (sweep.stopping or run.attempts < MOST_ATTEMPTS) then return end
  if not status then run.reason = ("killed by signal %d, %d times"):format(signal, run.attempts) end
  local list = status == 0 and not run.record.stopped_by
  if list then run.reason = "the scenario returns a list of simulations; a sweep takes one" end
  run.state = status == 0 and not list and "done" or "failed"
  sweep.seconds[#sweep.seconds + 1] = os.time() - run.begun
  write_table(sweep)
end

local function duration(seconds)
  return seconds < 100 and ("%.0f s"):format(seconds) or seconds < 6000
    and ("%.0f min"):format(seconds / 60) or ("%.1f h"):format(seconds / 3600)
end

-- Shows what runs and how much is left: what runs say of themselves, and the mean of those that
-- ended for those that wait. On a terminal over what was shown before, else when counts change.
-- Returns how many have failed.
local function show(sweep)
  local counts, lines, left, mean = { done = 0, failed = 0, waiting = 0 }, {}, 0, 0
  for _, seconds in ipairs(sweep.seconds) do mean = mean + seconds / #sweep.seconds end
  for _, run in ipairs(sweep.runs) do
    if run.pid then
      local record = look(run)
      local known = record.stopped_by == "running" and record.seconds_left
      left = left + (known or math.max(0, mean - (os.time() - run.begun)))
      lines[#lines + 1] = ("  %s%s"):format(run.name,
        known and (": step %d, %s left"):format(record.steps, duration(known)) or ""):sub(1, 78)
    else
      local state = run.state or "waiting"
      counts[state] = counts[state] + 1
    end
  end
  local told = ("%d running, %d done, %d failed, %d waiting"):format(#lines, counts.done,
    counts.failed, counts.waiting)
  if not option["--quiet"] and (host.terminal or told ~= sweep.told) then
    local over = ("\27[A\27[K"):rep(sweep.shown)
    local time = duration((left + mean * counts.waiting) / jobs)
    table.insert(lines, 1, over .. told .. (#sweep.seconds > 0 and "; " .. time .. " left" or ""))
    sweep.told, sweep.shown = told, host.terminal and #lines or 0
    io.stderr:write(table.concat(lines, "\n", 1, host.terminal and #lines or 1), "\n")
  end
  return counts.failed
end

local function next_run(sweep)
  for _, run in ipairs(sweep.stopping and {} or sweep.runs) do
    if not run.state and not run.pid then return run end
  end
end

local function run_all(sweep)
  local running, free = {}, {}
  for slot = jobs, 1, -1 do free[#free + 1] = slot end
  while next(running) or next_run(sweep) do
    sweep.changed = sweep.changed or host.read(scenario) ~= sweep.script
    if (host.interrupted() or sweep.changed) and not sweep.stopping then
      sweep.stopping = true
      for pid in pairs(running) do host.stop(pid) end
    end
    local waiting = #free > 0 and next_run(sweep)
    if waiting then
      start(waiting, table.remove(free))
      running[waiting.pid] = waiting
    else
      show(sweep)
      local pid, status, signal = host.wait(PAUSE)
      local run = running[pid or 0]
      if run then
        running[pid] = nil
        free[#free + 1] = run.slot
        ended(sweep, run, status, signal)
      end
    end
  end
end

local sweep = { names = {}, axes = {}, seconds = {}, shown = 0, directory = directory }
if option["--rows"] then sweep.axes[1] = read_rows(option["--rows"]) end
for _, word in ipairs(words) do sweep.axes[#sweep.axes + 1] = read_word(word) end
if #sweep.axes == 0 then fail("sweep needs a parameter with values: %s Re=100,200", scenario) end
check(sweep.axes)
for _, axis in ipairs(sweep.axes) do append(sweep.names, axis.names) end
sweep.runs = combine(sweep.axes)
host.lock(directory)
sweep.script = host.read(scenario)
for _, run in ipairs(sweep.runs) do
  run.anew = option["--force"]
  if not run.anew then take_up(run, sweep.script) end
end
run_all(sweep)
write_table(sweep)
local failed = show(sweep)
if sweep.changed then fail("%s has changed while the sweep ran, which is stopped", scenario) end
if sweep.stopping then return nil end
for _, plot in ipairs(wanted) do plots.draw(plot, sweep) end
return failed
