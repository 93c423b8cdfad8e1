-- Coordinates of a map in rules: cells of half a metre some thousand kilometres from the origin, which floats do not
-- tell apart. `fields`: of reals and whole numbers, or of whole numbers alone.
local sel = require "selenite"
local p = sel.params { fields = { "all", "", choices = { "all", "whole", "bytes" } } }
local x0, y0 = 5881700.25, 4331204.75

local function step(c, x, y, t, dt)
  local across, up = x - x0, (y - y0) / 0.5                           -- of the place alone: exact
  local near = across < 5 and 1 or 0
  local column, row = math.floor(across / 0.5), math.floor(up)
  if p.fields == "bytes" then
    return { near = near, column = column }
  elseif p.fields == "whole" then
    return { near = near, column = column, row = row + c.row * 0 }
  end
  return { near = near, column = column, row = row, u = across, w = c.w + (up + across * dt) * t }
end

local state = { near = "u8", column = p.fields == "bytes" and "u8" or "i32" }
if p.fields ~= "bytes" then state.row = "i32" end
if p.fields == "all" then state.u, state.w = "real", "real" end
local fields = {}
for name in pairs(state) do table.insert(fields, name) end
table.insert(fields, "derived")
table.sort(fields)

local output = {}
for _, op in ipairs { "sum", "min", "max" } do
  table.insert(output, sel.out.reduce { name = op, field = fields, op = op })
end
return sel.rule {
  size = { 64, 8 }, dx = 0.5, origin = { x0, y0 }, periodic = { "x", "y" }, state = state, main = "near", dt = 0.25,
  derived = { derived = function(c, x, y) return (x - x0) + 100 * (y - y0) end },
  rule = step, stop = { steps = 4 }, output = output,
}
