-- A heat sink on a chip, in SI units: a cross-section of a base with straight fins. The heat of the
-- chip enters through the middle of the lower face, and air takes it from all other surfaces but
-- the rest of the lower face. Base and fins may be of different metals.
--
-- Shows: how far more, longer or thinner fins cool the chip, and how good the textbook's formula of
-- a fin is. A fin whose Biot number h thickness / (2 k) is small has the same temperature from side
-- to side. Its efficiency is the heat that it gives off over that of a fin as warm as its foot:
-- tanh(m H) / (m H) with m = sqrt(2 h / (k thickness)), and half a thickness added to the height H
-- for what the tip gives off (Incropera and DeWitt, Fundamentals of Heat and Mass Transfer, section
-- 3.6). run.json has this efficiency and that of the middle fin, the Biot number, the highest
-- temperature, the thermal resistance of the sink in K/W, and the terms of the balance in W per
-- metre of depth.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local metals = { copper = { 401, 3.44e6 }, aluminium = { 237, 2.42e6 } } -- W/(m K), J/(m3 K)
local names = { "copper", "aluminium" }

local p = sel.params {
  fins    = { 9,   "number of fins", integer = true, min = 1 },
  fin     = { 2,   "thickness of a fin, mm", min = 0.01 },
  gap     = { 4,   "width of the gaps between fins, mm", min = 0.01 },
  height  = { 30,  "height of the fins, mm", min = 0.01 },
  base    = { 6,   "thickness of the base, mm; 0: only fins", min = 0 },
  chip    = { 20,  "width of the chip, mm", min = 0.01 },
  depth   = { 60,  "depth of sink and chip, mm", min = 0.01 },
  power   = { 100, "power of the chip, W" },
  h       = { 60,  "heat that the air takes, W/(m2 K)", min = 0 },
  ambient = { 25,  "temperature of the air, degrees C" },
  of_base = { "copper",    "metal of the base", choices = names },
  of_fins = { "aluminium", "metal of the fins", choices = names },
  cell    = { 1,   "side of a cell, mm; all lengths are whole cells", min = 0.001 },
  steady  = { 1e-6, "relative change in 500 steps that ends the run", min = 1e-15 },
}

local mm = 1e-3
local fin, gap, base, height = p.fin * mm, p.gap * mm, p.base * mm, p.height * mm
local width, top, dx = p.fins * fin + (p.fins - 1) * gap, base + height, p.cell * mm

local function cells(length)
  local n = math.floor(length / dx + 0.5)
  assert(math.abs(n * dx - length) < 1e-6 * dx, "a length is not a whole number of cells")
  return n
end

local air
for i = 1, p.fins - 1 do
  local low, high = i * (fin + gap) - gap, i * (fin + gap)
  assert(cells(low) < cells(high))
  local box = shape.box { min = { low, base }, max = { high, top + dx } }
  air = air and air + box or box
end

local function part(which) -- of the metals, by place
  local lower, upper = metals[p.of_base][which], metals[p.of_fins][which]
  return function(y) return lower + (upper - lower) * sel.step(y - base) end
end

-- Efficiency and temperature by the formula; the temperature is the initial one.
local k = metals[p.of_fins][1]
local m = math.sqrt(2 * p.h / (k * fin))
local function formula(length)
  local e = math.exp(-2 * m * length)
  return m > 0 and (1 - e) / (1 + e) / (m * length) or 1
end
local efficiency = formula(height + fin / 2)
local area = p.fins * (2 * height + fin) * efficiency + (p.fins - 1) * gap + 2 * base
local foot = p.h > 0 and p.power / (p.depth * mm) / (p.h * area) or 0
local function start(y)
  local s = math.max(0, y - base)
  local far = top + fin / 2 - base - s -- cosh(m far) / cosh(m length), without large numbers
  local length = height + fin / 2
  return p.ambient + foot * (math.exp(m * (far - length)) + math.exp(-m * (far + length)))
    / (1 + math.exp(-2 * m * length))
end

local chip = cells(math.min(p.chip * mm, width))
local beside = (cells(width) - chip) // 2
local contact = shape.face "y-" * shape.box {
  min = { beside * dx, -dx }, max = { (beside + chip) * dx, dx },
}
local middle = (p.fins // 2) * (fin + gap) + fin / 2
local cooled = law.convective { h = p.h, ambient = p.ambient }
local regions = {
  { name = "chip",  where = contact, law = law.flux { p.power / (chip * dx * p.depth * mm) } },
  { name = "sides", where = shape.face "x-" + shape.face "x+", law = cooled },
  { name = "tips",  where = shape.face "y+" - (air or shape.face "y-"), law = cooled },
}
if air then
  table.insert(regions, { name = "gaps", where = air, law = cooled })
end
if chip < cells(width) then
  table.insert(regions, {
    name = "beside", where = shape.face "y-" - contact, law = law.insulated {},
  })
end

-- The efficiency of the middle fin from the temperatures on its middle line. The surface is colder
-- by a part of the order of the Biot number.
local function measured(run)
  local function excess(y) return run:probe("temperature", { middle, y }) - p.ambient end
  local sum, n = 0, cells(height)
  for i = 1, n do
    sum = sum + excess(base + (i - 0.5) * dx)
  end
  local tip = excess(top - dx / 2)
  local at_foot = 1.5 * excess(base + dx / 2) - 0.5 * excess(base + 1.5 * dx)
  return (2 * sum * dx + tip * fin) / ((2 * height + fin) * at_foot)
end

local function report(run)
  local hottest = run:reduce("temperature", "max")
  run:result("highest_temperature", hottest)
  run:result("thermal_resistance", (hottest - p.ambient) / p.power)
  run:result("biot", p.h * fin / (2 * k))
  run:result("efficiency", measured(run))
  run:result("efficiency_formula", efficiency)
end

return sel.heat {
  size         = { cells(width), cells(top) },
  dx           = dx,
  precision    = "f64",
  conductivity = part(1),
  capacity     = part(2),
  initial      = { temperature = start },
  regions      = regions,
  stop   = { steps = 2000000, steady = p.steady, every = 500 },
  hooks  = { { at = "end", call = report } },
  output = {
    out.probe   { name = "over_the_chip", field = "temperature", at = { width / 2, dx / 2 },
                  every = 500 },
    out.profile { name = "fin", field = "temperature", from = { middle, 0 }, to = { middle, top },
                  at = "end" },
    out.balance { every = 500 },
    out.picture { field = "temperature", scale = math.max(1, 800 // cells(width)) },
    out.vtk     { fields = { "temperature", "flux" } },
  },
}
