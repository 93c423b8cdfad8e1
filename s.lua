local sel = require 'selenite'
local shape, law, out = sel.shape, sel.law, sel.out
local sin, cos, exp, log, pi = math.sin, math.cos, math.exp, math.log, math.pi
local function face(name, what) return { name = name, where = shape.face(name), law = what } end
local function all(what) return { name = 'all', where = shape.faces, law = what } end
local n, b, k, dims, random = 128, 16, 1e+06, 2, true
local m, seed, good = n // b + 1, 12345, {}
for i = 0, m * m * (dims == 3 and m or 1) - 1 do
  seed = (seed * 1103515245 + 12345) & 0x7fffffff
  local x, y = i - i // m * m, i // m - i // m // m * m
  local sum = x * 7 + y * 13 + x * y * 5
  good[i + 1] = random and seed < 0x7fffffff // 3 or not random and sum == sum // 3 * 3
end
local function block(x) return math.floor(x * n / b + 1e-9) end
local function c2(x, y) return good[1 + block(x) + m * block(y)] and k or 1 end
local function c3(x, y, z)
  return good[1 + block(x) + m * (block(y) + m * block(z))] and k or 1 end
local c, size = dims == 3 and c3 or c2, dims == 3 and { n, n, n } or { n, n }
local regions = { all(law.fixed { 0 }) }
return sel.heat { size = size, dx = 1 / n, conductivity = c,
capacity = 1, source = 1, scheme = 'backward_euler', precision = 'f64', dt = 100 / (4 * k * n * n), stop = { steps = 9 }, regions = regions }
