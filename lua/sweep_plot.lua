-- sweep_plot.lua -- results of a sweep against a parameter, as a picture and as CSV.
--
-- 'y=RESULT,RESULT x=NAME by=NAME with=FILE.csv:XCOLUMN:YCOLUMN': a curve for each result and each
-- value of `by`; `with` adds points of others. Where x and y are FILE.csv:COLUMN of what each run
-- has written, every run is a curve.
local plots = {}

function plots.read(text, fail)
  local plot = { text = text, with = {} }
  for word in text:gmatch("%S+") do
    local key, value = word:match("^(%a+)=(.+)$")
    if key == "with" then
      plot.with[#plot.with + 1] = value
    elseif key == "x" or key == "y" or key == "by" then
      plot[key] = value
    else
      fail("--plot '%s': '%s' should be y=RESULT, x=NAME, by=NAME or with=FILE.csv:X:Y", text, word)
    end
  end
  if not plot.x or not plot.y then fail("--plot '%s': x and y are needed", text) end
  return plot
end

-- Two columns of a CSV, as numbers.
local function columns_of(path, names, host, fail)
  local found, points = nil, { x = {}, y = {} }
  for line in (host.read(path) .. "\n"):gmatch("(.-)\r?\n") do
    local cells = {}
    for cell in (line:find("^#") and "" or line):gmatch("[^,]+") do cells[#cells + 1] = cell end
    if not found and #cells > 0 then
      found = {}
      for i, cell in ipairs(cells) do found[cell] = i end
      for _, name in ipairs(names) do
        if not found[name] then
          fail("%s has no column '%s'; it has %s", path, name, table.concat(cells, ", "))
        end
      end
    elseif #cells > 0 then
      local x, y = tonumber(cells[found[names[1]]]), tonumber(cells[found[names[2]]])
      if x and y then
        points.x[#points.x + 1], points.y[#points.y + 1] = x, y
      end
    end
  end
  return points
end

-- A curve for each run: columns of its files.
local function curves_of_files(plot, rows, host, fail)
  local curves = {}
  local file, x = plot.x:match("^(.-%.csv):(.+)$")
  local other, y = plot.y:match("^(.-%.csv):(.+)$")
  if file ~= other then fail("--plot '%s': x and y must be columns of one file", plot.text) end
  for _, row in ipairs(rows) do
    if row.run.state == "done" then
      local curve = columns_of(row.record.at .. "/" .. file, { x, y }, host, fail)
      curve.label = row.run.name
      curves[#curves + 1] = curve
    end
  end
  return curves, x, y
end

local function place_in(names, wanted)
  for i, name in ipairs(names) do
    if name == wanted then return i end
  end
end

-- The value of a parameter or result in a row.
local function value_of(sweep, row, name)
  local i = place_in(sweep.names, name)
  return i and (tonumber(row.run.values[i]) or row.run.values[i]) or row.results[name]
end

local function curves_of_results(plot, sweep, rows, results, fail)
  local curves, by_label, names = {}, {}, {}
  for name in (plot.y .. "," .. plot.x .. (plot.by and "," .. plot.by or "")):gmatch("[^,]+") do
    if not (place_in(sweep.names, name) or place_in(results, name)) then
      fail("--plot: no parameter or result is called '%s'; there are %s", name,
        table.concat(table.move(results, 1, #results, #sweep.names + 1,
          { table.unpack(sweep.names) }), ", "))
    end
  end
  for name in plot.y:gmatch("[^,]+") do names[#names + 1] = name end
  for _, row in ipairs(rows) do
    for _, name in ipairs(names) do
      local x, y = value_of(sweep, row, plot.x), value_of(sweep, row, name)
      local by = plot.by and value_of(sweep, row, plot.by)
      local label = by and ("%s%s=%s"):format(#names > 1 and name .. " " or "", plot.by, by) or name
      if math.type(x) and math.type(y) then
        if not by_label[label] then
          by_label[label] = { label = label, x = {}, y = {}, marks = true }
          curves[#curves + 1] = by_label[label]
        end
        table.insert(by_label[label].x, x)
        table.insert(by_label[label].y, y)
      end
    end
  end
  for _, curve in ipairs(curves) do
    local order, x, y = {}, {}, {}
    for i = 1, #curve.x do order[i] = i end
    table.sort(order, function(a, b) return curve.x[a] < curve.x[b] end)
    for i, from in ipairs(order) do x[i], y[i] = curve.x[from], curve.y[from] end
    curve.x, curve.y = x, y
  end
  return curves, plot.x, plot.y
end

-- ---- the picture ----

local WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 640, 110, 930, 30, 570
local LETTER, TICKS, INK, FAINT, PAPER = 14, 6, 0x282828, 0xe1e1e1, 0xffffff
local HUES = { 0x005aa0, 0xc8461e, 0x1e8250, 0x823c96, 0xaa7800, 0x008ca0, 0xc83c78, 0x5a5a5a }

-- An axis between pixels whose ends are ticks: 1, 2 or 5 times a power of ten; or decades.
local function axis(curves, key, first, last, logarithmic)
  local from, to = math.huge, -math.huge
  local function scaled(v) return logarithmic and math.log(v, 10) or v end
  for _, curve in ipairs(curves) do
    for _, v in ipairs(curve[key]) do
      from, to = math.min(from, scaled(v)), math.max(to, scaled(v))
    end
  end
  if from > to then from, to = 0, 1 end
  local width = to > from and to - from or math.max(math.abs(to), 1)
  local power = 10.0 ^ math.floor(math.log(width / TICKS, 10))
  local part = width / TICKS / power
  local step = (part <= 1 and 1 or part <= 2 and 2 or part <= 5 and 5 or 10) * power
  from, to = math.floor(from / step + 1e-9) * step, math.ceil(to / step - 1e-9) * step
  to = to > from and to or from + step
  local ticks = {}
  for k = 0, math.floor((to - from) / step + 0.5) do
    local v = from + k * step
    v = math.abs(v) < 1e-9 * step and 0 or v
    ticks[k + 1] = { at = first + (v - from) / (to - from) * (last - first),
      text = ("%.4g"):format(logarithmic and 10 ^ v or v) }
  end
  local function place(v) return first + (scaled(v) - from) / (to - from) * (last - first) end
  return place, ticks
end

local function draw(canvas, curves, x_label, y_label, logarithmic)
  local x_of, x_ticks = axis(curves, "x", LEFT, RIGHT, logarithmic)
  local y_of, y_ticks = axis(curves, "y", BOTTOM, TOP, false)
  for _, tick in ipairs(x_ticks) do
    canvas:fill(tick.at, TOP, 1, BOTTOM - TOP, FAINT)
    canvas:text(tick.at, BOTTOM + 8, tick.text, INK, 0.5)
  end
  for _, tick in ipairs(y_ticks) do
    canvas:fill(LEFT, tick.at, RIGHT - LEFT, 1, FAINT)
    canvas:text(LEFT - 8, tick.at - LETTER / 2, tick.text, INK, 1)
  end
  canvas:fill(LEFT, BOTTOM, RIGHT - LEFT, 1, INK)
  canvas:fill(LEFT, TOP, 1, BOTTOM - TOP, INK)
  canvas:text((LEFT + RIGHT) / 2, BOTTOM + 40, x_label, INK, 0.5)
  canvas:text(LEFT, TOP - LETTER - 6, y_label, INK)
  for c, curve in ipairs(curves) do
    local colour = HUES[(c - 1) % #HUES + 1]
    local function mark(x, y)
      canvas:fill(x - 4, y - 4, 8, 8, colour)
      if curve.loose then canvas:fill(x - 2, y - 2, 4, 4, PAPER) end
    end
    for i = 1, #curve.x do
      local x, y = x_of(curve.x[i]), y_of(curve.y[i])
      local before_x, before_y = x_of(curve.x[i - 1] or curve.x[i]), y_of(curve.y[i - 1] or curve.y[i])
      local pixels = 3 * math.max(math.abs(x - before_x), math.abs(y - before_y), 1)
      for k = 0, curve.loose and -1 or pixels do
        canvas:fill(before_x + (x - before_x) * k / pixels - 1,
          before_y + (y - before_y) * k / pixels - 1, 2, 2, colour)
      end
      if curve.marks then mark(x, y) end
    end
    mark(RIGHT - 6, TOP + 22 * c - 8)
    canvas:text(RIGHT - 18, TOP + 22 * c - 8 - LETTER / 2, curve.label, INK, 1)
  end
end

function plots.draw(plot, sweep, rows, results, host, fail)
  local of_files = plot.x:find("%.csv:")
  local curves, x_label, y_label = {}, nil, nil
  if of_files then
    curves, x_label, y_label = curves_of_files(plot, rows, host, fail)
  else
    curves, x_label, y_label = curves_of_results(plot, sweep, rows, results, fail)
  end
  for _, with in ipairs(plot.with) do
    local file, x, y = with:match("^(.+):([^:]+):([^:]+)$")
    if not file then fail("with=%s should be with=FILE.csv:XCOLUMN:YCOLUMN", with) end
    local points = columns_of(file, { x, y }, host, fail)
    points.label, points.loose, points.marks = file:match("[^/]*$"):gsub("%.csv$", ""), true, true
    curves[#curves + 1] = points
  end
  local name = ("%s/%s_over_%s"):format(sweep.directory, y_label:gsub("[^%w_]", "_"),
    x_label:gsub("[^%w_]", "_"))
  local lines = { "curve," .. x_label .. "," .. y_label:gsub(",", "_") }
  for _, curve in ipairs(curves) do
    for i = 1, #curve.x do
      lines[#lines + 1] = ("%s,%.17g,%.17g"):format(curve.label:gsub(",", " "), curve.x[i], curve.y[i])
    end
  end
  host.replace(name .. ".csv", table.concat(lines, "\n") .. "\n")
  local canvas = host.canvas(WIDTH, HEIGHT)
  draw(canvas, curves, x_label, y_label, sweep.logarithmic[plot.x])
  canvas:write(name .. ".png")
end

return plots
