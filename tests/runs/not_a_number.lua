-- The root of a number below 0 in one cell from step 3 on: what out.reduce and run:reduce say of it, of the other
-- component and of a box without it.
local sel = require "selenite"
local p = sel.params { ny = 8 }
local output, box = {}, sel.shape.box { min = { 4, 0 }, max = { 12, p.ny } }
for _, op in ipairs { "sum", "min", "max", "mean", "l2" } do
  table.insert(output, sel.out.reduce { name = op, field = { "u", "q_x", "q_y" }, op = op, every = 1 })
  table.insert(output, sel.out.reduce { name = op .. "_apart", field = "u", op = op, within = box, every = 1 })
end
return sel.rule {
  size = { 12, p.ny }, periodic = { "x", "y" }, state = { u = "real", q = "vector" }, initial = { u = 2, q = { 1, 3 } },
  rule = function(c, x, y, t)
    local u = (x < 1 and y < 1 and t > 2) and math.sqrt(1 - c.u) or c.u
    return { u = u, q_x = u / 2, q_y = c.q_y }
  end,
  hooks = { { every = 1, call = function(run)
    run:log(("%d: %.9g to %.9g"):format(run.step, run:reduce("u", "min"), run:reduce("u", "max")))
  end } },
  stop = { steps = 5 }, output = output,
}
