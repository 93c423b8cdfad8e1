-- storm.lua -- rain, soil, a source and a tide that vary, with the outputs that sel.aqua has.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { steps = {400, "steps", integer = true}, precision = { "f32", "f32 or f64" }, save = { 0, "steps between checkpoints; 0: none", integer = true }, scheme={ "gather", "scheme" } }
local list = {
    out.vtk { fields = {"depth","max_depth","arrival_time"}, every = 80 },
    out.average { fields = {"depth"}, every = 10 },
    out.balance { every = 30 },
    out.probe { field = "level", at = {30,8}, every = 13 },
    out.reduce { field = "depth", op="sum", every = 11 },
    out.flux { name="rate", region = "sea", every = 9 },
    out.flux { name="line", across = {{20,0},{20,40}}, every = 9 },
    out.picture { field = "depth", relief="ground", every = 150 },
    out.grid { field = "depth", every = 200, format="tif" },
}
if p.save > 0 then list[#list+1] = out.checkpoint { every = p.save } end
return sel.aqua {
  size = {40, 40}, dx = 1, dt = 0.5, precision = p.precision, scheme = p.scheme,
  ground = function(x,y) return 5 + 0.02*x + 0.5*math.sin(x/4)*math.cos(y/5) end,
  alpha = function(x, y) return 0.3 + 0.01*x end,
  controls = { storm = 40 },
  initial = { depth = function(x,y) return math.max(0, 0.2 - 0.01*x) end },
  rain = function(x,y,t,storm) return storm*math.max(0,1-t/150)*(x<20 and 1 or 2) end,
  infiltration = 3,
  sources = { { at = {30,30}, discharge = function(t) return 0.05*math.min(1,t/50) end } },
  regions = {
    { name = "sea", where = shape.face "x-", law = law.level { function(t) return 5.2+0.1*math.sin(t/20) end } },
    { name = "out", where = shape.face "y+", law = law.open {} },
    { name = "rest", where = shape.rest, law = law.wall {} },
    { name = "house", where = shape.box { min={10,10}, max={14,15} }, law = law.wall {} },
  },
  stop = { steps = p.steps, steady = 1.1e-5, every = 70 },
  hooks = { { every = 60, call = function(run)
    run.state.last = run:reduce("depth","mean")
    if run.step == 180 then run:set("storm", 60) end
    run:result("last", run.state.last) end } },
  output = list,
}
