-- sweep.lua -- `selenite sweep`: a run for each combination of parameters, a row for each run.
--
-- Every run is a process of its own, `selenite run FILE name=value ... -o DIR/RUN`; what it leaves
-- in run.json is all that the sweep knows of it. So a sweep that was killed, or is called again
-- with more values, goes on where it was: runs that ended are kept, others go on from their
-- checkpoint.
--
-- `sweep` is what C gives (sweep.c): processes, the lock of the folder, pictures; and what
-- sweep_plot.lua, `load_plots`, needs of this file. `words` are FILE name=values ..., `given` the
-- options: "-j", "2", "--quiet", "".
local sweep, load_plots, words, given, devices, cores, terminal = ...

local MOST_RUNS = 10000
local MOST_ATTEMPTS = 3 -- of a run that is killed
local MOST_LETTERS = 160 -- of a folder's name
local PAUSE = 0.1 -- seconds between looks at the runs
local FAILED, USAGE, INTERRUPTED = 1, 2, 130 -- exit statuses

local function append(list, more) return table.move(more, 1, #more, #list + 1, list) end

local function fail(format, ...) error({ USAGE, format:format(...) }) end

local function read(path)
  local file <close> = io.open(path, "rb")
  return file and file:read("a")
end

-- ---- CSV ----

-- The cells of a line: one in quotes may hold commas, and quotes as "".
local function cells_of(line)
  local cells = {}
  line = line:gsub('"[^"]*"', function(text) return text:gsub(",", "\0") end)
  for cell in (line .. ","):gmatch("%s*(.-)%s*,") do
    cells[#cells + 1] = (cell:match('^"(.*)"$') or cell):gsub('""', '"'):gsub("\0", ",")
  end
  return cells
end

-- The cells of the first line, and a list of those of the others.
local function read_csv(path)
  local text, rows = read(path) or fail("%s: cannot be read", path), {}
  for line in text:gsub("^\xEF\xBB\xBF", ""):gmatch("[^\n]+") do
    if line:find("^%s*[^%s#]") then rows[#rows + 1] = cells_of(line) end
  end
  return table.remove(rows, 1) or fail("%s: is empty", path), rows
end

local function write_csv(path, rows)
  local lines = {}
  for _, cells in ipairs(rows) do
    for i, text in ipairs(cells) do
      cells[i] = text:find('[",\n]') and '"' .. text:gsub('"', '""') .. '"' or text
    end
    lines[#lines + 1] = table.concat(cells, ",") .. "\n"
  end
  local file = assert(io.open(path .. ".tmp", "wb"))
  assert(file:write(table.concat(lines)) and file:close())
  assert(os.rename(path .. ".tmp", path))
end

-- ---- options ----

sweep.fail, sweep.read_csv, sweep.write_csv = fail, read_csv, write_csv
local plots = load_plots(sweep)

local PASSED = { ["--backend"] = true, ["--precision"] = true, ["--trust"] = true,
  ["--script-limit"] = true } -- to each run
local option, passed, wanted = {}, {}, {}
for i = 1, #given, 2 do
  local name, value = given[i], given[i + 1]
  option[name] = value
  if PASSED[name] then append(passed, { name, value ~= "" and value or nil }) end
  if name == "--plot" then append(wanted, { plots.read(value) }) end
end
local scenario = table.remove(words, 1)
if scenario == "-" then fail("sweep reads the scenario many times: give a file") end
local directory = option["-o"] or "out/" .. scenario:match("([^/]*)$"):gsub("%.lua$", "") .. "_sweep"
local jobs = tonumber(option["-j"]) or math.max(1, devices)
local threads = math.max(1, (tonumber(option["--threads"]) or cores) // jobs)

-- ---- assignments: a list of "name=value" for each run ----

local names = {} -- of the parameters; also name -> whether it varies
local combinations = { {} }

-- Combines what there is with each row of values; these change fastest. Each row is checked once,
-- with the other parameters as they are by default: a slip costs no run.
local function combine(where, its_names, rows)
  local seen, longer = {}, {}
  for _, name in ipairs(its_names) do
    if names[name] ~= nil then fail("parameter '%s' is given twice", name) end
    names[#names + 1], names[name] = name, #rows > 1
  end
  for _, row in ipairs(rows) do
    local text = table.concat(row, ",")
    if #row ~= #its_names then fail("%s: '%s' are not %d values", where, text, #its_names) end
    if seen[text] then fail("%s: '%s' stands there twice", where, text) end
    seen[text] = true
    for i, value in ipairs(row) do row[i] = its_names[i] .. "=" .. value end
    local taken, why = sweep.check(scenario, row, option["--trust"], option["--script-limit"])
    if not taken then fail("%s", why) end
  end
  if #combinations * #rows > MOST_RUNS then fail("these are more than %d runs", MOST_RUNS) end
  for _, assignments in ipairs(combinations) do
    for _, row in ipairs(rows) do longer[#longer + 1] = append(append({}, assignments), row) end
  end
  combinations = longer
end

-- The values of "from:to:step" or "log:from:to:n", or of a word, which is its own.
local function values_of(word, item)
  local log, numbers, values = item:match("^log:(.*)$"), {}, {}
  local function need(fine, format, ...)
    return fine or fail("%s: '%s'" .. format, word, item, ...)
  end
  need(item ~= "", ": a value is missing")
  if not log and not tonumber(item:match("^(.-):")) then return { item } end
  for text in ((log or item) .. ":"):gmatch("(.-):") do
    numbers[#numbers + 1] = need(tonumber(text), ": '%s' is no number", text)
  end
  need(#numbers == 3, log and " should be log:from:to:n, as log:1:100:5"
    or " should be from:to:step, as 0:1:0.25")
  local from, to, step = table.unpack(numbers)
  local last = log and step - 1 or (to - from) / step + 1e-9 -- counted from 0
  need(not log or from > 0 and to > 0, ": from and to must be above 0")
  need(not log or step > 1 and step % 1 == 0, ": n must be 2 or more")
  need(last >= 0, ": steps of %g do not lead from %g to %g", step, from, to)
  need(last < MOST_RUNS, " are more than %d values", MOST_RUNS)
  for k = 0, math.floor(last) do
    values[k + 1] = log and ("%.6g"):format(from * (to / from) ^ (k / last))
      or ("%.12g"):format(from + k * step)
  end
  return values
end

if option["--rows"] then combine(option["--rows"], read_csv(option["--rows"])) end
for _, word in ipairs(words) do
  local name, list = word:match("^([^=]*)=(.*)$")
  local rows = {}
  for item in (list .. ","):gmatch("(.-),") do
    for _, value in ipairs(values_of(word, item)) do rows[#rows + 1] = { value } end
  end
  combine(word, { name }, rows)
end
if #names == 0 then fail("sweep needs a parameter with values: %s Re=100,200", scenario) end

-- ---- runs ----

local results = {} -- names of all results, sorted; also name -> true

-- A folder's name from the parameters: what a shell or a file system may mind is written as %41.
local function name_of(assignments)
  local name = table.concat(assignments, ","):gsub("[^%w.,=_+-]", function(c)
    return ("%%%02x"):format(c:byte())
  end)
  local hash = 5381
  for i = 1, #name do hash = (hash * 33 + name:byte(i)) & 0xffffffff end
  return #name <= MOST_LETTERS and name or ("%s~%08x"):format(name:sub(1, MOST_LETTERS), hash)
end

local runs = {}
for i, assignments in ipairs(combinations) do
  local values, varied, name = {}, {}, name_of(assignments)
  for k, word in ipairs(assignments) do
    values[k] = word:match("=(.*)$")
    values[names[k]] = values[k]
    append(varied, names[names[k]] and { word } or {})
  end
  runs[i] = { name = name, path = directory .. "/" .. name, assignments = assignments,
    values = values, varied = varied, attempts = 0 }
end

-- Reads run.json, an entry per line as the engine writes it: texts as they stand there.
local function look(run)
  local text = read(run.path .. "/run.json") or ""
  local record = { saved = text:match('"([^"]*%.sel)"') }
  for key, value in text:gmatch('\n  "([%w_]+)": "?(.-)"?,?%f[\n]') do
    record[key] = value ~= "null" and value:gsub("\\(.)", "%1") or nil
  end
  local its = {}
  for name, value in (record.results or ""):gmatch('"([^"]+)": ([^,}]+)') do
    append(results, results[name] and {} or { name })
    results[name], its[name] = true, value ~= "null" and value or ""
  end
  table.sort(results)
  record.results, run.record = its, record
  return record
end

local UNFINISHED = { running = true, interrupted = true, error = true }

-- A folder that another script or other settings have filled is not ours to go on with.
local function take_up(run, script)
  local record, kept = look(run), read(run.path .. "/run.lua") or script
  local precision = record.precision or option["--precision"]
  if kept ~= script or precision ~= (option["--precision"] or precision) then
    fail("%s holds a run of another text of %s, or of another precision; --force runs all again, "
      .. "-o takes another folder", run.path, scenario)
  end
  if record.stopped_by and not UNFINISHED[record.stopped_by] then
    run.state = record.stopped_by == "diverged" and "failed" or "done"
    os.remove(run.path .. ".log")
  end
end

-- sweep.csv: a row for each run that has ended.
local function write_table()
  local head = append({ "run" }, names)
  append(head, { "state", "stopped_by", "reason", "steps", "time" })
  local rows = { append(append(head, results), { "mcells_per_second" }) }
  for _, run in ipairs(runs) do
    local record, row = run.record, append({ run.name }, run.values)
    if run.state then
      append(row, { run.state, record.stopped_by == "running" and "killed" or record.stopped_by or
        "refused", record.stop_reason or run.reason or "", record.steps or "", record.time or "" })
      for _, name in ipairs(results) do append(row, { record.results[name] or "" }) end
      rows[#rows + 1] = append(row, { record.mcells_per_second or "" })
    end
  end
  write_csv(directory .. "/sweep.csv", rows)
end

-- ---- the loop ----

local queue = {} -- of runs that wait
local stopping -- the error in which the sweep will end
local begun, last_end, ended = os.time(), nil, 0

-- A slot runs one at a time; they take turns on the GPUs.
local function start(run, slot)
  local record = look(run)
  local checkpoint = run.path .. "/" .. (record.saved or "")
  local anew = option["--force"] and run.attempts == 0
  local resumes = not anew and record.saved and os.rename(checkpoint, checkpoint) -- it is there
  local arguments = append({ "/proc/self/exe", "run", scenario }, run.assignments)
  append(arguments, { "-o", run.path, "--quiet", resumes and "--resume" or "--force",
    "--threads", tostring(threads) })
  append(arguments, devices > 0 and { "--device", tostring((slot - 1) % devices) } or {})
  run.pid = assert(sweep.start(run.path .. ".log", append(arguments, passed)))
  run.attempts = run.attempts + 1
  return run
end

-- Its process has ended: with an exit status, or killed by a signal. A run that was killed is to be
-- started again.
local function finish(run, status, signal)
  local record, log = look(run), run.path .. ".log"
  run.pid, run.reason = nil, (read(log) or ""):match("[^\n]+")
  if not run.reason then os.remove(log) end
  local killed = not status or status == INTERRUPTED
  if killed and (stopping or run.attempts < MOST_ATTEMPTS) then
    return table.insert(queue, 1, run)
  end
  if not status then
    run.reason = ("killed by signal %d, %d times"):format(signal, run.attempts)
  elseif status == 0 and not record.stopped_by then
    run.reason = "the scenario returns a list of simulations; a sweep takes one"
  end
  run.state = status == 0 and record.stopped_by and "done" or "failed"
  last_end, ended = os.time(), ended + 1
  write_table()
end

local function left(seconds)
  local s = math.max(0, math.floor(seconds))
  return ("%d:%02d:%02d left"):format(s // 3600, s // 60 % 60, s % 60)
end

-- Shows what runs and how much is left: as each run says, and all by the mean time of those that
-- ended. On a terminal over what was shown before, else when counts change. Returns how many have
-- failed.
local shown, shown_lines = "", 0
local function show()
  local count, lines = { running = 0, done = 0, failed = 0, waiting = 0 }, {}
  for _, run in ipairs(runs) do
    local state = run.pid and "running" or run.state or "waiting"
    count[state] = count[state] + 1
    local seconds = run.pid and look(run).seconds_left
    append(lines, run.pid and { ("  %.50s %s"):format(run.name, seconds and left(seconds) or "") } or {})
  end
  local text = ("%d running, %d done, %d failed, %d waiting"):format(count.running, count.done,
    count.failed, count.waiting)
  if not option["--quiet"] and (terminal or text ~= shown) then
    local all = last_end and (last_end - begun) / ended * (ended + count.running + count.waiting)
    table.insert(lines, 1, text .. (all and "; " .. left(begun + all - os.time()) or ""))
    io.stderr:write(("\27[A\27[K"):rep(shown_lines),
      table.concat(lines, "\n", 1, terminal and #lines or 1), "\n")
    shown, shown_lines = text, terminal and #lines or 0
  end
  return count.failed
end

-- Runs all of the queue, `jobs` at a time.
local function run_all(script)
  local running = {} -- by slot
  while next(running) or queue[1] and not stopping do
    for slot = 1, stopping and 0 or jobs do
      if queue[1] and not running[slot] then
        running[slot] = start(table.remove(queue, 1), slot)
      end
    end
    show()
    local interrupted, pid, status, signal = sweep.wait(PAUSE)
    for slot, run in pairs(running) do
      if run.pid == pid then
        running[slot] = nil
        finish(run, status, signal)
      end
    end
    if not stopping and (interrupted or read(scenario) ~= script) then
      stopping = interrupted and { INTERRUPTED, "interrupted; called again, it goes on" }
        or { USAGE, scenario .. " has changed while the sweep ran, which is stopped" }
      for _, run in pairs(running) do sweep.stop(run.pid) end
    end
  end
end

assert(sweep.lock(directory))
local script = read(scenario)
for _, run in ipairs(runs) do
  if not option["--force"] then take_up(run, script) end
  if not run.state then queue[#queue + 1] = run end
end
run_all(script)
write_table()
local failed = show()
sweep.runs, sweep.names, sweep.results, sweep.words = runs, names, results, words
if stopping then error(stopping) end
for _, plot in ipairs(wanted) do plots.draw(plot, directory) end
if failed > 0 then error({ FAILED, failed .. " runs failed; sweep.csv has the reasons" }) end
