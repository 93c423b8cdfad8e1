-- A body of n x m cells, in two dimensions (axis = "") or as one layer of a box in three: the same
-- values, also where the layer's axis is periodic. `m = 1`: one row, one column.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
  solver = { "heat", choices = { "heat", "poisson", "rule", "lbm" } },
  axis = { "", "the axis of one cell; none: two dimensions", choices = { "", "x", "y", "z" } },
  n = 8, m = 6, periodic = { "no", "along the layer's axis" }, along = { "no", "periodic along the first axis" },
  scheme = "explicit", method = "multigrid", precision = "f64",
}
local axes = { x = { "y", "z" }, y = { "x", "z" }, z = { "x", "y" }, [""] = { "x", "y" } }
local first, second = axes[p.axis][1], axes[p.axis][2]
local cells = p.axis == "" and { p.n, p.m } or p.axis == "x" and { 1, p.n, p.m } or p.axis == "y" and { p.n, 1, p.m }
  or { p.n, p.m, 1 }

-- A function of the two coordinates of the body.
local function on(f)
  if p.axis == "x" then return function(y, z) return f(y, z) end end
  if p.axis == "y" then return function(x, z) return f(x, z) end end
  return function(x, y) return f(x, y) end
end
local function warm(a, b) return math.sin(a) + 0.3 * math.cos(2 * b) + 1 end

local periodic = {}
if p.periodic == "yes" and p.axis ~= "" then periodic[#periodic + 1] = p.axis end
if p.along == "yes" then periodic[#periodic + 1] = first end
local low, high = shape.face(first .. "-"), shape.face(first .. "+")
local regions = {}
local function paint(where, its) regions[#regions + 1] = { where = where, law = its } end
local flows = p.solver == "lbm"
if p.along ~= "yes" then
  paint(low, flows and law.wall {} or law.fixed { 1 })
  paint(high, flows and law.wall {} or law.fixed { on(warm) })
end
paint(shape.face(second .. "-") + shape.face(second .. "+"),
  (flows or p.solver == "rule") and law.wall {} or p.along == "yes" and law.fixed { 1 } or law.insulated {})
if p.axis ~= "" and p.periodic ~= "yes" then
  paint(shape.face(p.axis .. "-") + shape.face(p.axis .. "+"),
    flows and law.slip {} or p.solver == "rule" and law.wall {} or law.insulated {})
end

local function reduce(field)
  return out.reduce { name = field, field = field, op = "l2", every = 1 }
end
local common = { size = cells, dx = 1, periodic = periodic, regions = regions, precision = p.precision,
  stop = { steps = 20 } }
local function with(more)
  for k, v in pairs(more) do common[k] = v end
  return common
end
if p.solver == "heat" then
  return sel.heat(with { diffusivity = 0.4, scheme = p.scheme, source = on(warm),
    dt = p.scheme == "explicit" and 0.3 or 30, initial = { temperature = on(warm) },
    output = { reduce "temperature" } })
elseif p.solver == "poisson" then
  common.stop = nil
  return sel.poisson(with { rhs = on(warm), method = p.method, tolerance = 1e-11,
    output = { reduce "potential" } })
elseif p.solver == "rule" then
  local unit = { x = { 1, 0, 0 }, y = { 0, 1, 0 }, z = { 0, 0, 1 } }
  local a, b = unit[first], unit[second]
  local function rule(c)
    return c.u + 0.1 * (c(a[1], a[2], a[3]).u + c(-a[1], -a[2], -a[3]).u + c(b[1], b[2], b[3]).u
      + c(-b[1], -b[2], -b[3]).u - 4 * c.u)
  end
  local function flat(c)
    return c.u + 0.1 * (c(1, 0).u + c(-1, 0).u + c(0, 1).u + c(0, -1).u - 4 * c.u)
  end
  return sel.rule(with { state = { u = "real" }, initial = { u = on(warm) }, rule = p.axis == "" and flat or rule,
    output = { reduce "u" } })
end
local g = { 0, 0, p.axis ~= "" and 0 or nil }
local place = { x = 1, y = 2, z = 3 }
g[place[first]] = 1e-4
common.initial = nil
-- D3Q19 has not all third-order terms of D2Q9, which hybrid keeps.
return sel.lbm(with { lattice = p.axis == "" and "D2Q9" or "D3Q19", tau = 0.8, collision = "trt", acceleration = g,
  output = { reduce "speed" } })
