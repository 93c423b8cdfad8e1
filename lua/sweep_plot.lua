-- sweep_plot.lua -- results of a sweep against a parameter, as a picture and as CSV.
--
-- 'y=RESULT,RESULT x=NAME by=NAME with=FILE.csv:XCOLUMN:YCOLUMN': a curve for each result and each
-- value of `by`; `with` adds points of others; log=xy makes axes logarithmic. Where x and y are
-- FILE.csv:COLUMN of what each run has written, every run is a curve.
local host = ...
local fail, plots = host.fail, {}

local WIDTH, HEIGHT, LEFT, TOP, BOTTOM, MARGIN = 960, 640, 110, 30, 570, 30
local FINE, LETTER, LETTER_WIDTH, MOST_LETTERS, TICKS = 3, 14, 12, 26, 6
local PAPER, INK, FAINT, HUE = 0, 1, 2, 3 -- colours of host.draw

function plots.read(text)
  local plot, known = { with = {}, log = "" }, { x = true, y = true, by = true, log = true }
  for word in text:gmatch("%S+") do
    local key, value = word:match("^(%a+)=(.+)$")
    if key == "with" then
      plot.with[#plot.with + 1] = value
    elseif known[key or ""] then
      plot[key] = value
    else
      fail("--plot '%s': '%s' should be y=RESULT, x=NAME, by=NAME, log=xy or "
        .. "with=FILE.csv:X:Y", text, word)
    end
  end
  if plot.log:find("[^xy]") then
    fail("--plot '%s': log=%s should be x, y or xy", text, plot.log)
  end
  return plot.x and plot.y and plot or fail("--plot '%s': x and y are needed", text)
end

local function column(path, name)
  local names, rows = host.read_csv(path)
  for i, other in ipairs(names) do
    if other == name then
      for k, row in ipairs(rows) do rows[k] = tonumber(row[i]) or 0 / 0 end
      return rows
    end
  end
  fail("--plot: %s has no column '%s'; it has %s", path, name, table.concat(names, ", "))
end

-- What a run has under a name: a column of a file, or one value, a parameter or a result.
local function values_of(sweep, run, name)
  local file, of_file = name:match("^(.+%.csv):(.+)$")
  if file then return column(run.path .. "/" .. file, of_file) end
  for i, parameter in ipairs(sweep.names) do
    if parameter == name then return { run.values[i] } end
  end
  local value = run.record.results[name] or math.type(run.record[name]) and run.record[name]
  value = value or sweep.results[name] and 0 / 0 -- of no number, or not of this run
  return value and { value } or fail(
    "--plot: no parameter or result is called '%s'; there are %s, %s", name,
    table.concat(sweep.names, ", "), table.concat(run.record.names, ", "))
end

-- ---- curves ----

local function add_points(curve, xs, ys)
  for i = 1, #xs do
    local x, y = tonumber(xs[i]), tonumber(ys[i])
    if x and y and x == x then curve.points[#curve.points + 1] = { x, y } end
  end
end

local function curves_of(plot, sweep)
  local curves = {}
  for _, run in ipairs(sweep.runs) do
    for name in (run.state == "done" and plot.y or ""):gmatch("[^,]+") do
      local xs, ys = values_of(sweep, run, plot.x), values_of(sweep, run, name)
      if xs[1] and not tonumber(xs[1]) then
        fail("--plot: '%s' of x=%s is no number", xs[1], plot.x)
      end
      local by = plot.by and plot.by .. "=" .. values_of(sweep, run, plot.by)[1]
      local label = by or plot.x:find("%.csv:") and run.label or name
      label = by and plot.y:find(",") and name .. " " .. by or label
      local curve = curves[label] or { label = label, points = {}, marks = #xs == 1 }
      if not curves[label] then curves[#curves + 1], curves[label] = curve, curve end
      add_points(curve, xs, ys)
    end
  end
  for _, curve in ipairs(curves) do
    if curve.marks then table.sort(curve.points, function(a, b) return a[1] < b[1] end) end
  end
  for _, with in ipairs(plot.with) do
    local file, x, y = with:match("^(.+):([^:]+):([^:]+)$")
    if not file then fail("with=%s should be with=FILE.csv:XCOLUMN:YCOLUMN", with) end
    local curve = { label = file:match("([^/]*)%.%w+$"), points = {}, marks = true, loose = true }
    add_points(curve, column(file, x), column(file, y))
    curves[#curves + 1] = curve
  end
  for _, curve in ipairs(curves) do curve.label = curve.label:sub(1, MOST_LETTERS) end
  return curves
end

-- ---- the picture ----

-- An axis between two pixels, whose ends are ticks: 1, 2 or 5 times a power of ten, or of decades.
-- Returns the pixel of a value, as a function, and a list of ticks.
local function axis(curves, which, first, last, logarithmic)
  local from, to, ticks = math.huge, -math.huge, {}
  local function scaled(v) return logarithmic and math.log(v, 10) or v end
  for _, curve in ipairs(curves) do
    for _, point in ipairs(curve.points) do
      local v = scaled(point[which])
      if v - v == 0 then from, to = math.min(from, v), math.max(to, v) end
    end
  end
  if from > to then from, to = 0, 1 end
  local rough = (to > from and to - from or math.max(math.abs(to), 1)) / TICKS
  local power = 10.0 ^ math.floor(math.log(rough, 10))
  local part = rough / power
  local step = (part <= 1 and 1 or part <= 2 and 2 or part <= 5 and 5 or 10) * power
  local low, high = math.floor(from / step + 1e-9), math.ceil(to / step - 1e-9) -- in steps
  high = math.max(high, low + 1)
  local function place(steps) return first + (steps - low) / (high - low) * (last - first) end
  for k = low, high do
    local v = logarithmic and 10 ^ (k * step) or k * step
    ticks[#ticks + 1] = { at = place(k), text = ("%.4g"):format(v) }
  end
  return function(v) return place(scaled(v) / step) end, ticks
end

local function draw_curve(put, curve, colour, x_of, y_of)
  local before
  for _, point in ipairs(curve.points) do
    local x, y = x_of(point[1]), y_of(point[2])
    local finite = x - x == 0 and y - y == 0
    if before and finite and not curve.loose then
      local dx, dy = x - before[1], y - before[2]
      local dots = math.max(1, 3 * math.abs(dx), 3 * math.abs(dy))
      for k = 0, dots do
        put(before[1] + dx * k / dots - 1, before[2] + dy * k / dots - 1, 2, 2, colour)
      end
    end
    before = finite and { x, y } or nil
    if curve.marks and before then put(x - 4, y - 4, 8, 8, colour) end
    if curve.loose and before then put(x - 2, y - 2, 4, 4, PAPER) end
  end
end

local function draw_all(put, plot, curves)
  local letters = 0
  for _, curve in ipairs(curves) do letters = math.max(letters, #curve.label) end
  local right = WIDTH - 2 * MARGIN - letters * LETTER_WIDTH
  local x_of, x_ticks = axis(curves, 1, LEFT, right, plot.log:find("x"))
  local y_of, y_ticks = axis(curves, 2, BOTTOM, TOP, plot.log:find("y"))
  for _, tick in ipairs(x_ticks) do
    put(tick.at, TOP, 1, BOTTOM - TOP, FAINT)
    put(tick.at, BOTTOM + 8, tick.text, 0.5, INK)
  end
  for _, tick in ipairs(y_ticks) do
    put(LEFT, tick.at, right - LEFT, 1, FAINT)
    put(LEFT - 8, tick.at - LETTER / 2, tick.text, 1, INK)
  end
  put((LEFT + right) / 2, BOTTOM + 40, plot.x, 0.5, INK)
  put(LEFT, TOP - LETTER - 6, plot.y, 0, INK)
  for c, curve in ipairs(curves) do
    local colour, y = HUE + c - 1, TOP + 22 * c - 8
    draw_curve(put, curve, colour, x_of, y_of)
    put(right + 14, y - 4, 8, 8, colour)
    put(right + MARGIN, y - LETTER / 2, curve.label, 0, INK)
  end
end

function plots.draw(plot, sweep)
  local curves, lines = curves_of(plot, sweep), { "curve,x,y" }
  local function plain(name) return (name:gsub("^.*:", ""):gsub("[^%w_]", "_")) end
  local path = ("%s/%s_over_%s%s"):format(sweep.directory, plain(plot.y), plain(plot.x),
    plot.by and "_by_" .. plain(plot.by) or "")
  for _, one in ipairs(sweep.axes) do
    if one.names[1] == plot.x and one.logarithmic then plot.log = plot.log .. "x" end
  end
  for _, curve in ipairs(curves) do
    for _, point in ipairs(curve.points) do
      lines[#lines + 1] = ("%s,%.17g,%.17g"):format(curve.label:gsub(",", " "), point[1], point[2])
    end
  end
  host.replace(path .. ".csv", table.concat(lines, "\n") .. "\n")
  host.draw(path .. ".png", WIDTH, HEIGHT, FINE, function(put) draw_all(put, plot, curves) end)
end

return plots
