-- sweep_plot.lua -- results of a sweep against a parameter, as a picture and as CSV.
--
-- 'y=RESULT,RESULT x=NAME by=NAME with=FILE.csv:XCOLUMN:YCOLUMN': a curve for each result and each
-- value of `by`; `with` adds points of others; log=xy makes axes logarithmic. Where x and y are
-- FILE.csv:COLUMN of what each run has written, every run is a curve.
local sweep = ... -- of sweep.lua
local fail, plots = sweep.fail, {}

local WIDTH, HEIGHT, LEFT, TOP, BOTTOM, MARGIN = 960, 640, 110, 30, 570, 30
local LETTER, LETTER_WIDTH, MOST_LETTERS, TICKS = 14, 12, 26, 6
local PAPER, INK, FAINT, HUE = 0, 1, 2, 3 -- colours of sweep.draw
local FORMS = { x = ".", y = "[^,]$", by = ".", log = "^[xy]+$", with = "^(.+):([^:]+):([^:]+)$" }

function plots.read(text)
  local plot = { with = {}, log = "" }
  for word in text:gmatch("%S+") do
    local key, value = word:match("^(%a+)=(.+)$")
    if not key or not FORMS[key] or not value:find(FORMS[key]) then
      fail("--plot '%s': '%s' should be y=RESULT, x=NAME, by=NAME, log=xy or "
        .. "with=FILE.csv:X:Y", text, word)
    end
    if key == "with" then table.insert(plot.with, value) else plot[key] = value end
  end
  return plot.x and plot.y and plot or fail("--plot '%s': x and y are needed", text)
end

local function column(path, name)
  local names, rows = sweep.read_csv(path)
  for i, other in ipairs(names) do
    if other == name then
      for k, row in ipairs(rows) do rows[k] = row[i] or "" end
      return rows
    end
  end
  fail("--plot: %s has no column '%s'; it has %s", path, name, table.concat(names, ", "))
end

-- What a run has under a name: a column of a file, or one value, a parameter or a result.
local function values_of(run, name)
  local file, of_file = name:match("^(.+%.csv):(.+)$")
  if file then return column(run.path .. "/" .. file, of_file) end
  return { run.values[name] or run.record.results[name] or run.record[name]
    or sweep.results[name] and "" or fail("--plot: no parameter or result is called '%s'; "
    .. "there are %s, %s", name, table.concat(sweep.names, ", "),
    table.concat(sweep.results, ", ")) }
end

-- Curves are lists of points, logarithms on such an axis; and the rows of the CSV.
local function read_curves(plot)
  local curves, rows = {}, { { "curve", "x", "y" } }
  local function scaled(text, axis)
    local v = tonumber(text)
    v = v and plot.log:find(axis) and math.log(v, 10) or v
    return v and v - v == 0 and v or nil
  end
  local function add(label, xs, ys, loose)
    local curve = curves[label] or { label = label:sub(1, MOST_LETTERS), loose = loose,
      marks = loose or #xs == 1 }
    if not curves[label] then curves[#curves + 1], curves[label] = curve, curve end
    for i, x in ipairs(xs) do
      rows[#rows + 1] = { label, x, ys[i] }
      local point = { scaled(x, "x"), scaled(ys[i], "y") }
      if #point == 2 then curve[#curve + 1] = point end
    end
    if curve.marks then table.sort(curve, function(a, b) return a[1] < b[1] end) end
  end
  for _, run in ipairs(sweep.runs) do
    for name in (run.state == "done" and plot.y or ""):gmatch("[^,]+") do
      local by = plot.by and plot.by .. "=" .. values_of(run, plot.by)[1]
      local label = by or plot.x:find("%.csv:") and table.concat(run.varied, " ") or name
      add(by and plot.y:find(",") and name .. " " .. by or label,
        values_of(run, plot.x), values_of(run, name))
    end
  end
  for _, with in ipairs(plot.with) do
    local file, x, y = with:match(FORMS.with)
    add(file:match("([^/]*)%.%w+$"), column(file, x), column(file, y), true)
  end
  return curves, rows
end

-- An axis between two pixels, whose ends are ticks: 1, 2 or 5 times a power of ten, or of decades.
-- Returns the pixel of a coordinate of points, as a function, and a list of ticks.
local function axis(curves, which, first, last, logarithmic)
  local from, to, ticks = math.huge, -math.huge, {}
  for _, curve in ipairs(curves) do
    for _, point in ipairs(curve) do
      from, to = math.min(from, point[which]), math.max(to, point[which])
    end
  end
  if from > to then from, to = 0, 1 end
  local rough = (to > from and to - from or math.max(math.abs(to), 1)) / TICKS
  local power = 10.0 ^ math.floor(math.log(rough, 10))
  local part = rough / power
  local step = (part <= 1 and 1 or part <= 2 and 2 or part <= 5 and 5 or 10) * power
  local low = math.floor(from / step + 1e-9) -- in steps
  local high = math.max(low + 1, math.ceil(to / step - 1e-9))
  local function place(v) return first + (v / step - low) / (high - low) * (last - first) end
  for k = low, high do
    local v = k * step
    ticks[#ticks + 1] = { at = place(v), text = ("%.4g"):format(logarithmic and 10 ^ v or v) }
  end
  return place, ticks
end

local function draw_curve(put, curve, colour, x_of, y_of)
  local before_x, before_y
  for _, point in ipairs(curve) do
    local x, y = x_of(point[1]), y_of(point[2])
    local dx, dy = x - (before_x or x), y - (before_y or y)
    local dots = curve.loose and 0 or math.ceil(3 * math.max(math.abs(dx), math.abs(dy)))
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

function plots.draw(plot, directory)
  local function plain(name) return (name:gsub("^.*:", ""):gsub("[^%w_]", "_")) end
  local path = ("%s/%s_over_%s%s"):format(directory, plain(plot.y), plain(plot.x),
    plot.by and "_by_" .. plain(plot.by) or "")
  for _, word in ipairs(sweep.words) do
    if word:find("^" .. plain(plot.x) .. "=.*log:") then plot.log = plot.log .. "x" end
  end
  local curves, rows = read_curves(plot)
  sweep.write_csv(path .. ".csv", rows)
  assert(sweep.draw(path .. ".png", WIDTH, HEIGHT, function(put) draw_all(put, plot, curves) end))
end

return plots
