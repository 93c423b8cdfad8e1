-- sweep.lua -- `selenite sweep`: a run for each combination of parameters, a row for each run.
--
-- Every run is a process of its own, `selenite run FILE name=value ... -o DIR/RUN`; what it leaves
-- in run.json is what the sweep knows of it. So a sweep that was killed, or is called again with
-- more values, goes on where it was: runs that ended are kept, others go on from their checkpoint.
--
-- `host` is what C gives (sweep.c): processes, files, pictures.
local host = ...
local plots = host.load("sweep_plot")

local MOST_RUNS = 10000
local MOST_ATTEMPTS = 3 -- of a run that is killed
local NAME_LENGTH = 160
local PAUSE = 0.1 -- seconds between looks at the runs

local function fail(format, ...) error(setmetatable({ text = format:format(...) }, { usage = true })) end

-- ---- values: 1,2,3   from:to:step   log:from:to:n   words ----

local function add(values, seen, value, word)
  if seen[value] then fail("%s: '%s' stands there twice", word, value) end
  if #values >= MOST_RUNS then fail("%s: more than %d values", word, MOST_RUNS) end
  seen[value] = true
  values[#values + 1] = value
end

local function number(text, word, what)
  local value = tonumber(text)
  if not value or value ~= value or math.abs(value) == math.huge then
    fail("%s: %s '%s' is no number", word, what, text)
  end
  return value
end

local function add_logarithmic(values, seen, item, word)
  local from, to, count = item:match("^log:([^:]*):([^:]*):([^:]*)$")
  if not from then fail("%s: '%s' should be log:from:to:n, as log:1:100:5", word, item) end
  local first, last = number(from, word, "from"), number(to, word, "to")
  local n = math.tointeger(number(count, word, "n"))
  if first <= 0 or last <= 0 then fail("%s: '%s': from and to must be above 0", word, item) end
  if not n or n < 2 or n > MOST_RUNS then
    fail("%s: '%s': n must be a whole number from 2 to %d", word, item, MOST_RUNS)
  end
  for i = 0, n - 1 do
    add(values, seen, ("%.6g"):format(first * (last / first) ^ (i / (n - 1))), word)
  end
end

local function add_range(values, seen, item, word)
  local parts = {}
  for part in (item .. ":"):gmatch("([^:]*):") do parts[#parts + 1] = part end
  if #parts ~= 3 then fail("%s: '%s' should be from:to:step, as 0:1:0.25", word, item) end
  local from, to = number(parts[1], word, "from"), number(parts[2], word, "to")
  local step = number(parts[3], word, "step")
  local count = (to - from) / step
  if step == 0 or count < 0 then
    fail("%s: '%s': steps of %s do not lead from %s to %s", word, item, parts[3], parts[1], parts[2])
  end
  if count > MOST_RUNS then fail("%s: '%s': more than %d values", word, item, MOST_RUNS) end
  for i = 0, math.floor(count + 1e-9) do
    add(values, seen, ("%.12g"):format(from + i * step), word)
  end
end

-- "name=1,2,3": the name, its values, and whether they are logarithmic.
local function read_word(word)
  local name, list = word:match("^([%a_][%w_]*)=(.*)$")
  if not name then fail("'%s' should be name=value,... , a parameter of the scenario", word) end
  local axis, seen = { names = { name }, rows = {} }, {}
  local values = {}
  for item in (list .. ","):gmatch("([^,]*),") do
    if item == "" then fail("%s: a value is missing", word) end
    if item:find("^log:") then
      add_logarithmic(values, seen, item, word)
      axis.logarithmic = true
    elseif item:find(":") and tonumber(item:match("^[^:]*")) then
      add_range(values, seen, item, word)
    else
      add(values, seen, item, word)
    end
  end
  for i, value in ipairs(values) do axis.rows[i] = { value } end
  return axis
end

-- A CSV of names and rows of values.
local function read_rows(path)
  local axis, line_number = { rows = {} }, 0
  for line in (host.read(path) .. "\n"):gmatch("(.-)\r?\n") do
    line_number = line_number + 1
    local cells = {}
    if line:find("%S") and not line:find("^%s*#") then
      for cell in (line .. ","):gmatch("([^,]*),") do
        cells[#cells + 1] = cell:match('^%s*"?(.-)"?%s*$')
      end
    end
    if #cells > 0 and not axis.names then
      for _, name in ipairs(cells) do
        if not name:find("^[%a_][%w_]*$") then
          fail("%s:%d: '%s' is no name of a parameter", path, line_number, name)
        end
      end
      axis.names = cells
    elseif #cells > 0 then
      if #cells ~= #axis.names then
        fail("%s:%d: %d values for the %d names of the first line", path, line_number, #cells,
          #axis.names)
      end
      axis.rows[#axis.rows + 1] = cells
    end
  end
  if #axis.rows == 0 then fail("%s has no rows: names in the first line, then values", path) end
  return axis
end

-- ---- runs ----

-- A folder's name from the parameters: what a shell or a file system may mind is written as %41.
local function name_of(assignments)
  local name = table.concat(assignments, ","):gsub("[^%w%.,=_+-]", function(c)
    return ("%%%02x"):format(c:byte())
  end)
  if #name <= NAME_LENGTH then return name end
  local hash = 5381
  for i = 1, #name do hash = (hash * 33 + name:byte(i)) & 0xffffffff end
  return ("%s~%08x"):format(name:sub(1, NAME_LENGTH), hash)
end

-- All combinations, the last name changes fastest.
local function combine(axes)
  local runs = { { values = {}, assignments = {} } }
  for _, axis in ipairs(axes) do
    local more = {}
    if #runs * #axis.rows > MOST_RUNS then
      fail("%d x %d runs, and more; %d are allowed", #runs, #axis.rows, MOST_RUNS)
    end
    for _, run in ipairs(runs) do
      for _, row in ipairs(axis.rows) do
        local values = { table.unpack(run.values) }
        local assignments = { table.unpack(run.assignments) }
        for i, value in ipairs(row) do
          values[#values + 1] = value
          assignments[#assignments + 1] = axis.names[i] .. "=" .. value
        end
        more[#more + 1] = { values = values, assignments = assignments }
      end
    end
    runs = more
  end
  for _, run in ipairs(runs) do run.name = name_of(run.assignments) end
  return runs
end

-- Each value once, with the others as they are by default, so that a slip costs no run.
local function check_values(file, axes)
  local seen = {}
  for _, axis in ipairs(axes) do
    for _, name in ipairs(axis.names) do
      if seen[name] then fail("parameter '%s' is given twice", name) end
      seen[name] = true
    end
    for _, row in ipairs(axis.rows) do
      for i, value in ipairs(row) do
        local word = axis.names[i] .. "=" .. value
        if not seen[word] then
          local why = host.check(file, word)
          if why then fail("%s", why) end
          seen[word] = true
        end
      end
    end
  end
end

-- ---- what runs have left ----

-- A run.json, an entry per line as the engine writes it; `names` are those of the results.
local function read_record(text)
  local record = { results = {}, names = {} }
  for key, value in text:gmatch('\n  "([%w_]+)": ([^\n]*)') do
    value = value:gsub(",$", "")
    record[key] = tonumber(value) or value:match('^"(.*)"$') or record[key]
    for name, result in (key == "results" and value or ""):gmatch('"([^"]+)": ([^,}]+)') do
      record.names[#record.names + 1] = name
      record.results[name] = tonumber(result)
    end
  end
  record.stop_reason = record.stop_reason and record.stop_reason:gsub("\\(.)", "%1")
  return record
end

-- The run.json of a run, or of each simulation of its list, in `records`; each has `at`, its folder.
local function look(run)
  run.records = {}
  local own = host.exists(run.path .. "/run.json")
  for _, below in ipairs(own and { "" } or host.list(run.path)) do
    local at = run.path .. (below == "" and "" or "/" .. below)
    local text = host.exists(at .. "/run.json") and host.read(at .. "/run.json")
    local record = text and read_record(text)
    if record then
      record.at, record.simulation = at, below
      run.records[#run.records + 1] = record
    end
  end
  return run.records
end

local UNFINISHED = { running = true, interrupted = true, error = true }

-- Whether a run has ended by itself; that of a list also when all its simulations are asked again.
local function has_ended(run)
  local records = look(run)
  for _, record in ipairs(records) do
    if UNFINISHED[record.stopped_by] then return false end
  end
  return #records > 0 and records[1].simulation == ""
end

-- A folder that another script or other settings have filled is not ours to go on with.
local function check_kept(o, run, script)
  for _, record in ipairs(look(run)) do
    local kept = host.exists(record.at .. "/run.lua") and host.read(record.at .. "/run.lua")
    if kept and kept ~= script then
      fail("%s holds a run of another text of %s; --force runs all again, -o takes another folder",
        record.at, o.file)
    end
    if o.precision and o.precision ~= record.precision then
      fail("%s holds a run in %s; --force runs all again, -o takes another folder", record.at,
        record.precision)
    end
  end
end

local function first_line(path)
  local text = host.exists(path) and host.read(path) or ""
  return text:match("[^\n]+")
end

-- ---- sweep.csv ----

local function cell(value)
  local text = value == nil and "" or tostring(value)
  if math.type(value) == "float" then text = ("%.17g"):format(value) end
  return text:find('[",\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

-- One row per simulation of the runs that ended; columns of results as they are met.
local function table_of(sweep)
  local rows, results, known, lists = {}, {}, {}, false
  for _, run in ipairs(sweep.runs) do
    for _, record in ipairs(run.state and run.records or {}) do
      lists = lists or record.simulation ~= ""
      for _, name in ipairs(record.names) do
        if not known[name] then
          known[name] = true
          results[#results + 1] = name
        end
      end
      rows[#rows + 1] = { run = run, record = record, results = record.results }
    end
    if run.state and #run.records == 0 then
      rows[#rows + 1] = { run = run, record = { simulation = "" }, results = {} }
    end
  end
  return rows, results, lists
end

local function write_table(sweep)
  local rows, results, lists = table_of(sweep)
  local head = { "run", table.unpack(sweep.names) }
  if lists then head[#head + 1] = "simulation" end
  for _, name in ipairs { "state", "stopped_by", "reason", "steps", "time" } do
    head[#head + 1] = name
  end
  for _, name in ipairs(results) do head[#head + 1] = name end
  local lines = { table.concat(head, ",") .. ",mcells_per_second" }
  for _, row in ipairs(rows) do
    local run, record, cells = row.run, row.record, {}
    local function put(value) cells[#cells + 1] = cell(value) end
    put(run.name)
    for _, value in ipairs(run.values) do put(value) end
    if lists then put(record.simulation) end
    put(run.state)
    put(record.stopped_by or "refused")
    put(record.stop_reason or run.reason)
    put(record.steps)
    put(record.time)
    for _, name in ipairs(results) do put(row.results[name]) end
    put(record.mcells_per_second)
    lines[#lines + 1] = table.concat(cells, ",")
  end
  host.replace(sweep.directory .. "/sweep.csv", table.concat(lines, "\n") .. "\n")
end

-- ---- the loop ----

local function start(o, sweep, run, slot)
  local arguments = { o.program, "run", o.file, table.unpack(run.assignments) }
  local function put(...) table.move({ ... }, 1, select("#", ...), #arguments + 1, arguments) end
  put("-o", run.path, "--quiet", "--threads", tostring(sweep.threads), table.unpack(o.pass))
  if sweep.devices > 0 then put("--device", tostring((slot - 1) % sweep.devices)) end
  local saved = false
  for _, name in ipairs(host.list(run.path)) do saved = saved or name:find("%.sel$") ~= nil end
  local list = #look(run) > 0 and run.records[1].simulation ~= ""
  if (saved or list) and not run.anew then
    put("--resume")
  elseif host.exists(run.path) then
    put("--force")
  end
  run.slot, run.begun, run.attempts = slot, host.now(), (run.attempts or 0) + 1
  run.pid = host.start(arguments, run.path .. ".log")
end

-- A run's process has ended. Returns true if it is to be run again.
local function ended(sweep, run, signal, code)
  run.pid = nil
  run.anew = false
  look(run)
  local log = run.path .. ".log"
  run.reason = first_line(log)
  if not run.reason then host.remove(log) end
  if signal and not sweep.stopping then
    if run.attempts < MOST_ATTEMPTS then return true end
    run.reason = ("killed by signal %d, %d times"):format(signal, run.attempts)
  end
  if sweep.stopping and (signal or code == 130) then return false end
  if code ~= 130 then run.state = code == 0 and "done" or "failed" end
  if run.state then sweep.seconds[#sweep.seconds + 1] = host.now() - run.begun end
  write_table(sweep)
  return false
end

local function duration(seconds)
  local s = math.floor(seconds + 0.5)
  return s < 100 and s .. " s" or s < 6000 and s // 60 .. " min" or ("%.1f h"):format(s / 3600)
end

-- Seconds that are left: what the running ones say, and the mean of those that ended for the rest.
local function time_left(sweep, waiting)
  if #sweep.seconds == 0 then return nil end
  local mean, sum = 0, 0
  for _, seconds in ipairs(sweep.seconds) do mean = mean + seconds / #sweep.seconds end
  for _, run in pairs(sweep.running) do
    local record = look(run)[#run.records]
    sum = sum + (record and record.seconds_left or math.max(0, mean - (host.now() - run.begun)))
  end
  return (sum + mean * waiting) / sweep.jobs
end

local function show(sweep, waiting)
  local counts, lines = { done = 0, failed = 0 }, {}
  for _, run in ipairs(sweep.runs) do
    if run.state then counts[run.state] = counts[run.state] + 1 end
  end
  for _, run in ipairs(sweep.runs) do
    if run.pid then
      local record = look(run)[#run.records]
      local step = record and record.stopped_by == "running" and record.steps
      local left = step and record.seconds_left
      lines[#lines + 1] = ("  %s: %s%s"):format(run.name,
        step and ("step %d"):format(step) or "begins", left and ", " .. duration(left) .. " left" or "")
    end
  end
  local left = time_left(sweep, waiting)
  if sweep.quiet then return counts end
  host.show(("%d running, %d done, %d failed, %d waiting%s"):format(#lines, counts.done,
    counts.failed, waiting, left and "; " .. duration(left) .. " left" or ""), lines)
  return counts
end

local function stop_all(sweep)
  sweep.stopping = true
  for pid in pairs(sweep.running) do host.stop(pid) end
end

local function run_all(o, sweep)
  local waiting = {}
  for _, run in ipairs(sweep.runs) do
    if not run.state then waiting[#waiting + 1] = run end
  end
  local free = {}
  for slot = sweep.jobs, 1, -1 do free[#free + 1] = slot end
  while #waiting > 0 or next(sweep.running) do
    if host.interrupted() and not sweep.stopping then stop_all(sweep) end
    while #free > 0 and #waiting > 0 and not sweep.stopping do
      local run = table.remove(waiting, 1)
      start(o, sweep, run, table.remove(free))
      sweep.running[run.pid] = run
    end
    if sweep.stopping and not next(sweep.running) then return end
    show(sweep, #waiting)
    local pid, signal, code = host.wait(PAUSE)
    local run = pid and sweep.running[pid]
    if run then
      sweep.running[pid] = nil
      free[#free + 1] = run.slot
      if ended(sweep, run, signal, code) then table.insert(waiting, 1, run) end
    end
  end
end

local function sweep_of(o)
  local axes, names = {}, {}
  if o.rows then axes[1] = read_rows(o.rows) end
  for _, word in ipairs(o.words) do axes[#axes + 1] = read_word(word) end
  if #axes == 0 then
    fail("sweep needs a parameter with several values: %s Re=100,200,400", o.file)
  end
  check_values(o.file, axes)
  local logarithmic = {}
  for _, axis in ipairs(axes) do
    for _, name in ipairs(axis.names) do
      names[#names + 1] = name
      logarithmic[name] = axis.logarithmic
    end
  end
  return { axes = axes, names = names, logarithmic = logarithmic, runs = combine(axes),
    directory = o.directory, jobs = o.jobs, threads = math.max(1, o.threads // o.jobs),
    devices = o.devices, quiet = o.quiet, running = {}, seconds = {} }
end

-- Returns the number of runs that failed; and a text if the sweep was interrupted.
return function(o)
  local sweep = sweep_of(o)
  local wanted = {}
  for i, text in ipairs(o.plots) do wanted[i] = plots.read(text, fail) end
  host.make_folder(o.directory)
  host.lock(o.directory .. "/sweep.lock")
  local script = host.read(o.file)
  for _, run in ipairs(sweep.runs) do
    run.path, run.records, run.anew = o.directory .. "/" .. run.name, {}, o.force
    if not o.force then
      check_kept(o, run, script)
      if has_ended(run) then
        run.state = run.records[1].stopped_by == "diverged" and "failed" or "done"
      end
    end
  end
  run_all(o, sweep)
  write_table(sweep)
  local counts = show(sweep, 0)
  if sweep.stopping then return counts.failed, "interrupted; called again, it goes on" end
  local rows, results = table_of(sweep)
  for _, plot in ipairs(wanted) do plots.draw(plot, sweep, rows, results, host, fail) end
  return counts.failed
end
