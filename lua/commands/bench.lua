-- bench.lua -- the cases of `selenite bench`: simulations named KIND PRECISION CELLS BOX RULE.
local sel = require "selenite"
local shape, law = sel.shape, sel.law

local p = sel.params {
  device = { false, "cases for a device, whose memory the large ones fill" },
  ranks = { 1, "several: all cases again, with that many times the cells along the last axis" },
}
local cases = {}

local times = 1
local function grid(...) -- returns the size and its text
  local size = { ... }
  size[#size] = size[#size] * times
  return size, table.concat(size, "x")
end

local function wave(x, length) -- a wave of parabolas between 0 and 1
  local part = x / length - math.floor(x / length)
  return 4 * part * (1 - part)
end

-- Lattice Boltzmann flow in a periodic box, or in a cavity with a moving lid.
local function flow(lattice, n, precision, box, collision)
  local plane = lattice == "D2Q9"
  local function vector(x, y) return plane and { x, y } or { x, y, 0 } end
  local size, text = grid(n, n, not plane and n or nil)
  local cavity = {
    { where = shape.face "y+", law = law.wall { velocity = vector(0.1, 0) } },
    { where = shape.rest, law = law.wall {} },
  }
  cases[#cases + 1] = sel.lbm {
    name = ("%s %s %s %s %s"):format(lattice, precision, text, box, collision),
    lattice = lattice, size = size, precision = precision, collision = collision, tau = 0.6,
    periodic = box == "periodic" and (plane and { "x", "y" } or { "x", "y", "z" }) or {},
    initial = { velocity = vector(0.03, 0.02) },
    regions = box == "cavity" and cavity or {},
    stop = { steps = 1 },
  }
end

local function boxes(lattice, precision, sizes)
  for _, n in ipairs(sizes) do flow(lattice, n, precision, "periodic", "trt") end
end

local function cavity_and_operators(lattice, n)
  flow(lattice, n, "f32", "cavity", "trt")
  for _, collision in ipairs { "bgk", "regularized", "recursive", "hybrid" } do
    flow(lattice, n, "f32", "periodic", collision)
  end
  flow(lattice, n, "f32", "cavity", "hybrid")
end

-- Operators that store moments, on grids that fill a device.
local function moments(lattice, n)
  for _, precision in ipairs { "f32", "f64" } do
    flow(lattice, n, precision, "periodic", "regularized")
    flow(lattice, n, precision, "periodic", "hybrid")
  end
end

-- Ground and water of runoff:
--   smooth    deep water with waves
--   rough     shallow water over noise of a metre from cell to cell, so that the ground of
--             neighbours rises above the level that `fill` computes
--   half dry  one half of the plane is a plateau that no water reaches
local function noise(x, y, seed) -- between 0 and 1; differs between cells and seeds
  local hash = 43758.5453 * math.sin(12.9898 * x + 78.233 * y + seed)
  return hash - math.floor(hash)
end

local function smooth_ground(x, y) return wave(x, 512) * wave(y, 512) end
local function rough_ground(x, y) return noise(x, y, 1) end
local function deep(x, y) return 2 + 0.4 * wave(x + y, 64) + 0.01 * noise(x, y, 2) end
local function shallow(x, y) return 0.2 + 0.2 * noise(x, y, 2) end

local function plane(n, water, rule, settings)
  local size, text = grid(n, n)
  settings.name = ("aqua f32 %s %s %s"):format(text, water, rule)
  settings.size, settings.dx, settings.dt, settings.periodic = size, 1, 1, { "x", "y" }
  settings.alpha, settings.stop = 0.2, { steps = 1 }
  cases[#cases + 1] = sel.aqua(settings)
end

local function run_off(n, wet, rule, equilibrium, ground, depth)
  local shore = wet * n * times
  plane(n, wet < 1 and "half-dry" or "wet", rule, {
    equilibrium = equilibrium,
    ground = function(x, y) return 100 + ground(x, y) + 50 * (1 - sel.step(shore - y)) end,
    initial = { depth = function(x, y) return depth(x, y) * sel.step(shore - y) end },
  })
end

-- A storm over shallow water that covers everything, with infiltration everywhere. Moving: 50 mm/h
-- in a Gaussian whose centre moves one cell per step and turns back at the edges. Otherwise: the
-- rain of the middle cell, as a function of time alone.
local function storm(n, rule, moving)
  local half, middle, wide = n / 2, n * times / 2, n * n / 32
  local function rate(x, y, t)
    local u, v = x - (half + half * math.sin(t / half)), y - middle
    return 50 * math.exp(-(u * u + v * v) / wide)
  end
  plane(n, "storm", rule, {
    equilibrium = "mean",
    ground = function(x, y) return 100 + smooth_ground(x, y) end,
    initial = { depth = 0.1 },
    rain = moving and rate or function(t) return rate(half, middle, t) end,
    infiltration = 5,
    depth_limit = 20,
  })
end

-- Conduction of heat in a square of nodes with fixed edges, or in a closed box of cells; with one
-- material, or a conductivity that differs from cell to cell. A device takes several steps per pass
-- over a uniform square, and single steps where a law depends on a control.
local function body(dims, n, precision, material, rule)
  local square = dims == 2
  local laws = {
    fixed = law.fixed { 0.5 },
    control = law.fixed { function(edge) return edge end },
    closed = law.insulated {},
  }
  local size, text = grid(n, n, not square and n or nil)
  local function uneven(x, y) return 1 + 0.5 * wave(x + 2 * y, 64) end
  cases[#cases + 1] = sel.heat {
    name = ("heat %s %s %s %s"):format(precision, text, material, rule),
    size = size, precision = precision, layout = square and "node" or "cell",
    conductivity = material == "uniform" and 1 or uneven,
    initial = { temperature = function(x, y) return wave(x, 64) + wave(y, 64) end },
    controls = { edge = 0.5 },
    regions = { { where = shape.faces, law = laws[rule] } },
    stop = { steps = 1 },
  }
end

local function uniform_squares(precision, sizes)
  for _, n in ipairs(sizes) do body(2, n, precision, "uniform", "fixed") end
end

-- Rules on a periodic square: reaction and diffusion of two substances, waves, conduction, the game
-- of life.
local function laplacian(c, u)
  return (u(c(-1, 0)) + u(c(1, 0))) + (u(c(0, -1)) + u(c(0, 1))) - 4 * u(c)
end
local function field_u(c) return c.u end
local function field_v(c) return c.v end
local function bumps(x, y) return 0.5 * wave(x, 64) * wave(y, 64) end

local rules = {
  gray_scott = {
    state = { u = "real", v = "real" }, main = "v", initial = { u = 1, v = bumps },
    rule = function(c, dt)
      local rate = c.u * c.v ^ 2
      return { u = c.u + dt * (0.16 * laplacian(c, field_u) - rate + 0.037 * (1 - c.u)),
               v = c.v + dt * (0.08 * laplacian(c, field_v) + rate - 0.097 * c.v) }
    end,
  },
  wave = {
    state = { u = "real", before = "real" }, main = "u", initial = { u = bumps, before = bumps },
    rule = function(c)
      return { u = 2 * c.u - c.before + 0.2 * laplacian(c, field_u), before = c.u }
    end,
  },
  heat = {
    state = { u = "real" }, initial = { u = bumps },
    rule = function(c) return c.u + 0.2 * laplacian(c, field_u) end,
  },
  life = {
    state = { u = "u8" },
    initial = { u = function(x, y) return math.floor(2 * noise(x, y, 3)) end },
    rule = function(c)
      local n = -c.u
      for dy = -1, 1 do for dx = -1, 1 do n = n + c(dx, dy).u end end
      return (n == 3 or n == 2 and c.u == 1) and 1 or 0
    end,
  },
}

local function automaton(name, precision, n)
  local size, text = grid(n, n)
  local settings = { name = ("rule %s %s %s"):format(precision, text, name) }
  for key, value in pairs(rules[name]) do settings[key] = value end
  settings.size, settings.periodic, settings.precision = size, { "x", "y" }, precision
  settings.stop = { steps = 1 }
  cases[#cases + 1] = sel.rule(settings)
end

-- Poisson's equation with a right-hand side of noise between fixed faces, solved to 1e-8.
local function potential(dims, n)
  local size, text = grid(n, n, dims == 3 and n or nil)
  cases[#cases + 1] = sel.poisson {
    name = ("poisson f64 %s noise multigrid"):format(text),
    size = size,
    rhs = dims == 2 and function(x, y) return noise(x, y, 4) - 0.5 end
      or function(x, y, z) return noise(x + 31.7 * z, y, 4) - 0.5 end,
    regions = { { where = shape.faces, law = law.fixed { 0 } } },
  }
end

local function all_cases()
  if p.device then
    boxes("D2Q9", "f32", { 1024, 4096, 8192, 16384 })
    cavity_and_operators("D2Q9", 8192)
    boxes("D2Q9", "f64", { 1024, 4096, 8192 })
    boxes("D3Q19", "f32", { 64, 128, 256, 512 })
    cavity_and_operators("D3Q19", 256)
    boxes("D3Q19", "f64", { 64, 128, 256, 512 })
    moments("D2Q9", 16384)
    moments("D3Q19", 512)
  else
    boxes("D2Q9", "f32", { 512 })
    boxes("D2Q9", "f64", { 512 })
    boxes("D2Q9", "f32", { 2048 })
    cavity_and_operators("D2Q9", 2048)
    for _, box in ipairs { "periodic", "cavity" } do flow("D2Q9", 2048, "f64", box, "trt") end
    for _, box in ipairs { "periodic", "cavity" } do
      flow("D3Q19", 192, "f32", box, "trt")
      flow("D3Q19", 192, "f32", box, "hybrid")
    end
    for _, box in ipairs { "periodic", "cavity" } do flow("D3Q19", 96, "f64", box, "trt") end
  end
  for _, n in ipairs(p.device and { 1024, 4096, 8192, 16384 } or { 1024, 2048 }) do
    for _, wet in ipairs { 1, 1 / 2 } do
      run_off(n, wet, "mean", "mean", smooth_ground, deep)
      run_off(n, wet, "fill smooth", "fill", smooth_ground, deep)
      run_off(n, wet, "fill rough", "fill", rough_ground, shallow)
      run_off(n, wet, "mindiff", "mindiff", smooth_ground, deep)
    end
    storm(n, "rain(t)", false)
    storm(n, "rain(x,y,t)", true)
  end
  if p.device then
    uniform_squares("f32", { 512, 1024, 2048, 4096, 8192, 16384 })
    uniform_squares("f64", { 512, 4096, 8192, 16384 })
    for _, precision in ipairs { "f32", "f64" } do
      body(2, 8192, precision, "uniform", "control")
      body(2, 8192, precision, "varied", "fixed")
      body(3, 512, precision, "uniform", "closed")
      body(3, 256, precision, "varied", "closed")
    end
  else
    for _, precision in ipairs { "f32", "f64" } do
      uniform_squares(precision, { 512, 4096 })
      body(2, 2048, precision, "varied", "fixed")
      body(3, 256, precision, "uniform", "closed")
    end
  end
  for _, name in ipairs { "gray_scott", "wave", "heat" } do
    for _, precision in ipairs { "f32", "f64" } do
      automaton(name, precision, p.device and 8192 or 2048)
    end
  end
  automaton("life", "f32", p.device and 16384 or 4096)
  potential(2, 600)
  potential(2, p.device and 8192 or 2048)
  potential(3, p.device and 512 or 128)
end

all_cases()
if p.ranks > 1 then
  times = p.ranks
  all_cases()
end
return cases
