-- scenario.lua -- a simulation of any solver, drawn by lot from a seed: grid, laws, terms, outputs.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
  seed = { 1, "of the lot", integer = true },
  solver = { "any", "or one of them", choices = { "any", "lbm", "aqua", "heat", "rule",
      "poisson" } },
  save = { 0, "steps between checkpoints; 0: none", integer = true },
  steps = { 0, "where the run ends; 0: by lot", integer = true },
  deep = { false, "in 3 dimensions, with steps that ranks make on rows of planes" },
  raster = { "", "a grid with cells without data, as some grounds", file = true },
}

-- ---- lots ----

local last = (p.seed * 7919 + 12345) % 2147483647
local function draw() -- in [0, 1)
  last = last * 48271 % 2147483647
  return last / 2147483647
end
for _ = 1, 9 do draw() end
local function whole(low, high) return low + math.floor(draw() * (high - low + 1)) end
local function real(low, high) return low + draw() * (high - low) end
local function one_of(list) return list[whole(1, #list)] end
local function maybe(part) return draw() < part end

local solver = p.solver ~= "any" and p.solver or one_of { "lbm", "aqua", "heat", "rule", "poisson" }
local dims = solver ~= "aqua" and (maybe(0.3) or p.deep) and 3 or 2
local size = p.deep and { whole(5, 12), whole(7, 40), whole(8, 40) } -- boxes with an inside
  or dims == 3 and { whole(7, 22), whole(7, 16), whole(8, 17) } or { whole(9, 75), whole(12, 60) }
if dims == 2 and maybe(0.15) then -- wide enough for several steps in a pass
  size = { whole(256, 330), whole(60, 150) }
end
local axes, periodic, is_periodic = { "x", "y", "z" }, {}, {}
for a = 1, dims do
  if maybe(0.4) then
    periodic[#periodic + 1] = axes[a]
    is_periodic[a] = true
  end
end
local some = whole(6, 70)
local steps = p.steps > 0 and p.steps or some
local varies = solver ~= "poisson"

-- A quantity about `mean`: constant, in space, in time, with a control, or one that Lua evaluates.
local function quantity(mean, spread, still)
  local a, b, c = real(0.05, 0.9), real(0.05, 0.9), real(0.02, 0.4)
  local weight = { 1 }
  local kinds = {
    mean,
    mean,
    function(x, y) return mean + spread * math.sin(a * x + b * y) end,
    function(x) return mean + spread * math.cos(a * x) end,
    function(x, y) return mean + spread * math.sin(a * x + b * y) * weight[1
        + math.floor(x) * 0] end,
    function(t) return mean + spread * math.sin(c * t) end,
    function(x, y, t) return mean + spread * math.sin(a * x + c * t) * math.cos(b * y) end,
    function(y, knob) return mean + spread * knob * math.sin(b * y) end,
    function(x, y, t, knob) return mean + (x > t and spread or -spread * knob * y / (1 + y)) end,
    function(x, t) return mean + spread * math.sin(a * x + c * t) * weight[1
        + math.floor(t) * 0] end,
  }
  return kinds[whole(1, varies and not still and #kinds or 5)]
end

local function vector(mean, spread, still)
  local v = {}
  for a = 1, dims do
    v[a] = quantity(a == 1 and mean or 0, spread, still)
  end
  return v
end

local function point(inside)
  local at = {}
  for a = 1, dims do
    at[a] = real(inside or 0, size[a] - (inside or 0))
  end
  return at
end

local function some_shape()
  local kind = whole(1, 4)
  local a, b = point(), point()
  local low, high = {}, {}
  for k = 1, dims do
    low[k], high[k] = math.min(a[k], b[k]), math.min(a[k], b[k]) + real(1, size[k] / 3)
  end
  if kind == 1 then return shape.box { min = low, max = high } end
  if kind == 2 then return shape.ball { centre = a, radius = real(1, 5) } end
  if kind == 3 then return shape.ball { centre = a, radius = real(2, 6) } - shape.box { min = low,
      max = high } end
  local u, v = real(0.2, 0.9), real(0.2, 0.9)
  return shape.inside(function(x, y) return math.sin(u * x) * math.cos(v * y) > 0.8 end)
end

local regions, names = {}, {}
local function region(where, what)
  local name = "r" .. #regions
  regions[#regions + 1] = { name = name, where = where, law = what }
  return name
end
local function face(axis, high) return shape.face(axes[axis] .. (high and "+" or "-")) end

-- Calls act(face, axis, high) for all that are not periodic.
local function each_face(act)
  for a = 1, dims do
    for side = 1, 2 do
      if not is_periodic[a] then
        act(face(a, side == 2), a, side == 2)
      end
    end
  end
end

-- A part of a face across an axis.
local function part_of(where, axis)
  local low, high = point(), {}
  for a = 1, dims do
    low[a] = a == axis and -1 or low[a] * 0.6
    high[a] = a == axis and size[a] + 1 or low[a] + real(2, size[a] / 2)
  end
  return where * shape.box { min = low, max = high }
end

-- ---- solvers ----

local settings = {
  size = size, periodic = periodic, regions = regions, precision = one_of { "f32", "f64" },
  controls = { knob = real(0.2, 1) },
}
local fields, components, links = {}, {}, true

local function along_face(axis)
  local along = vector(0.01, 0.01)
  along[axis] = 0
  return along
end

local function make_lbm()
  settings.lattice = dims == 3 and "D3Q19" or "D2Q9"
  settings.collision = one_of { "trt", "bgk", "regularized", "recursive", "hybrid" }
  settings.nu = real(0.02, 0.2)
  if maybe(0.2) then settings.smagorinsky = 0.1 end
  if maybe(0.5) then settings.acceleration = vector(1e-5, 1e-5) end
  settings.initial = { velocity = vector(0.02, 0.02) }
  if maybe(0.3) then settings.initial.density = quantity(1, 0.01) end
  local opened
  for a = 1, dims do
    if not is_periodic[a] and not opened and maybe(0.5) then opened = a end
  end
  local kind = whole(1, 5)
  local stream = vector(0.03, 0.01)
  each_face(function(where, a, high)
    if a == opened then
      if kind == 1 then
        region(where, high and law.pressure { quantity(0, 1e-3) } or law.velocity(vector(0.03,
            0.01)))
      elseif kind == 2 then
        region(where, high and law.outflow {} or law.velocity(vector(0.03, 0.01)))
      elseif kind == 3 then
        local into = vector(0.03, 0.01)
        into.absorbing = true
        region(where, high and law.pressure { quantity(0, 1e-3), absorbing = true }
            or law.velocity(into))
      elseif kind == 4 then
        region(where, law.far_field(stream))
      else
        region(where, law.pressure { high and 0 or quantity(1e-3, 1e-3) })
      end
    elseif opened and kind == 4 and maybe(0.6) then
      region(where, law.far_field(stream))
    elseif maybe(0.2) then
      region(where, law.slip {})
    elseif maybe(0.3) then
      region(where, law.wall { velocity = along_face(a) })
    else
      region(where, law.wall {})
    end
    if a ~= opened and maybe(0.2) then region(part_of(where, a),
        law.wall { velocity = along_face(a) }) end
  end)
  for _ = 1, whole(0, 2) do
    local what = maybe(0.3) and { velocity = vector(0.01, 0.01) } or {}
    names[#names + 1] = region(some_shape(), law.wall(what))
  end
  if opened and p.seed % 2 == 0 and size[opened] >= 8 + (kind < 4 and 1 or 0) then
    settings.sponge = { where = face(opened, true), thickness = 8, velocity = stream }
  end
  fields = { "velocity", "density", "pressure", "speed", "vorticity", "strain_rate", "stress",
    "dissipation" }
  if dims == 3 then fields[#fields + 1] = "q_criterion" end
  components = { "velocity_x", "pressure", "speed" }
end

local function make_aqua()
  settings.dt = real(0.2, 1)
  settings.alpha = maybe(0.5) and real(0.1, 0.4) or quantity(0.25, 0.1, true)
  settings.equilibrium = one_of { "fill", "mean", "mindiff" }
  settings.scheme = maybe(0.25) and "scatter" or nil
  if settings.scheme then settings.precision = "f64" end
  if maybe(0.3) then settings.min_head = 1e-4 end
  local high, slope = real(0, 20), real(-0.03, 0.03)
  local u, v = real(0.1, 0.7), real(0.1, 0.7)
  settings.ground = function(x, y) return high + slope * x
      + 0.5 * math.sin(u * x) * math.cos(v * y) end
  if p.raster ~= "" and maybe(0.3) then
    local map = sel.raster { file = p.raster, offset = high }
    settings.ground = maybe(0.5) and map or function(x, y) return map(x, y) + slope * x end
    size = { 41, 37 }
    settings.size = nil
    settings.nodata = one_of { law.wall {}, law.open {}, law.level { high + 0.4 } }
  end
  if maybe(0.7) then
    settings.initial = { depth = function(x, y) return math.max(0, 0.3 * math.sin(v * x
        + u * y)) end }
  end
  if maybe(0.5) then settings.rain = quantity(60, 40) end
  if maybe(0.4) then settings.infiltration = quantity(20, 15) end
  settings.sources = {}
  local function hydrograph(t, knob) return 0.05 + 0.02 * knob * math.sin(t / 5) end
  for k = 1, whole(0, 2) do
    settings.sources[k] = { at = point(3), discharge = maybe(0.3) and 0.05 or hydrograph }
  end
  settings.arrival_depth = 0.01
  each_face(function(where, a)
    local kind = whole(1, 4)
    names[#names + 1] = region(where, kind == 1 and law.open {} or kind == 2
        and law.open { slope = 0.01 }
      or kind == 3 and law.level { quantity(high + 0.2, 0.1) } or law.wall {})
    if maybe(0.3) then names[#names + 1] = region(part_of(where, a), law.level { quantity(high
        + 0.3, 0.2) }) end
  end)
  for _ = 1, whole(0, 2) do
    local kind = whole(1, 5)
    names[#names + 1] = region(some_shape(), kind == 1 and law.open {}
      or kind == 2 and law.level { quantity(high + 0.2, 0.1) } or law.wall {})
  end
  fields = { "ground", "depth", "level", "max_depth", "max_level", "arrival_time" }
  components = { "depth", "level" }
end

local function conduct(make_fixed, make_flux, make_closed)
  settings.layout = maybe(0.4) and "node" or "cell"
  each_face(function(where, a)
    names[#names + 1] = region(where, maybe(0.4) and make_fixed() or make_closed())
    if maybe(0.4) then names[#names + 1] = region(part_of(where, a), maybe(0.5) and make_fixed()
        or make_flux()) end
  end)
  for _ = 1, whole(0, 2) do
    names[#names + 1] = region(some_shape(), maybe(0.5) and make_fixed() or make_closed())
  end
end

local function make_heat()
  settings.conductivity = maybe(0.5) and 1 or quantity(1, 0.5, true)
  if maybe(0.2) then settings.conductivity = dims == 3 and { 1, 0.7, 0.4 } or { 1, 0.6 } end
  if maybe(0.2) then settings.dx = dims == 3 and { 1, 1.5, 1.25 } or { 1.25, 1 } end
  if maybe(0.3) then settings.capacity = quantity(2, 0.5, true) end
  settings.scheme = one_of { "explicit", "explicit", "explicit", "crank_nicolson",
      "backward_euler" }
  settings.dt = settings.scheme == "explicit" and 0.06 or 1
  settings.initial = { temperature = quantity(0.5, 1) }
  if maybe(0.5) then settings.source = quantity(0, 0.1) end
  conduct(function() return law.fixed { quantity(1, 0.5) } end,
    function()
      return maybe(0.5) and law.flux { quantity(0.3, 0.3) }
        or law.convective { h = quantity(0.5, 0.2, true), ambient = quantity(0, 1) }
    end,
    function() return law.insulated {} end)
  fields, components = { "temperature", "flux" }, { "temperature", "flux_x" }
end

local function make_poisson()
  settings.precision = nil
  settings.controls = nil
  if maybe(0.5) then settings.coefficient = quantity(1, 0.5) end
  settings.rhs = quantity(0.1, 0.5)
  settings.method = one_of { "multigrid", "multigrid", "conjugate_gradient", "jacobi", "sor",
      "gauss_seidel" }
  settings.tolerance, settings.max_iterations = 1e-6, 60
  conduct(function() return law.fixed { quantity(1, 0.5) } end,
    function() return law.flux { quantity(0.3, 0.3) } end, function() return law.insulated {} end)
  names[#names + 1] = region(shape.ball { centre = point(3), radius = 1.6 }, law.fixed { 0.4 })
  fields, components = { "potential", "residual", "gradient" }, { "potential", "gradient_x" }
end

local function make_rule()
  local reach = maybe(0.3) and 2 or 1
  local function at(c, k, far)
    local move = { 0, 0, 0 }
    move[(k - 1) // 2 + 1] = (k % 2 == 1 and 1 or -1) * far
    if dims == 3 then return c(move[1], move[2], move[3]) end
    return c(move[1], move[2])
  end
  local lively, wild, timed, chance = maybe(0.5), maybe(0.3), maybe(0.4), maybe(0.3)
  settings.state = { u = "real", v = maybe(0.5) and "real" or nil, n = lively and one_of { "u8",
      "i32" } or nil,
    w = wild and "vector" or nil }
  settings.main = "u"
  settings.seed = whole(1, 99)
  settings.exact = true
  if maybe(0.4) then settings.data = { k = quantity(0.6, 0.3) } end
  local two, data = settings.state.v, settings.data
  local function spread(c, t, dt, knob)
    local sum = 0
    for k = 1, 2 * dims do sum = sum + at(c, k, k % 2 == 0 and reach or 1).u - c.u end
    local new = { u = c.u + 0.05 * sum * (data and c.k or 1) }
    if timed then new.u = new.u + 0.01 * knob * math.sin(t + dt) end
    if two then new.v = 0.9 * c.v + 0.1 * at(c, 3, 1).v * c.u end
    if lively then
      local count = 0
      for k = 1, 2 * dims do count = count + (at(c, k, 1).n > 0 and 1 or 0) end
      new.n = (count == 2 or count == 3 and c.u > 0) and 1 or 0
    end
    return new
  end
  local function second(c, x)
    local new = {}
    if chance then new.u = c.u + (sel.random(1) < 0.1 and 0.01 or 0) end
    if wild then
      new.w_x = 0.5 * (at(c, 1, 1).u - at(c, 2, 1).u)
      new.w_y = at(c, 3, 1).w_x + 0.01 * x
    end
    return new
  end
  settings.rule = maybe(0.5) and (chance or wild) and { spread, second } or spread
  settings.initial = { u = quantity(0.5, 0.5, true) }
  if lively then settings.initial.n = function() return sel.random(2) < 0.4 and 1 or 0 end end
  if maybe(0.3) then
    settings.dt = { limit = function(c) return 1 / (1 + c.u ^ 2) end, factor = 0.5, max = 0.6,
        every = whole(1, 9) }
  end
  if maybe(0.4) then settings.derived = { far = function(c) return at(c, 1, 2).u + at(c, 4,
      1).u end } end
  settings.conserved = { "u" }
  each_face(function(where, a)
    local kind = whole(1, 5)
    local value = quantity(0.5, 0.3)
    local what = kind == 1 and law.fixed { value } or kind == 2 and law.fixed { value, at = "face" }
      or kind == 3 and law.gradient { value } or kind == 4 and law.mirror {} or law.wall {}
    region(where, kind > 3 and what or { u = what })
    if maybe(0.3) then region(part_of(where, a), { u = law.fixed { quantity(0.2, 0.3) } }) end
  end)
  for _ = 1, whole(0, 2) do
    region(some_shape(), maybe(0.5) and { u = law.fixed { quantity(1, 0.3) } } or law.wall {})
  end
  fields = { "u" }
  for _, name in ipairs { "v", "n", "w" } do
    if settings.state[name] then fields[#fields + 1] = name end
  end
  if settings.derived then fields[#fields + 1] = "far" end
  components, links = { "u" }, false
end

({ lbm = make_lbm, aqua = make_aqua, heat = make_heat, poisson = make_poisson,
    rule = make_rule })[solver]()

-- ---- outputs ----

local list = {}
local function add(part, kind, what)
  if maybe(part) then
    what.name = kind .. #list
    if varies and maybe(0.3) then
      what.interval = real(0.5, 12) * (settings.dt and type(settings.dt) == "number"
          and settings.dt or 1)
    elseif varies then
      what.every = whole(1, 20)
    end
    if varies and maybe(0.2) then what.from_step = whole(0, 20) end
    list[#list + 1] = out[kind](what)
  end
end
local low, high = {}, {}
for a = 1, dims do
  low[a] = whole(0, size[a] // 2)
  high[a] = low[a] + whole(2, size[a] // 2)
end
local part = shape.box { min = low, max = high }
add(0.8, "vtk", { fields = fields, compression = one_of { "none", "zlib" } })
if settings.layout ~= "node" then
  add(0.4, "vtk", { fields = fields[1], stride = whole(1, 3), within = part })
end
add(0.5, "average", { fields = fields[1] })
add(0.5, "balance", {})
add(0.5, "probe", { field = fields[#fields], at = { point(1), point(1) } })
add(0.4, "spectrum", { field = fields[#fields], at = point(1), windows = whole(1, 2) })
add(0.4, "profile", { field = components[1], from = point(1), to = point(1) })
for _, op in ipairs { "sum", "min", "max", "mean", "l2" } do
  add(0.4, "reduce", { field = one_of(components), op = op, within = maybe(0.3) and part or nil })
end
local plane = dims == 3 and { z = real(1, size[3] - 1) } or nil
add(0.4, "picture", { field = one_of(components), slice = plane, scale = one_of { 1, 2 } })
if links and names[1] and solver ~= "lbm" then add(0.5, "flux", { region = one_of(names) }) end
if dims == 2 and settings.layout ~= "node" then
  add(0.3, "grid", { field = components[1], format = one_of { "asc", "tif" } })
end
if links and dims == 2 and settings.layout ~= "node" then
  local y = whole(2, size[2] - 2)
  add(0.5, "flux", { across = maybe(0.5) and { { 2, y }, { size[1] - 2, y } } or { { 4, 1 }, { 4,
      size[2] - 1 } } })
end
if solver == "lbm" and names[1] then add(0.7, "force", { region = one_of(names) }) end
if p.save > 0 and varies then list[#list + 1] = out.checkpoint { every = p.save } end
settings.output = list
if varies then
  settings.stop = { steps = steps, steady = 1.1e-5, every = whole(5, 25) }
  settings.hooks = maybe(0.5) and { { every = whole(5, 25), call = function(run)
    run.state.n = (run.state.n or 0) + 1
    run:set("knob", 0.5 + 0.1 * run.state.n + 0.01 * math.sin(run:reduce(components[1], "max")))
    run:result("n", run.state.n)
  end } } or nil
end
return sel[solver](settings)
