-- rollers.lua -- two closed cavities with interpolated walls, one with a cylinder that turns, one
-- with a ball in a force; what interpolation takes of their mass is returned to each.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
  collision = { "trt", "operator" }, steps = { 200, "steps", integer = true },
  precision = { "f32", "f32 or f64" },
  save = { 0, "steps between checkpoints; 0: none", integer = true },
}
local list = {
  out.vtk { fields = { "velocity", "stress", "wall_shear", "y_plus" }, every = 80 },
  out.wall { region = "roller", every = 40,
    field = { "wall_shear", "y_plus", "wall_normal", "wall_area" } },
  out.balance { every = 30 },
  out.force { name = "roller", region = "roller", centre = { 6.2, 6.3, 6 }, every = 3 },
  out.force { name = "ball", region = "ball", every = 7 },
}
if p.save > 0 then list[#list + 1] = out.checkpoint { every = p.save } end
local function wall(velocity) return law.wall { scheme = "interpolated", velocity = velocity } end
return sel.lbm {
  lattice = "D3Q19", size = { 26, 14, 12 }, precision = p.precision, nu = 0.02,
  collision = p.collision, periodic = { "z" },
  acceleration = { function(x, y, z, t)
    return 1e-5 * (1 + 0.5 * math.sin(t / 10 + x)), 0, 1e-6
  end },
  regions = {
    { name = "sides", where = shape.faces, law = law.wall {} },
    { name = "between", where = shape.box { min = { 12, 0, 0 }, max = { 14, 14, 12 } },
      law = law.wall {} },
    { name = "roller",
      where = shape.cylinder { from = { 6.2, 6.3, -1 }, to = { 6.2, 6.3, 13 }, radius = 3.3 },
      law = wall(function(x, y, t)
        local rate = 0.01 * math.cos(t / 40)
        return -rate * (y - 6.3), rate * (x - 6.2), 0.01
      end) },
    { name = "ball", where = shape.ball { centre = { 19.6, 7.2, 6.1 }, radius = 3.4 },
      law = wall() },
  },
  stop = { steps = p.steps },
  output = list,
}
