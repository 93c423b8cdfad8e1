-- Force on a body: drag and lift of a small cylinder, with their mean and the vortices' frequency.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local D, U = 12, 0.04                               -- diameter and mean velocity
local H = 41 * D // 10                              -- off the middle, so that vortices soon begin

local function inflow(y, t)
  local s = y / H
  return 1.5 * U * sel.ramp(t, 8000) * 4 * s * (1 - s), 0
end

return sel.lbm {
  lattice   = "D2Q9",
  size      = { 22 * D, H },
  nu        = U * D / 100,
  reference = { length = D, velocity = U },         -- makes cd, cl and the Strouhal number
  regions   = {
    { name = "walls",    where = shape.face "y-" + shape.face "y+", law = law.wall {} },
    { name = "inlet",    where = shape.face "x-", law = law.velocity { inflow } },
    { name = "outlet",   where = shape.face "x+", law = law.outflow {} },    -- lets sound out
    { name = "cylinder", where = shape.ball { centre = { 2 * D, 2 * D }, radius = D / 2 },
                         law = law.wall {} },
  },
  stop   = { steps = 36000 },
  output = {
    out.force   { region = "cylinder", centre = { 2 * D, 2 * D }, every = 20, from_step = 26000 },
    out.flux    { region = "outlet", every = 100 },
    out.flux    { name = "wake", across = { { 4 * D, H }, { 4 * D, 0 } }, every = 100 },
  },
}
