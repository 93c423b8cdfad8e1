-- What collision operators hold on coarse cells: twice the Reynolds numbers of a cell of which
-- `check` warns, from a start at once. A run that diverges ends the case.
local limits = { -- half of it: LBM_CELL_REYNOLDS in engine/solvers/lbm/lbm.h
  trt         = { cavity = { 26, 26 }, open = { 10, 6 } },
  bgk         = { cavity = { 14, 14 }, open = { 4, 2 } },
  regularized = { cavity = { 20, 18 }, open = { 44, 30 } },
  recursive   = { cavity = { 80, 40 }, open = { 200, 200 } },
  hybrid      = { cavity = { 200, 50 }, open = { 200, 200 } },
}

return {
  about = "Largest Reynolds numbers of a cell that 20,000 steps hold, by collision operator: "
    .. "lid-driven cavity, duct and bar in a stream.",
  run = function(c)
    local function holds(collision, case, space, cell)
      local run = case == "duct"
        and c:run("open_duct", { collision = collision, space = space, cell = cell })
        or c:run("cell_reynolds",
          { case = case, collision = collision, space = space, cell = cell })
      local computed, reference, within = run.results.largest, 2, 2
      if case == "duct" then
        computed, reference, within = run.results.axis, 0, 0.05
      end
      c:gate { ("%s, %s, %s, %g: %s"):format(collision, case, space and "3-D" or "2-D", cell,
        case == "duct" and "deviation of the velocity on the axis" or "largest velocity"),
        computed = computed, reference = reference, within = within }
    end
    for _, collision in ipairs { "trt", "bgk", "regularized", "recursive", "hybrid" } do
      local held = limits[collision]
      for k, space in ipairs { false, true } do
        holds(collision, "cavity", space, held.cavity[k])
        holds(collision, "duct", space, held.open[k])
        holds(collision, "bar", space, held.open[k])
      end
    end
  end,
}
