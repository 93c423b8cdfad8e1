-- A hook looks at the run between steps: this one ends it when a probe no longer changes.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local H = 32

local function watch(run)
  local u = run:probe("velocity_x", { 3 * H, H / 2 })
  local before = run.state.u                        -- run.state is kept between calls
  run.state.u = u
  if before and math.abs(u - before) < 1e-4 * math.abs(u) then
    run:result("centre_velocity", u)                -- goes to run.json
    run:stop("the probe is steady")
  end
end

local function push(t, drive)                       -- drive is a control, below
  return drive * sel.ramp(t, 3000), 0
end

return sel.lbm {
  lattice  = "D2Q9",
  size     = { 4 * H, H },
  nu       = 0.1,
  controls = { drive = 0.05 },
  regions  = {
    { name = "walls",  where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",  where = shape.face "x-", law = law.velocity { push } },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
  },
  stop   = { steps = 20000 },
  hooks  = {
    { every = 100, call = watch },
    { at = "end", call = function(run) run:log("ended at step " .. run.step) end },
  },
  output = { out.vtk { fields = { "velocity", "pressure" } } },
}
