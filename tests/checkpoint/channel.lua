-- channel.lua -- a flow past a post with every kind of output, a hook that keeps a table, a
-- control.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params {
  collision = { "trt", "operator" },
  storage = { "auto", "of a cell" },
  steps = { 600, "steps", integer = true },
  precision = { "f32", "f32 or f64" },
  save = { 0, "steps between checkpoints; 0: none", integer = true },
  sponge = { 0, "cells of a sponge before the outlet" },
  nx = { 48, "cells along the channel", integer = true },
}
local list = {
    out.vtk { fields = {"velocity","pressure"}, every = 100 },
    out.average { fields = {"velocity"}, products = "velocity_x*velocity_y", every = 10 },
    out.force { region = "post", every = 7 },
    out.balance { every = 30 },
    out.probe { field = "velocity", at = {30,8}, every = 13 },
    out.profile { field = "velocity_x", from={24,0}, to={24,16}, every = 50 },
    out.reduce { field = "pressure", op="max", every = 11 },
    out.flux { name="rate", region = "outlet", every = 9 },
    out.flux { name="line", across = {{20,0},{20,16}}, every = 9 },
    out.picture { field = "velocity", scale = 0.3, every = 150 },
    out.grid { field = "pressure", every = 200, format="asc" },
}
if p.save > 0 then list[#list+1] = out.checkpoint { every = p.save } end
return sel.lbm {
  lattice = "D2Q9", size = { p.nx, 16 }, precision = p.precision, nu = 0.02,
  collision = p.collision, storage = p.storage,
  controls = { boost = 1 },
  acceleration = { function(t) return 1e-6*math.min(1,t/100) end, 0 },
  sponge = p.sponge > 0 and { where = shape.face "x+", thickness = p.sponge,
    velocity = { 0.05, 0 } } or nil,
  reference = { length = 4, velocity = 0.05 },
  regions = {
    { name = "walls", where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet", where = shape.face "x-", law = law.velocity { function(y,t,boost)
      return 0.05*boost*math.min(1,t/200), 0
    end } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
    { name = "post", where = shape.ball { centre={12,8.3}, radius=2 }, law = law.wall {} },
  },
  initial = { velocity = function(x,y) return 0.01*math.sin(x/5), 0 end },
  stop = { steps = p.steps, steady = 1e-5, every = 70 },
  hooks = { { every = 60, call = function(run)
    run.state.n = (run.state.n or 0) + 1
    run.state.list = run.state.list or {}
    run.state.list[#run.state.list+1] = run.time
    if run.step == 240 then run:set("boost", 1.2) end
    run:result("calls", run.state.n); run:result("sum", #run.state.list) end } },
  output = list,
}
