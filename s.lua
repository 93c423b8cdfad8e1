local sel = require 'selenite'
local shape, law, out = sel.shape, sel.law, sel.out
local sin, cos, exp, log, pi = math.sin, math.cos, math.exp, math.log, math.pi
local function face(name, what) return { name = name, where = shape.face(name), law = what } end
local function all(what) return { name = 'all', where = shape.faces, law = what } end
local size, dx, layout, periodic, method = { 45, 22 }, 1, 'cell', '', 'multigrid'
local c, hole, loose, most = nil, false, false, nil
local materials = function(x, y) return 1 + 0.5 * sin(0.3 * x) * cos(0.2 * y) end
most = 2 hole = true
local deep, regions = #size == 3, { all(law.insulated {}) }
local function paint(name, what)
  if not periodic:find(name:sub(1, 1)) then regions[#regions + 1] = face(name, what) end
end
if not loose then
  paint('x-', law.fixed { function(x, y) return 1 + sin(0.1 * y) end })
  paint('x+', law.convective { h = 0.4, ambient = 2 })
  paint('y-', law.flux { 0.2 })
  paint('y+', law.fixed { 0.5 })
  if deep then paint('z+', law.convective { h = 0.3, ambient = 0.5 }) end
end
if hole then regions[#regions + 1] = { name = 'hole', law = law.fixed { 3 },
  where = shape.ball { centre = deep and { 11, 7, 5 } or { 21, 10 }, radius = 4.3 } } end
local axes = {}
for axis in periodic:gmatch '.' do axes[#axes + 1] = axis end
if #axes == #size then table.remove(regions, 1) end
return sel.poisson { size = size, dx = dx, layout = layout, periodic = axes,
  method = method, coefficient = c, regions = regions, max_iterations = most,
  rhs = function(x, y)
    return loose and cos(2 * pi * x / size[1]) or sin(0.3 * x) * cos(0.2 * y) end,
  initial = { potential = function(x) return cos(x) end } }
