local size, tau, collision, precision = { 18, 9, 7 }, 0.6, 'recursive:moments', 'f64'
local smagorinsky = 0.15
local sel = require 'selenite'
local shape, law = sel.shape, sel.law
local W, H, D, three = size[1], size[2], size[3] or 1, size[3] ~= nil
local regions, periodic, acceleration, controls = {}, {}, nil, nil
local function paint(name, where, what)
  regions[#regions + 1] = { name = name, where = where, law = what }
end
local function vec(x, y, z) if three then return x, y, z end return x, y end
local function across() return three and shape.face 'z-' + shape.face 'z+' or nil end
local function box(x0, y0, z0, x1, y1, z1)
  return shape.box { min = { vec(x0, y0, z0) }, max = { vec(x1, y1, z1) } }
end
local function ball(x, y, z, r) return shape.ball { centre = { vec(x, y, z) }, radius = r } end
local function inflow(y, t)
  local s = y / H
  return vec(0.05 * (0.3 + 4 * s * (1 - s)) * (1 + 0.2 * math.sin(0.3 * t)), 0.003 * s, 0.002)
end
local function dragging(x, t)
  return vec(0.06 * math.cos(0.2 * t), 0, 0.02 * math.sin(6 * x / W))
end
local initial = {
  velocity = three and function(x, y, z)
    local a, b, c = 6.2831853 * x / W, 6.2831853 * y / H, 6.2831853 * z / D
    return 0.03 * math.sin(a + b), 0.03 * math.cos(b + 2 * c), 0.02 * math.sin(c - a)
  end or function(x, y)
    local a, b = 6.2831853 * x / W, 6.2831853 * y / H
    return 0.03 * math.sin(a + b), 0.03 * math.cos(b - 2 * a)
  end,
  pressure = function(x, y) return 1e-3 * math.sin(6.2831853 * x / W) * math.cos(3 * y / H) end,
}
periodic = three and { 'x', 'y', 'z' } or { 'x', 'y' }
for k = 0, 29 do
  local x, y = 2 * (k % 8), 2 * (k // 8)
  paint('cell' .. k, box(x, y, 0, x + 1, y + 1, D / 2), law.wall { velocity = { vec(
    2e-3 * k, 1e-2, 0) } })
end
acceleration = { vec(1e-4, -5e-5, 3e-5) }
return sel.lbm {
  lattice = three and 'D3Q19' or 'D2Q9', size = size, tau = tau,
  collision = collision:match '^%a+', storage = collision:match ':(%a+)',
  precision = precision, smagorinsky = smagorinsky, acceleration = acceleration,
  controls = controls, initial = initial, regions = regions, periodic = periodic,
  stop = { steps = 1 },
}
