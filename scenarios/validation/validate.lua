-- validate.lua -- `selenite validate`: run the validation cases, judge them, draw and report.
--
-- A case is another file NAME.lua in this folder that returns { about = "...", run = f(c) }.
-- `c` runs scenarios, reads their files and the reference tables, and books gates and plots:
--
--   local run = c:run("cavity2d", { N = 129, Re = 1000 })   -- scenarios/cavity2d.lua
--   local p = run:last("vertical")                          -- columns of the last step of a CSV
--   local ghia = c:reference("cavity2d_ghia1982_u_vertical.csv")
--   c:gate { "u_min", computed = ..., reference = ..., within = 0.01, relative = true }
--   c:plot { title = ..., x = "y", y = "u", lines = { { "here", xs, ys } }, points = { ... } }
--
-- A case with slow_on_cpu = "about an hour" is left out on the CPU unless it is named.
--
-- `host` is what lua/commands/validate.c gives: run(path, values, directory),
-- make_directory(path, chosen), write(path, text, begins), suggestion(name, names), backend, about;
-- version, commit and device are the parts of `about`.
local host = ...

local M = {}

---------------------------------------------------------------------------------------------------
-- Numbers

--- The natural cubic spline through the points (x rising), as a function.
function M.spline(x, y)
  local n = #x
  local second, right, diagonal = { 0 }, { 0 }, { 1 }
  for i = 2, n - 1 do
    local h0, h1 = x[i] - x[i - 1], x[i + 1] - x[i]
    local lower = i > 2 and h0 / diagonal[i - 1] or 0
    diagonal[i] = 2 * (h0 + h1) - (i > 2 and lower * h0 or 0)
    right[i] = 6 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0) - lower * right[i - 1]
  end
  second[n] = 0
  for i = n - 1, 2, -1 do
    second[i] = (right[i] - (x[i + 1] - x[i]) * second[i + 1]) / diagonal[i]
  end
  return function(p)
    local i = 1
    while i < n - 1 and p > x[i + 1] do
      i = i + 1
    end
    local h = x[i + 1] - x[i]
    local a, b = (x[i + 1] - p) / h, (p - x[i]) / h
    return a * y[i] + b * y[i + 1]
      + ((a ^ 3 - a) * second[i] + (b ^ 3 - b) * second[i + 1]) * h * h / 6
  end
end

--- Root of the mean square of a list.
function M.rms(values)
  local sum = 0
  for _, v in ipairs(values) do
    sum = sum + v * v
  end
  return math.sqrt(sum / #values)
end

--- Largest magnitude of a list.
function M.largest(values)
  local most = 0
  for _, v in ipairs(values) do
    most = math.max(most, math.abs(v))
  end
  return most
end

--- profile(place) - value for every place whose value is a number.
function M.differences(profile, places, values)
  local list = {}
  for i, place in ipairs(places) do
    if values[i] == values[i] then
      list[#list + 1] = profile(place) - values[i]
    end
  end
  return list
end

--- f applied to every element.
function M.map(list, f)
  local result = {}
  for i, v in ipairs(list) do
    result[i] = f(v, i)
  end
  return result
end

--- Smallest and largest value of a function between two places, from a thousand samples.
function M.extremes(f, from, to)
  local least, most = math.huge, -math.huge
  for i = 0, 1000 do
    local value = f(from + (to - from) * i / 1000)
    least, most = math.min(least, value), math.max(most, value)
  end
  return least, most
end

--- Profiles of a cavity of N cells whose lid has the velocity U, from its `vertical` and
--- `horizontal`: places over N in y and x, velocities over U in u and v, walls included, and the
--- splines through them at_y and at_x.
function M.cavity_profiles(run, N, U)
  local vertical, horizontal = run:last("vertical"), run:last("horizontal")
  local function ends(list, scale, first, last)
    local all = M.map(list, function(value) return value / scale end)
    table.insert(all, 1, first)
    all[#all + 1] = last
    return all
  end
  local y, u = ends(vertical.y, N, 0, 1), ends(vertical.velocity_x, U, 0, 1)
  local x, w = ends(horizontal.x, N, 0, 1), ends(horizontal.velocity_y, U, 0, 0)
  return { y = y, u = u, x = x, v = w, at_y = M.spline(y, u), at_x = M.spline(x, w) }
end

--- Length of the bubble behind a step whose face is at x = face, over the step's height: from a
--- profile along the floor, the place where the velocity turns positive for good.
function M.reattachment(floor, face, height)
  local x, u = floor.x, floor.velocity_x
  local i = #x
  while i > 1 and u[i - 1] > 0 do
    i = i - 1
  end
  assert(i > 1 and u[i] > 0, "the flow does not reattach")
  local place = x[i - 1] - u[i - 1] * (x[i] - x[i - 1]) / (u[i] - u[i - 1])
  return (place - face) / height
end

--- Amplitude and phase (radians) of the fundamental a cos(omega t) + b sin(omega t) in samples that
--- cover whole periods evenly: value = amplitude * cos(omega t - phase).
function M.harmonic(times, values, omega)
  local a, b = 0, 0
  for i, t in ipairs(times) do
    a = a + values[i] * math.cos(omega * t)
    b = b + values[i] * math.sin(omega * t)
  end
  a, b = 2 * a / #times, 2 * b / #times
  return math.sqrt(a * a + b * b), math.atan(b, a)
end

---------------------------------------------------------------------------------------------------
-- Files

local function read_lines(path)
  local file = assert(io.open(path))
  local text = file:read("a")
  file:close()
  return text:gmatch("[^\r\n]+")
end

--- Columns of a CSV file by name, as lists of numbers; "nan" is NaN, # opens a comment.
function M.csv(path)
  local names, columns = nil, {}
  for line in read_lines(path) do
    if line:sub(1, 1) ~= "#" then
      local cells = {}
      for cell in (line .. ","):gmatch("([^,]*),") do
        cells[#cells + 1] = cell
      end
      if names then
        for i, name in ipairs(names) do
          local value = tonumber(cells[i]) or cells[i] == "nan" and 0 / 0 or cells[i]
          table.insert(columns[name], value)
        end
      else
        names = cells
        for _, name in ipairs(names) do
          columns[name] = {}
        end
      end
    end
  end
  return columns
end

-- Over a file that begins so, and over no other.
local function write_file(path, text, begins)
  assert(host.write(path, text, begins))
end

local function csv_text(rows)
  local lines = {}
  for _, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      cell = type(cell) == "number" and ("%.9g"):format(cell) or tostring(cell)
      cells[i] = cell:find('[,"\n]') and '"' .. cell:gsub('"', '""') .. '"' or cell
    end
    lines[#lines + 1] = table.concat(cells, ",")
  end
  return table.concat(lines, "\n") .. "\n"
end

---------------------------------------------------------------------------------------------------
-- Plots

local function xml(text)
  return (text:gsub("[&<>]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }))
end

-- Round steps of an axis: 1, 2 or 5 times a power of ten, about five of them.
local function ticks(low, high)
  local raw = (high - low) / 5
  local power = 10 ^ math.floor(math.log(raw, 10))
  local ratio = raw / power
  local step = (ratio < 1.5 and 1 or ratio < 3.5 and 2 or ratio < 7.5 and 5 or 10) * power
  local list = {}
  for k = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) do
    list[#list + 1] = k * step
  end
  return list
end

local function range(sets, index)
  local low, high = math.huge, -math.huge
  for _, set in ipairs(sets) do
    for _, v in ipairs(set[index]) do
      if v == v then
        low, high = math.min(low, v), math.max(high, v)
      end
    end
  end
  if low == high then
    low, high = low - 1, high + 1
  end
  local margin = 0.04 * (high - low)
  return low - margin, high + margin
end

local COLOURS = { "#1f5fa8", "#c8501e", "#2c8a4b", "#7b4ba0", "#8a6d1a", "#333333" }
local WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 380, 68, 16, 34, 46

--- An SVG picture of { title, x, y, lines = { { name, xs, ys }, ... }, points = the same }.
local function svg(plot)
  local sets = {}
  for _, list in ipairs { plot.lines or {}, plot.points or {} } do
    for _, set in ipairs(list) do
      sets[#sets + 1] = set
    end
  end
  local x0, x1 = range(sets, 2)
  local y0, y1 = range(sets, 3)
  local out = {}
  local function add(format, ...)
    out[#out + 1] = format:format(...)
  end
  local function px(x)
    return LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
  end
  local function py(y)
    return HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM)
  end
  add('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
    .. 'font-family="sans-serif" font-size="12">', WIDTH, HEIGHT, WIDTH, HEIGHT)
  add('<rect width="%d" height="%d" fill="white"/>', WIDTH, HEIGHT)
  add('<text x="%d" y="18" font-size="14">%s</text>', LEFT, xml(plot.title))
  for _, x in ipairs(ticks(x0, x1)) do
    add('<path d="M%.1f %d V%d" stroke="#ddd"/>', px(x), TOP, HEIGHT - BOTTOM)
    add('<text x="%.1f" y="%d" text-anchor="middle">%g</text>', px(x), HEIGHT - BOTTOM + 16, x)
  end
  for _, y in ipairs(ticks(y0, y1)) do
    add('<path d="M%d %.1f H%d" stroke="#ddd"/>', LEFT, py(y), WIDTH - RIGHT)
    add('<text x="%d" y="%.1f" text-anchor="end">%g</text>', LEFT - 6, py(y) + 4, y)
  end
  add('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#444"/>', LEFT, TOP,
    WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM)
  add('<text x="%d" y="%d" text-anchor="middle">%s</text>', (LEFT + WIDTH - RIGHT) // 2,
    HEIGHT - 10, xml(plot.x))
  add('<text transform="translate(16 %d) rotate(-90)" text-anchor="middle">%s</text>', HEIGHT // 2,
    xml(plot.y))
  local row = 0
  local function legend(name, colour, mark)
    local y = TOP + 16 + 16 * row
    row = row + 1
    add(mark, LEFT + 10, y - 4, colour)
    add('<text x="%d" y="%d">%s</text>', LEFT + 36, y, xml(name))
  end
  for i, set in ipairs(plot.lines or {}) do
    local colour, path = COLOURS[(i - 1) % #COLOURS + 1], {}
    for k, x in ipairs(set[2]) do
      path[k] = ("%s%.2f %.2f"):format(k == 1 and "M" or "L", px(x), py(set[3][k]))
    end
    add('<path d="%s" fill="none" stroke="%s" stroke-width="1.6"/>', table.concat(path, " "),
      colour)
    legend(set[1], colour, '<path d="M%d %d h20" stroke="%s" stroke-width="1.6"/>')
  end
  for i, set in ipairs(plot.points or {}) do
    local colour = COLOURS[(i - 1) % #COLOURS + 1]
    for k, x in ipairs(set[2]) do
      if set[3][k] == set[3][k] then
        add('<circle cx="%.2f" cy="%.2f" r="3.2" fill="none" stroke="%s" stroke-width="1.4"/>',
          px(x), py(set[3][k]), colour)
      end
    end
    legend(set[1], colour, '<circle transform="translate(10 0)" cx="%d" cy="%d" r="3.2" '
      .. 'fill="none" stroke="%s" stroke-width="1.4"/>')
  end
  add("</svg>")
  return table.concat(out, "\n")
end

-- The same numbers as a table: one row per point.
local function plot_rows(plot)
  local rows = { { "kind", "name", plot.x, plot.y } }
  for _, kind in ipairs { "lines", "points" } do
    for _, set in ipairs(plot[kind] or {}) do
      for k, x in ipairs(set[2]) do
        rows[#rows + 1] = { kind == "lines" and "computed" or "reference", set[1], x, set[3][k] }
      end
    end
  end
  return rows
end

---------------------------------------------------------------------------------------------------
-- Cases

local Run = {}
Run.__index = Run

--- Columns of NAME.csv of this run.
function Run:csv(name)
  return M.csv(self.directory .. "/" .. name .. ".csv")
end

--- Columns of NAME.csv, only the rows of its last step.
function Run:last(name)
  local all, result = self:csv(name), {}
  local step = all.step[#all.step]
  for column, values in pairs(all) do
    result[column] = {}
    for i, s in ipairs(all.step) do
      if s == step then
        table.insert(result[column], values[i])
      end
    end
  end
  return result
end

local Case = {}
Case.__index = Case

--- Runs scenarios/SCENARIO.lua with the values of its parameters.
function Case:run(scenario, values)
  local names = {}
  for name in pairs(values or {}) do
    names[#names + 1] = name
  end
  table.sort(names)
  local assignments, label = {}, scenario
  for i, name in ipairs(names) do
    assignments[i] = name .. "=" .. tostring(values[name])
    label = label .. "_" .. name .. tostring(values[name])
  end
  local directory = self.directory .. "/" .. label
  local report = host.run(self.scenarios .. "/" .. scenario .. ".lua", assignments, directory)
  report.directory = directory
  self.seconds = self.seconds + report.wall_seconds
  return setmetatable(report, Run)
end

--- Columns of a table in scenarios/reference.
function Case:reference(name)
  return M.csv(self.scenarios .. "/reference/" .. name)
end

--- Books one quantity: { name, computed =, reference =, within = [, relative = true] } passes when
--- |computed - reference| (over |reference| when relative) is at most `within`;
--- { name, computed =, at_least = } when computed is at least that.
function Case:gate(g)
  local row = { case = self.name, quantity = g[1], computed = g.computed }
  if g.at_least then
    row.reference, row.error, row.gate = ">= " .. g.at_least, g.computed - g.at_least, 0
    row.pass = g.computed >= g.at_least
  else
    local scale = g.relative and math.abs(g.reference) or 1
    row.reference, row.gate = g.reference, g.within
    row.error = (g.computed - g.reference) / scale
    row.pass = math.abs(row.error) <= g.within
  end
  self.rows[#self.rows + 1] = row
  self.show(row)
end

--- Draws lines and reference points, as an SVG and a CSV file.
function Case:plot(plot)
  local path = self.directory .. "/" .. plot.title:lower():gsub("[^%w]+", "_")
  plot.svg = svg(plot)
  write_file(path .. ".svg", plot.svg, "<svg ")
  write_file(path .. ".csv", csv_text(plot_rows(plot)), "kind,name,")
  self.plots[#self.plots + 1] = plot
end

local function number(value)
  return type(value) == "number" and ("%.6g"):format(value) or tostring(value)
end

local function show(row)
  print(("%-20s %-40s %12s %12s %11.3e %9.1e  %s"):format(row.case, row.quantity,
    number(row.computed), number(row.reference), row.error, row.gate,
    row.pass and "ok" or "MISSED"))
  io.stdout:flush()
end

local function run_case(name, options)
  local chunk = assert(loadfile(options.scenarios .. "/validation/" .. name .. ".lua", "t"))
  local definition = chunk(M)
  if definition.slow_on_cpu and host.backend == "cpu" and #options.named == 0 then
    print(("%-20s left out: it takes %s on the CPU; selenite validate %s runs it"):format(name,
      definition.slow_on_cpu, name))
    return nil
  end
  local case = setmetatable({
    name = name, about = definition.about, rows = {}, plots = {}, seconds = 0, show = show,
    scenarios = options.scenarios, directory = options.directory .. "/" .. name,
  }, Case)
  host.make_directory(case.directory)
  local ok, message = pcall(definition.run, case)
  if not ok then
    case.failure = tostring(message)
    print(("%-20s failed: %s"):format(name, case.failure))
  end
  return case
end

---------------------------------------------------------------------------------------------------
-- Report

local STYLE = [[
body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: 3px 12px; text-align: right;
border-bottom: 1px solid #ddd } td:first-child, th:first-child { text-align: left }
.ok { color: #2c7a3f } .missed { color: #b3261e; font-weight: bold } svg { margin: 4px }
]]

local function html(cases, passed, failed)
  local out = { "<!doctype html><html lang='en'><meta charset='utf-8'>",
    "<title>Selenite: validation</title><style>", STYLE, "</style><h1>Validation</h1>",
    ("<p>%s</p><p>%d passed, %d failed.</p>"):format(xml(host.about), passed, failed) }
  for _, case in ipairs(cases) do
    out[#out + 1] = ("<h2 id='%s'>%s</h2><p>%s (%.1f s)</p>"):format(case.name, case.name,
      xml(case.about), case.seconds)
    if case.failure then
      out[#out + 1] = "<p class='missed'>" .. xml(case.failure) .. "</p>"
    end
    out[#out + 1] = "<table><tr><th>quantity<th>computed<th>reference<th>error<th>gate<th></tr>"
    for _, row in ipairs(case.rows) do
      out[#out + 1] = ("<tr><td>%s<td>%s<td>%s<td>%.3e<td>%.1e<td class='%s'>%s</tr>"):format(
        xml(row.quantity), number(row.computed), xml(number(row.reference)), row.error, row.gate,
        row.pass and "ok" or "missed", row.pass and "ok" or "missed")
    end
    out[#out + 1] = "</table>"
    for _, plot in ipairs(case.plots) do
      out[#out + 1] = plot.svg
    end
  end
  return table.concat(out, "\n") .. "\n</html>\n"
end

-- A number with six digits; what JSON has no number for is a string.
local function json(value)
  if type(value) == "number" and value == value and math.abs(value) < math.huge then
    return ("%.6g"):format(value)
  end
  local text = tostring(value):gsub('[\\"]', "\\%0"):gsub("%c", " ")
  return '"' .. text .. '"'
end

--- The report as JSON, from which tools/results.py writes docs/results.md.
local function json_text(cases)
  local list = {}
  for _, case in ipairs(cases) do
    local rows = {}
    for i, r in ipairs(case.rows) do
      rows[i] = ('      {"quantity": %s, "computed": %s, "reference": %s, "error": %s, "gate": %s, '
        .. '"pass": %s}'):format(json(r.quantity), json(r.computed), json(r.reference),
        json(r.error), json(r.gate), tostring(r.pass))
    end
    list[#list + 1] = ('    {"case": %s, "about": %s, "seconds": %s, "rows": [\n%s\n    ]}'):format(
      json(case.name), json(case.about), json(case.seconds), table.concat(rows, ",\n"))
  end
  return ('{\n  "selenite": %s,\n  "commit": %s,\n  "date": "%s",\n  "backend": %s,\n'
    .. '  "device": %s,\n  "cases": [\n%s\n  ]\n}\n'):format(json(host.version), json(host.commit),
    os.date("!%Y-%m-%dT%H:%M:%SZ"), json(host.backend), json(host.device),
    table.concat(list, ",\n"))
end

local function write_report(cases, options, passed, failed)
  local rows = { { "case", "quantity", "computed", "reference", "error", "gate", "pass" } }
  for _, case in ipairs(cases) do
    for _, r in ipairs(case.rows) do
      rows[#rows + 1] = { r.case, r.quantity, r.computed, r.reference, r.error, r.gate,
        tostring(r.pass) }
    end
  end
  write_file(options.directory .. "/results.csv", csv_text(rows), "case,quantity,")
  write_file(options.directory .. "/results.json", json_text(cases), '{\n  "selenite":')
  write_file(options.directory .. "/report.html", html(cases, passed, failed), "<!doctype html>")
end

--- What is wrong with the names that the user gave, or nil.
local function unknown_cases(options)
  local known, lines = {}, {}
  for _, name in ipairs(options.known) do
    known[name] = true
  end
  for _, name in ipairs(options.named) do
    if not known[name] then
      lines[#lines + 1] = ("no validation case '%s'%s"):format(name,
        host.suggestion(name, options.known))
    end
  end
  lines[#lines + 1] = #lines > 0 and "there are: " .. table.concat(options.known, " ") or nil
  return #lines > 0 and table.concat(lines, "\n") or nil
end

--- Runs the cases that the user named, else all; returns how many quantities failed, or nil and
--- what is wrong with the names.
--- options: scenarios (folder), directory (of the results; chosen: by the user), known (all cases),
--- named (by the user).
function M.main(options)
  local wrong = unknown_cases(options)
  if wrong then
    return nil, wrong
  end
  host.make_directory(options.directory, options.chosen)
  print(host.about)
  print(("%-20s %-40s %12s %12s %11s %9s"):format("case", "quantity", "computed", "reference",
    "error", "gate"))
  local cases, passed, failed = {}, 0, 0
  for _, name in ipairs(#options.named > 0 and options.named or options.known) do
    local case = run_case(name, options)
    cases[#cases + 1] = case
    failed = failed + (case and case.failure and 1 or 0)
    for _, row in ipairs(case and case.rows or {}) do
      passed, failed = passed + (row.pass and 1 or 0), failed + (row.pass and 0 or 1)
    end
  end
  write_report(cases, options, passed, failed)
  print(("%s/report.html"):format(options.directory))
  print(("%d passed, %d failed"):format(passed, failed))
  return failed
end

return M.main
