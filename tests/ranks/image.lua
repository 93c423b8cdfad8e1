-- image.lua -- a body whose image all ranks write: plain, compressed, rounded, coarse, in part.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { steps = 40, layout = "cell" }
local all = { "temperature", "flux", "flux_y" }
return sel.heat {
  size = { 211, 150 }, diffusivity = 1, dt = 0.2, precision = "f64", layout = p.layout,
  source = function(x, y, t) return math.sin(0.1 * x + t) * math.cos(0.07 * y) end,
  regions = {
    { name = "walls", where = shape.faces, law = law.fixed { 0 } },
    { name = "body", where = shape.ball { centre = { 100, 70 }, radius = 30 }, law = law.fixed { 1 } },
  },
  stop = { steps = p.steps },
  output = {
    out.vtk { name = "plain", fields = all, every = 20 },
    out.vtk { name = "packed", fields = all, every = 20, compression = "zlib" },
    out.vtk { name = "rounded", fields = all, compression = "zlib", level = 6, digits = 3 },
    out.vtk { name = "coarse", fields = all, stride = 7, precision = "f32" },
    out.vtk { name = "part", fields = all, stride = 2, compression = "zlib",
              within = shape.box { min = { 3, 100 }, max = { 200, 148 } } },
    out.vtk { name = "line", fields = all,
              within = shape.box { min = { 0, 70 }, max = { 211, 71 } } },
  },
}
