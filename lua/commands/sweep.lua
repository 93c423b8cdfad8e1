-- sweep.lua -- `selenite sweep`: a run for each combination of parameters, a row for each run.
--
-- Every run is a process of its own, `selenite run FILE name=value ... -o DIR/RUN`. The sweep knows
-- of a run only its run.json. So a sweep that was killed, or is called again with more values,
-- resumes: runs that ended are kept, others continue from their checkpoint.
--
--      words -> combinations -> runs -> queue -> processes -> run.json -> sweep.csv, plots
--
-- Files are written as by `run`: completely or not at all, through no link, and never over a file
-- of another kind. Only regular files are read.
--
-- `sweep` has the functions of sweep.c: processes, files, the lock of the folder, pictures.
-- `words`: FILE name=values ...; `given`: the options "-j", "2", "--quiet", ""; `read_json`:
-- json.lua.
local sweep, words, given, devices, cores, terminal, read_json = ...

local MOST_RUNS = 10000
local MOST_ATTEMPTS = 3 -- per run, if it is killed
local UNFINISHED = { running = true, interrupted = true, error = true } -- in run.json
local FAILED, USAGE, KILLED, INTERRUPTED = 1, 2, 128, 130 -- exit statuses

local function append(list, more) return table.move(more, 1, #more, #list + 1, list) end

local function fail(format, ...) error({ USAGE, format:format(...) }) end

-- The result of a function of `sweep`; nil and a reason end the sweep.
local function need(value, why)
  return value or error(why, 0)
end

-- The text of a file that the user names.
local function read(path) return need(sweep.read(path)) end

-- The text of a file in the sweep's own folder; nil: there is no such file, or it is a link.
local function read_own(path)
  local text, why = sweep.read(path, true)
  return text or why and error(why .. "; move it away, or take another folder with -o", 0)
end

-- ---- CSV ----

-- The first bytes of the sweep's files; other files are not replaced.
local TABLE, CURVES, LOG = "run,", "curve,x,y\n", "selenite run "

-- Reads the CSV cell at position `at` of a text that ends with a newline. Returns the cell, the
-- character that ends it, the position after that, and whether the cell is quoted. nil: the quotes
-- are not closed, or something follows them.
local function read_cell(text, at)
  local from = text:match('^[ \t]*"()', at)
  if not from then return text:match("^[ \t]*([^,\n]-)[ \t]*([,\n])()", at) end
  local parts, part, twice = {}
  repeat
    part, twice, from = text:match('^([^"]*)"("?)()', from)
    if not part then return nil end
    parts[#parts + 1] = part .. twice
  until twice == ""
  local mark, rest = text:match("^[ \t]*([,\n])()", from)
  return mark and table.concat(parts), mark, rest, true
end

-- Returns the cells of the first line, and the list of the other lines' cells. A quoted cell may
-- hold commas, newlines, and quotes as ""; # begins a comment.
local function read_csv(path)
  local text = read(path):gsub("^\xEF\xBB\xBF", ""):gsub("\r\n?", "\n") .. "\n"
  local rows, row, at = {}, {}, 1
  local line, counted = 1, 1 -- the line of a position
  while at <= #text do
    if not row[1] then
      line = line + select(2, text:sub(counted, at - 1):gsub("\n", ""))
      counted, row.line = at, line
    end
    local cell, mark, rest, quoted = read_cell(text, at)
    if not row[1] and text:find("^[ \t]*#", at) then
      rest = text:match("\n()", at)
    elseif not cell or cell:find("\0", 1, true) then
      fail("%s:%d: a cell %s", path, select(2, text:sub(1, at):gsub("\n", "")) + 1,
        cell and "holds a zero byte" or "in quotes must end with a quote, and nothing behind it")
    else
      row[#row + 1] = cell
      if rows[1] and #row > #rows[1] and cell ~= "" then
        local _, lines = text:sub(1, at - 1):gsub("\n", "")
        fail("%s:%d: %d cells, but the first line has %d; a cell with a comma in it stands in "
          .. "quotes", path, lines + 1, #row, #rows[1])
      end
      if mark == "\n" then
        append(rows, (row[2] or quoted or cell ~= "") and { row } or {})
        row = {}
      end
    end
    at = rest
  end
  local first = table.remove(rows, 1) or fail("%s: is empty", path)
  if #first == 1 and first[1]:find(";") then
    fail("%s:%d: '%s': cells stand between commas, not semicolons", path, first.line, first[1])
  end
  return first, rows
end

-- A text as a CSV cell. A text that a spreadsheet would take for a formula is quoted and begins
-- with '; numbers are unchanged.
local function cell_text(text)
  local number = tonumber(text) and not text:find("[^%d.eE+-]")
  if not number and text:find("^%s*[=+@-]") or text:find("^[\t\r\n]") then
    return '"\'' .. text:gsub('"', '""') .. '"'
  end
  return text:find('[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
end

local function write_csv(path, rows, begins)
  local lines = {}
  for _, cells in ipairs(rows) do
    for i, text in ipairs(cells) do cells[i] = cell_text(text) end
    lines[#lines + 1] = table.concat(cells, ",") .. "\n"
  end
  need(sweep.write(path, table.concat(lines), begins))
end

-- ---- options ----

local PLOT = { x = ".", y = "[^,]$", by = ".", log = "^[xy]+$", with = "^(.+):([^:]+):([^:]+)$" }

local function read_plot(text)
  local plot = { with = {}, log = "" }
  for word in text:gmatch("%S+") do
    local key, value = word:match("^(%a+)=(.+)$")
    if not key or not PLOT[key] or not value:find(PLOT[key]) then
      fail("--plot '%s': '%s' should be y=RESULT, x=NAME, by=NAME, log=xy or "
        .. "with=FILE.csv:X:Y", text, word)
    end
    if key == "with" then append(plot.with, { value }) else plot[key] = value end
  end
  return plot.x and plot.y and plot or fail("--plot '%s': x and y are needed", text)
end

local option, passed, wanted = {}, {}, {}
for i = 1, #given, 2 do
  local name, value = given[i], given[i + 1]
  option[name] = value
  local of_each_run = "--backend --precision --storage --trust --script-limit"
  if of_each_run:find(name, 1, true) then
    append(passed, { name, value ~= "" and value or nil })
  end
  if name == "--plot" then append(wanted, { read_plot(value) }) end
end
local scenario = table.remove(words, 1)
if scenario == "-" then fail("sweep reads the scenario many times: give a file") end
local directory = option["-o"]
  or ("out/%s_sweep"):format((scenario:match("([^/]*)$"):gsub("%.lua$", "")))
local jobs = tonumber(option["-j"]) or math.max(1, devices)
local threads = math.max(1, (tonumber(option["--threads"]) or cores) // jobs)

-- ---- assignments: a list of "name=value" for each run ----

local names = {} -- of the parameters; also name -> whether it varies
local combinations = { {} }

-- Combines each combination with each row of values, which vary fastest. Each row is checked once,
-- with defaults for the other parameters, so that a mistake costs no run.
local function combine(where, its_names, rows)
  local seen, longer = {}, {}
  for _, name in ipairs(its_names) do
    if names[name] ~= nil then fail("parameter '%s' is given twice", name) end
    names[#names + 1], names[name] = name, #rows > 1
  end
  for _, row in ipairs(rows) do
    local text = table.concat(row, ",")
    local at = row.line and ("%s:%d"):format(where, row.line) or where
    if #row ~= #its_names then fail("%s: '%s' are not %d values", at, text, #its_names) end
    if seen[text] then fail("%s: '%s' stands there twice", at, text) end
    seen[text] = true
    for i, value in ipairs(row) do row[i] = its_names[i] .. "=" .. value end
    local taken, why = sweep.check(scenario, row, option["--trust"], option["--script-limit"])
    if not taken then fail("%s%s", row.line and at .. ": " or "", why) end
  end
  if #combinations * #rows > MOST_RUNS then fail("these are more than %d runs", MOST_RUNS) end
  for _, assignments in ipairs(combinations) do
    for _, row in ipairs(rows) do longer[#longer + 1] = append(append({}, assignments), row) end
  end
  combinations = longer
end

-- The values of "from:to:step" or "log:from:to:n"; any other word is a value.
local function expand(word, item)
  local log, numbers, values = item:match("^log:(.*)$"), {}, {}
  local function expect(fine, format, ...)
    return fine or fail("%s: '%s'" .. format, word, item, ...)
  end
  expect(item ~= "", ": a value is missing")
  if not log and not tonumber(item:match("^(.-):")) then return { item } end
  for text in ((log or item) .. ":"):gmatch("(.-):") do
    numbers[#numbers + 1] = expect(tonumber(text), ": '%s' is no number", text)
  end
  expect(#numbers == 3, log and " should be log:from:to:n, as log:1:100:5"
    or " should be from:to:step, as 0:1:0.25")
  local from, to, step = table.unpack(numbers)
  expect(log or step ~= 0, ": the step must not be 0")
  local last = log and step - 1 or (to - from) / step + 1e-9 -- counted from 0
  expect(not log or from > 0 and to > 0, ": from and to must be above 0")
  expect(not log or step > 1 and step % 1 == 0, ": n must be 2 or more")
  expect(last >= 0, ": steps of %g do not lead from %g to %g", step, from, to)
  expect(last < MOST_RUNS, " are more than %d values", MOST_RUNS)
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
    for _, value in ipairs(expand(word, item)) do rows[#rows + 1] = { value } end
  end
  combine(word, { name }, rows)
end
if #names == 0 then fail("sweep needs a parameter with values: %s Re=100,200", scenario) end

-- ---- runs ----

local results = {} -- names of all results, sorted; also name -> true

local runs = {}
for i, assignments in ipairs(combinations) do
  local name = table.concat(assignments, ","):gsub("[^%w.,=_+-]", function(c)
    return ("%%%02x"):format(c:byte()) -- special characters of shells and file systems
  end)
  local values, varied = {}, {}
  for k, word in ipairs(assignments) do
    values[k] = word:match("=(.*)$")
    values[names[k]] = values[k]
    append(varied, names[names[k]] and { word } or {})
  end
  if #name > 240 then fail("this is too long for a folder's name: %s", name) end
  runs[i] = { name = name, path = directory .. "/" .. name, assignments = assignments,
    values = values, varied = varied, attempts = 0 }
end

-- Reads run.json if it has changed. A file that is no JSON is ignored.
local function read_record(run)
  local text = read_own(run.path .. "/run.json") or ""
  if text == run.text then return run.record end
  local record = read_json(text)
  record = type(record) == "table" and record or {}
  for _, name in ipairs(type(record.outputs) == "table" and record.outputs or {}) do
    record.saved = record.saved or type(name) == "string" and name:match("%.sel$") and name
  end
  local its = {}
  for name, value in pairs(type(record.results) == "table" and record.results or {}) do
    append(results, results[name] and {} or { name })
    results[name], its[name] = true, type(value) == "string" and value or ""
  end
  table.sort(results)
  for key, value in pairs(record) do -- only texts are used
    record[key] = type(value) == "string" and value or nil
  end
  record.results, run.record, run.text = its, record, text
  return record
end

-- The files of a run that was killed before it wrote run.json.
local BEGUN = { ["run.lua"] = true, ["run.lua.tmp"] = true, ["run.json.tmp"] = true }

-- The options with which a run may use its folder: none for an empty folder, --force for that of a
-- run of this script. nil: the folder has other files.
local function force_of(run, script)
  local files, why = sweep.list(run.path)
  if why then error(why, 0) end
  if not files or not files[1] then return {} end
  local record, kept = read_record(run), read_own(run.path .. "/run.lua")
  local begun = run.text == ""
  for _, name in ipairs(files) do begun = begun and BEGUN[name] end
  local ours = begun and kept == nil or kept == script
    or record.scenario and sweep.same(record.scenario, scenario)
  return ours and { "--force" } or nil
end

-- Refuses a folder that was filled by another script, with other settings, or by another program.
local function take_up(run, script)
  if not force_of(run, script) then
    fail("%s holds files that no run of %s has written; move it away, or take another folder with "
      .. "-o", run.path, scenario)
  end
  need(sweep.may_write(run.path .. ".log", LOG))
  if option["--force"] then return end
  local record, kept = read_record(run), read_own(run.path .. "/run.lua") or script
  local function differs(key)
    local asked = option["--" .. key]
    return asked and asked ~= "auto" and record[key] and record[key] ~= asked
  end
  if kept ~= script or differs "precision" or differs "storage" then
    fail("%s holds a run of another text of %s, or of another precision or storage; --force runs "
      .. "all again, -o takes another folder", run.path, scenario)
  end
  if record.stopped_by and not UNFINISHED[record.stopped_by] then
    run.state = record.stopped_by == "diverged" and "failed" or "done"
    os.remove(run.path .. ".log")
  end
end

-- sweep.csv: a row for each run that has ended.
-- The headings of results, also of those whose name is that of another column.
local function heads_of_results()
  local taken, heads = { run = true, state = true, stopped_by = true, reason = true, steps = true,
    time = true, mcells_per_second = true }, {}
  for _, name in ipairs(names) do taken[name] = true end
  for i, name in ipairs(results) do heads[i] = taken[name] and "results." .. name or name end
  return heads
end

local function write_table()
  local head = append({ "run" }, names)
  append(head, { "state", "stopped_by", "reason", "steps", "time" })
  local rows = { append(append(head, heads_of_results()), { "mcells_per_second" }) }
  for _, run in ipairs(runs) do
    local record, row = run.record, append({ run.name }, run.values)
    if run.state then
      append(row, { run.state, record.stopped_by == "running" and "killed" or record.stopped_by or
        "refused", record.stop_reason or run.reason or "", record.steps or "", record.time or "" })
      for _, name in ipairs(results) do append(row, { record.results[name] or "" }) end
      rows[#rows + 1] = append(row, { record.mcells_per_second or "" })
    end
  end
  write_csv(directory .. "/sweep.csv", rows, TABLE)
end

-- ---- the loop ----

local queue = {} -- runs that wait
local begun, last_end, ended = os.time(), nil, 0

-- Starts a run in a slot. Each slot has one run at a time; slots are assigned to GPUs in turn.
local function start(run, slot, script)
  local record = read_record(run)
  local checkpoint = record.saved and run.path .. "/" .. record.saved
  local anew = option["--force"] and run.attempts == 0
  local resumes = checkpoint and not anew and sweep.is_there(checkpoint)
  local arguments = append({ "/proc/self/exe", "run", scenario }, run.assignments)
  append(arguments, { "-o", run.path, "--quiet", "--threads", tostring(threads) })
  append(arguments, resumes and { "--resume" } or force_of(run, script) or {})
  append(arguments, devices > 0 and { "--device", tostring((slot - 1) % devices) } or {})
  append(arguments, passed)
  local command = "selenite " .. table.concat(arguments, " ", 2):gsub("%c", "?") .. "\n"
  run.pid = need(sweep.start(run.path .. ".log", LOG, command, arguments))
  run.attempts = run.attempts + 1
  return run
end

-- A run's process has ended. It is started again if a signal ended it; status 130: after it wrote
-- its last state.
local function finish(run, status)
  local record, log = read_record(run), run.path .. ".log"
  local said = (read_own(log) or ""):match("\n[\n]*([^\n]+)") -- after the words of the command
  if not said then os.remove(log) end
  if status >= KILLED and run.attempts < MOST_ATTEMPTS then
    return table.insert(queue, 1, run)
  end
  run.reason = status > KILLED and ("killed by signal %d, %d times"):format(status - KILLED,
    run.attempts) or status ~= 0 and said or "the scenario returns a list of simulations; a sweep "
    .. "takes one"
  run.state = status == 0 and record.stopped_by and "done" or "failed"
  last_end, ended = os.time(), ended + 1
  write_table()
end

local function left(seconds)
  local s = math.floor(math.min(math.max(0, seconds), 1e9))
  return ("%d:%02d:%02d left"):format(s // 3600, s // 60 % 60, s % 60)
end

-- Shows the running runs and the time left: of each run by its own estimate, of all by the mean
-- time of ended runs. On a terminal it overwrites the former text; elsewhere it prints when counts
-- change. Returns the number of failed runs.
local shown, shown_lines = "", 0
local function show()
  local count, lines = { running = 0, done = 0, failed = 0, waiting = 0 }, {}
  for _, run in ipairs(runs) do
    local state = run.pid and "running" or run.state or "waiting"
    count[state] = count[state] + 1
    if run.pid then
      local seconds = tonumber(read_record(run).seconds_left)
      append(lines, { ("  %.50s %s"):format(run.name, seconds and left(seconds) or "") })
    end
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

local check_results

-- Runs all of the queue, `jobs` at a time.
local function run_all(script)
  local running = {} -- by slot
  while next(running) or queue[1] do
    for slot = 1, jobs do
      if queue[1] and not running[slot] then
        running[slot] = start(table.remove(queue, 1), slot, script)
      end
    end
    show()
    local interrupted, pid, status = sweep.wait(0.1) -- seconds
    for slot, run in pairs(running) do
      if run.pid == pid then
        running[slot], run.pid = nil, nil
        finish(run, status)
        check_results(run)
      end
    end
    if interrupted then error({ INTERRUPTED, "interrupted; called again, it goes on" }) end
    if read(scenario) ~= script then fail("%s has changed while the sweep ran", scenario) end
  end
end

-- ---- plots ----
--
-- 'y=RESULT,RESULT x=NAME by=NAME with=FILE.csv:XCOLUMN:YCOLUMN': a curve for each result and each
-- value of `by`; `with` adds points of others; log=xy makes axes logarithmic. Where x and y are
-- FILE.csv:COLUMN of what each run has written, every run is a curve.

local WIDTH, HEIGHT, LEFT, TOP, BOTTOM, MARGIN = 960, 640, 110, 30, 570, 30
local LETTER, LETTER_WIDTH, LABEL, TICKS = 14, 12, 26, 6
local PAPER, INK, FAINT, HUE = 0, 1, 2, 3 -- colours of sweep.draw

local function column(path, name)
  local columns, rows = read_csv(path)
  for i, other in ipairs(columns) do
    for k, row in ipairs(other == name and rows or {}) do rows[k] = row[i] or "" end
    if other == name then return rows end
  end
  fail("--plot: %s has no column '%s'; it has %s", path, name, table.concat(columns, ", "))
end

-- The values of a name in a run: a column of a file, or the value of a parameter or result.
local function values_of(run, name)
  local file, of_file = name:match("^(.+%.csv):(.+)$")
  if file then return column(run.path .. "/" .. file, of_file) end
  local result = name:match("^results%.(.+)$")
  return { run.values[name] or run.record.results[result or name] or run.record[name]
    or results[name] and "" or fail("--plot: no parameter or result is called '%s'; "
    .. "there are %s, %s", name, table.concat(names, ", "), table.concat(results, ", ")) }
end

-- Checks the names of plots that are known before a run: files and their columns, and that `by` is
-- a parameter.
local function check_plots()
  for _, plot in ipairs(wanted) do
    for _, with in ipairs(plot.with) do
      local file, x, y = with:match(PLOT.with)
      column(file, x)
      column(file, y)
    end
    if plot.by and names[plot.by] == nil then
      fail("--plot: by=%s is no parameter of this sweep; there are %s", plot.by,
        table.concat(names, ", "))
    end
  end
end

-- Checks the other names by the first run that ends, so that a mistake costs one run only.
local checked = false
function check_results(run)
  for _, plot in ipairs(not checked and run.state == "done" and wanted or {}) do
    values_of(run, plot.x)
    for name in plot.y:gmatch("[^,]+") do values_of(run, name) end
  end
  checked = checked or run.state == "done"
end

-- Returns the curves, lists of points (logarithms on a logarithmic axis), and the rows of the CSV.
local function read_curves(plot)
  local curves, rows = {}, { { "curve", "x", "y" } }
  local function scaled(text, axis)
    local v = tonumber(text)
    v = v and plot.log:find(axis) and math.log(v, 10) or v
    return v and v - v == 0 and v or nil
  end
  local function add(label, xs, ys, loose)
    local curve = curves[label] or { label = label:sub(1, LABEL), loose = loose,
      marks = loose or #xs == 1 }
    if not curves[label] then curves[#curves + 1], curves[label] = curve, curve end
    for i, x in ipairs(xs) do
      rows[#rows + 1] = { label, x, ys[i] }
      local px, py = scaled(x, "x"), scaled(ys[i], "y")
      if px and py then curve[#curve + 1] = { px, py } end
    end
    if curve.marks then table.sort(curve, function(a, b) return a[1] < b[1] end) end
  end
  for _, run in ipairs(runs) do
    for name in (run.state == "done" and plot.y or ""):gmatch("[^,]+") do
      local by = plot.by and plot.by .. "=" .. values_of(run, plot.by)[1]
      local label = by or plot.x:find("%.csv:") and table.concat(run.varied, " ") or name
      add(by and plot.y:find(",") and name .. " " .. by or label,
        values_of(run, plot.x), values_of(run, name))
    end
  end
  for _, with in ipairs(plot.with) do
    local file, x, y = with:match(PLOT.with)
    add(file:match("([^/]*)%.%w+$"), column(file, x), column(file, y), true)
  end
  return curves, rows
end

-- An axis between the pixels `first` and `last`, which are ticks. Their distance is 1, 2 or 5 times
-- a power of ten, or whole decades. Calls mark(pixel, text) for each tick. Returns a function from
-- coordinate to pixel.
local function axis(curves, which, first, last, logarithmic, mark)
  local from, to = math.huge, -math.huge
  for _, curve in ipairs(curves) do
    for _, point in ipairs(curve) do
      from, to = math.min(from, point[which]), math.max(to, point[which])
    end
  end
  if from > to then from, to = 0, 1 end
  local rough = (to > from and to - from or math.max(math.abs(to), 1)) / TICKS
  local step = 10.0 ^ math.floor(math.log(rough, 10))
  for _, factor in ipairs { 2, 2.5, 2 } do step = rough > step and factor * step or step end
  local low = math.floor(from / step + 1e-9) -- in steps
  local high = math.max(low + 1, math.ceil(to / step - 1e-9))
  local function place(v) return first + (v / step - low) / (high - low) * (last - first) end
  for k = low, high do
    mark(place(k * step), ("%.4g"):format(logarithmic and 10 ^ (k * step) or k * step))
  end
  return place
end

local function draw_curve(put, curve, colour, x_of, y_of)
  local before_x, before_y
  for _, point in ipairs(curve) do
    local x, y = x_of(point[1]), y_of(point[2])
    local dx, dy = x - (before_x or x), y - (before_y or y)
    local dots = curve.loose and 0 or math.ceil(math.max(math.abs(dx), math.abs(dy)))
    for k = 1, dots do put(x - dx * k / dots - 1, y - dy * k / dots - 1, 2, 2, colour) end
    if curve.marks then put(x - 4, y - 4, 8, 8, colour) end
    if curve.loose then put(x - 2, y - 2, 4, 4, PAPER) end
    before_x, before_y = x, y
  end
end

local function draw_all(put, plot, curves)
  local letters = 0
  for _, curve in ipairs(curves) do letters = math.max(letters, #curve.label) end
  local right = WIDTH - 2 * MARGIN - letters * LETTER_WIDTH
  local x_of = axis(curves, 1, LEFT, right, plot.log:find("x"), function(x, text)
    put(x, TOP, 1, BOTTOM - TOP, FAINT)
    put(x, BOTTOM + 8, text, 0.5, INK)
  end)
  local y_of = axis(curves, 2, BOTTOM, TOP, plot.log:find("y"), function(y, text)
    put(LEFT, y, right - LEFT, 1, FAINT)
    put(LEFT - 8, y - LETTER / 2, text, 1, INK)
  end)
  put((LEFT + right) / 2, BOTTOM + 40, plot.x, 0.5, INK)
  put(LEFT, TOP - LETTER - 6, plot.y, 0, INK)
  for c, curve in ipairs(curves) do
    local colour, y = HUE + c - 1, TOP + 22 * c - 8
    draw_curve(put, curve, colour, x_of, y_of)
    put(right + 14, y - 4, 8, 8, colour)
    put(right + MARGIN, y - LETTER / 2, curve.label, 0, INK)
  end
end

local function plain(name) return (name:gsub("^.*:", ""):gsub("[^%w_]", "_")) end

-- The path of a plot's files, without .csv and .png.
local function path_of(plot)
  return ("%s/%s_over_%s%s"):format(directory, plain(plot.y), plain(plot.x),
    plot.by and "_by_" .. plain(plot.by) or "")
end

local function draw_plot(plot)
  local path = path_of(plot)
  for _, word in ipairs(words) do
    if word:find("^" .. plain(plot.x) .. "=.*log:") then plot.log = plot.log .. "x" end
  end
  local curves, rows = read_curves(plot)
  write_csv(path .. ".csv", rows, CURVES)
  need(sweep.draw(path .. ".png", WIDTH, HEIGHT, function(put) draw_all(put, plot, curves) end))
end

check_plots()
need(sweep.lock(directory, not option["-o"]))
local script = read(scenario)
need(sweep.may_write(directory .. "/sweep.csv", TABLE))
for _, plot in ipairs(wanted) do
  need(sweep.may_write(path_of(plot) .. ".csv", CURVES))
  need(sweep.may_write(path_of(plot) .. ".png"))
end
for _, run in ipairs(runs) do
  take_up(run, script)
  if not run.state then queue[#queue + 1] = run end
end
local fine, why = pcall(run_all, script)
for _, run in ipairs(runs) do
  if run.pid then sweep.stop(run.pid) end
end
if not fine then error(why, 0) end
write_table()
local failed = show()
for _, plot in ipairs(wanted) do draw_plot(plot) end
if failed > 0 then error({ FAILED, failed .. " runs failed; sweep.csv has the reasons" }) end
