-- A ball in a stream between periodic sides: of triangles (mesh = FILE) or exact.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { mesh = "", scale = 1.0, r = 5.3 }
local centre = { 14.2, 12.1, 11.9 }
local exact = shape.ball { centre = centre, radius = p.r }
local body = exact
if p.mesh ~= "" then
  body = shape.mesh { file = p.mesh, scale = p.scale, offset = centre }
end
return sel.lbm {
  lattice = "D3Q19", size = { 32, 24, 24 }, tau = 0.6, periodic = { "y", "z" },
  regions = {
    { where = shape.face "x-", law = law.velocity { 0.05, 0, 0 } },
    { where = shape.face "x+", law = law.pressure { 0 } },
    { name = "ball", where = body, law = law.wall { scheme = "interpolated" } },
  },
  stop = { steps = 300 },
  output = { out.force { region = "ball", every = 100 } },
}
