local sel = require 'selenite'
local shape, law, out = sel.shape, sel.law, sel.out
local sin, cos, exp, log, pi = math.sin, math.cos, math.exp, math.log, math.pi
local function face(name, what) return { name = name, where = shape.face(name), law = what } end
local function all(what) return { name = 'all', where = shape.faces, law = what } end
return sel.poisson { size = { 30, 20 }, layout = 'node', tolerance = 1e-12,
rhs = function(x, y) return x - 3 * y end, regions = {
all(law.fixed { function(x) return x end }),
face('x+', law.convective { h = 1, ambient = 3 }),
{ where = shape.ball { centre = { 12, 10 }, radius = 4 }, law = law.flux { 2 } } } }
