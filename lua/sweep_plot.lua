-- sweep_plot.lua -- results of a sweep against a parameter, as a picture and as CSV.
--
-- 'y=RESULT,RESULT x=NAME by=NAME with=FILE.csv:XCOLUMN:YCOLUMN': a curve for each result and each
-- value of `by`; `with` adds points of others; log=xy makes axes logarithmic. Where x and y are
-- FILE.csv:COLUMN of what each run has written, every run is a curve.
local plots = {}

local WIDTH, HEIGHT, LEFT, TOP, BOTTOM, MARGIN = 960, 640, 110, 30, 570, 30
local LETTER, LETTER_WIDTH, MOST_LETTERS, TICKS = 14, 12, 26, 6
local INK, FAINT, PAPER = 0x282828, 0xe1e1e1, 0xffffff
local HUES = { 0x005aa0, 0xc8461e, 0x1e8250, 0x823c96, 0xaa7800, 0x008ca0, 0xc83c78, 0x5a5a5a }

function plots.read(text, fail)
  local plot = { with = {} }
  for word in text:gmatch("%S+") do
    local key, value = word:match("^(%a+)=(.+)$")
    if key == "with" then
      plot.with[#plot.with + 1] = value
    elseif key == "x" or key == "y" or key == "by" or key == "log" then
      plot[key] = value
    else
      fail("--plot '%s': '%s' should be y=RESULT, x=NAME, by=NAME, log=xy or "
        .. "with=FILE.csv:X:Y", text, word)
    end
  end
  return plot.x and plot.y and plot or fail("--plot '%s': x and y are needed", text)
end

local function column(path, name, host, fail)
  local names, rows = host.read_csv(path)
  for i, other in ipairs(names) do
    if other == name then
      local values = {}
      for k, row in ipairs(rows) do values[k] = tonumber(row[i]) or 0 / 0 end
      return values
    end
  end
  fail("--plot: %s has no column '%s'; it has %s", path, name, table.concat(names, ", "))
end

-- What a run has under a name: a column of a file, or one value, a parameter or a result.
local function values_of(sweep, run, name, host, fail)
  local file, of_file = name:match("^(.+%.csv):(.+)$")
  if file then return column(run.path .. "/" .. file, of_file, host, fail) end
  for i, parameter in ipairs(sweep.names) do
    if parameter == name then return { run.values[i] } end
  end
  local value = run.record.results[name] or math.type(run.record[name]) and run.record[name]
  if not value then
    fail("--plot: no parameter or result is called '%s'; there are %s, %s", name,
      table.concat(sweep.names, ", "), table.concat(run.record.names, ", "))
  end
  return { value }
end

local function curves_of(plot, sweep, host, fail)
  local curves = {}
  for _, run in ipairs(sweep.runs) do
    for name in (run.state == "done" and plot.y or ""):gmatch("[^,]+") do
      local x = values_of(sweep, run, plot.x, host, fail)
      local y = values_of(sweep, run, name, host, fail)
      local by = plot.by and plot.by .. "=" .. values_of(sweep, run, plot.by, host, fail)[1]
      local label = by or plot.x:find("%.csv:") and run.label or name
      label = by and plot.y:find(",") and name .. " " .. by or label
      local curve = curves[label] or { label = label, points = {}, marks = #x == 1 }
      if not curves[label] then curves[#curves + 1], curves[label] = curve, curve end
      for i = 1, #x do
        local point = { tonumber(x[i]), tonumber(y[i]) }
        if #point == 2 then curve.points[#curve.points + 1] = point end
      end
    end
  end
  for _, curve in ipairs(curves) do
    if curve.marks then table.sort(curve.points, function(a, b) return a[1] < b[1] end) end
  end
  for _, with in ipairs(plot.with) do
    local file, x, y = with:match("^(.+):([^:]+):([^:]+)$")
    if not file then fail("with=%s should be with=FILE.csv:XCOLUMN:YCOLUMN", with) end
    local curve = { label = file:match("([^/]*)%.%w+$"), points = {}, marks = true, loose = true }
    local xs, ys = column(file, x, host, fail), column(file, y, host, fail)
    for i = 1, #xs do curve.points[i] = { xs[i], ys[i] } end
    curves[#curves + 1] = curve
  end
  return curves
end

-- An axis between two pixels, whose ends are ticks: 1, 2 or 5 times a power of ten, or of decades.
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
  from, to = math.floor(from / step + 1e-9) * step, math.ceil(to / step - 1e-9) * step
  to = to > from and to or from + step
  local function place(v) return first + (v - from) / (to - from) * (last - first) end
  for k = 0, math.floor((to - from) / step + 0.5) do
    local v = math.abs(from + k * step) < 1e-9 * step and 0 or from + k * step
    ticks[k + 1] = { at = place(v), text = ("%.4g"):format(logarithmic and 10 ^ v or v) }
  end
  return function(v) return place(scaled(v)) end, ticks
end

local function draw_curve(canvas, curve, colour, x_of, y_of)
  local before
  for _, point in ipairs(curve.points) do
    local x, y = x_of(point[1]), y_of(point[2])
    local pixels = before and 3 * math.max(math.abs(x - before[1]), math.abs(y - before[2])) or -1
    for k = 0, curve.loose and -1 or pixels do
      canvas:fill(before[1] + (x - before[1]) * k / pixels - 1,
        before[2] + (y - before[2]) * k / pixels - 1, 2, 2, colour)
    end
    before = x - x == 0 and y - y == 0 and { x, y } or nil
    if curve.marks and before then canvas:fill(x - 4, y - 4, 8, 8, colour) end
    if curve.loose and before then canvas:fill(x - 2, y - 2, 4, 4, PAPER) end
  end
end

function plots.draw(plot, sweep, host, fail)
  local curves, canvas = curves_of(plot, sweep, host, fail), host.canvas(WIDTH, HEIGHT)
  local log, lines = plot.log or "", { "curve,x,y" }
  for _, one in ipairs(sweep.axes) do
    if one.names[1] == plot.x and one.logarithmic then log = log .. "x" end
  end
  local letters = 0
  for _, curve in ipairs(curves) do
    curve.label = #curve.label <= MOST_LETTERS and curve.label or curve.label:sub(1, MOST_LETTERS)
    letters = math.max(letters, #curve.label)
  end
  local right = WIDTH - 2 * MARGIN - letters * LETTER_WIDTH
  local x_of, x_ticks = axis(curves, 1, LEFT, right, log:find("x"))
  local y_of, y_ticks = axis(curves, 2, BOTTOM, TOP, log:find("y"))
  for _, tick in ipairs(x_ticks) do
    canvas:fill(tick.at, TOP, 1, BOTTOM - TOP, FAINT)
    canvas:text(tick.at, BOTTOM + 8, tick.text, INK, 0.5)
  end
  for _, tick in ipairs(y_ticks) do
    canvas:fill(LEFT, tick.at, right - LEFT, 1, FAINT)
    canvas:text(LEFT - 8, tick.at - LETTER / 2, tick.text, INK, 1)
  end
  canvas:text((LEFT + right) / 2, BOTTOM + 40, plot.x, INK, 0.5)
  canvas:text(LEFT, TOP - LETTER - 6, plot.y, INK, 0)
  for c, curve in ipairs(curves) do
    local colour, y = HUES[(c - 1) % #HUES + 1], TOP + 22 * c - 8
    draw_curve(canvas, curve, colour, x_of, y_of)
    canvas:fill(right + 14, y - 4, 8, 8, colour)
    canvas:text(right + MARGIN, y - LETTER / 2, curve.label, INK, 0)
    for _, point in ipairs(curve.points) do
      lines[#lines + 1] = ("%s,%.17g,%.17g"):format(curve.label:gsub(",", " "), point[1], point[2])
    end
  end
  local function plain(name) return (name:gsub("^.*:", ""):gsub("[^%w_]", "_")) end
  local path = ("%s/%s_over_%s"):format(sweep.directory, plain(plot.y), plain(plot.x))
  host.replace(path .. ".csv", table.concat(lines, "\n") .. "\n")
  canvas:write(path .. ".png")
end

return plots
