-- A flow past rods that is held at a flow rate: the acceleration follows the mean velocity.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  steps = { 150, "steps", integer = true },
  save = { 0, "steps between checkpoints; 0: none", integer = true },
}

local outputs = {
  out.balance { every = 5 },
  out.force { region = "rod", every = 3 },
  out.pores { axis = "y", every = 6 },
  out.vtk { fields = { "velocity" }, every = 50 },
}
if p.save > 0 then outputs[#outputs + 1] = out.checkpoint { every = p.save } end

return sel.lbm {
  lattice = "D2Q9", size = { 30, 24 }, tau = 0.6, periodic = { "x", "y" },
  regions = {
    { name = "rod", where = shape.ball { centre = { 15, 12 }, radius = 5 }, law = law.wall {} },
  },
  drive = { flow = 0.4, axis = "y", every = 7, from_step = 50 },
  acceleration = { 1e-6, 0 },
  stop = { steps = p.steps },
  output = outputs,
}
