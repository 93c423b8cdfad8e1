-- box.lua -- a moving lid, a force field and eddies in three dimensions.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
    collision = { "trt", "operator" },
    scheme = { "auto", "of the lid and the floor" },
    steps = { 200, "steps", integer = true },
    precision = { "f32", "f32 or f64" },
    save = { 0, "steps between checkpoints; 0: none", integer = true },
}
local list = {
    out.vtk { fields = {"velocity","stress","dissipation"}, every = 80, compression="zlib" },
    out.average { fields = {"velocity","strain_rate"}, every = 10 },
    out.average { name = "rows", fields = {"velocity"}, products = "velocity_x*velocity_y",
                  over = {"x","z"}, every = 10 },
    out.spectrum { field = {"velocity","pressure"}, at = { {4,3,3}, {12.3,6.1,9} },
                   windows = 2, every = 2 },
    out.balance { every = 30 },
    out.force { region="ball", every = 3 },
    out.reduce { field = "vorticity", op="l2", every = 11 },
    out.picture { field = "velocity", slice={z=6}, every = 150 },
}
if p.save > 0 then list[#list+1] = out.checkpoint { every = p.save } end
return sel.lbm {
  lattice = "D3Q19", size = {16,12,12}, precision = p.precision, nu=0.02, collision = p.collision,
  periodic = {"x","z"}, smagorinsky=0.1,
  acceleration = { function(x,y,z,t) return 1e-5*(1+0.5*math.sin(t/10+x)), 0, 1e-6 end },
  regions = {
    { name = "lid", where = shape.face "y+",
      law = law.wall { velocity = function(x,t) return 0.03*math.sin(t/30), 0, 0.01 end,
                       scheme = p.scheme } },
    { name = "floor", where = shape.face "y-", law = law.wall { scheme = p.scheme } },
    { name = "ball", where = shape.ball { centre={8,6,6}, radius=2.2 }, law = law.wall {} },
  },
  stop = { steps = p.steps },
  output = list,
}
