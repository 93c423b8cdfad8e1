-- Potential and field around two conductors in a dielectric, in SI units, in a plane: a coaxial
-- line of inner radius a and outer radius b, or, with line = "pair", two wires of radius a whose
-- middles are b apart in a box of insulating walls.
--
-- Shows: charge and capacitance from the flux through a conductor's surface, per metre of line,
-- which is balance.in_inner in run.json: C = Q / U, exactly 2 pi eps / log(b / a) for the coaxial
-- line, and pi eps / acosh(b / 2a) for a pair in the open, which a box of `room` distances comes
-- near to. Both are in run.json.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  line    = { "coaxial", "the conductors", choices = { "coaxial", "pair" } },
  a       = { 1, "inner radius, or that of a wire, mm", min = 1e-6 },
  b       = { 3, "outer radius, or the distance of the wires' middles, mm", min = 1e-6 },
  epsilon = { 2.25, "relative permittivity of the dielectric", min = 1 },
  U       = { 100, "voltage, V" },
  cells   = { 32, "cells along a", integer = true, min = 2 },
  room    = { 6, "side of the box of a pair, in distances", min = 2 },
}

local mm, eps0 = 1e-3, 8.8541878128e-12
local a, b, eps = p.a * mm, p.b * mm, p.epsilon * eps0
local dx = a / p.cells
local coaxial = p.line == "coaxial"
local half = math.ceil((coaxial and b or p.room * b / 2) / dx) + 1
local n, middle = 2 * half, half * dx

local regions
if coaxial then
  regions = {
    { name = "faces", where = shape.faces, law = law.fixed { 0 } },
    { name = "outer", where = shape.box { min = { 0, 0 }, max = { n * dx, n * dx } }
      - shape.ball { centre = { middle, middle }, radius = b }, law = law.fixed { 0 } },
    { name = "inner", where = shape.ball { centre = { middle, middle }, radius = a },
      law = law.fixed { p.U } },
  }
else
  local function wire(side) return
    shape.ball { centre = { middle + side * b / 2, middle }, radius = a } end
  regions = {
    { name = "faces", where = shape.faces, law = law.insulated {} },
    { name = "outer", where = wire(-1), law = law.fixed { -p.U / 2 } },
    { name = "inner", where = wire(1), law = law.fixed { p.U / 2 } },
  }
end

return sel.poisson {
  size = { n, n }, dx = dx, coefficient = eps, rhs = 0, regions = regions,
  output = {
    out.balance { every = 1 },
    out.profile { name = "line", field = { "potential", "gradient" },
      from = { middle + (coaxial and a or 0), middle },
      to = { middle + (coaxial and b or b / 2 - a), middle } },
    out.picture { field = "potential" },
    out.vtk { fields = { "potential", "gradient" } },
  },
  hooks = { { at = "end", call = function(run)
    run:result("exact_capacitance",
      coaxial and 2 * math.pi * eps / math.log(b / a)
      or math.pi * eps / math.log(b / (2 * a) + math.sqrt((b / (2 * a)) ^ 2 - 1)))
  end } },
}
