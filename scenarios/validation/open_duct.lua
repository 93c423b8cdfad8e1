-- A duct and a channel from inlet to outlet with the regularized collision, over long runs.
-- Pressures at both ends leave the velocity to the flow.
local function both(c, space, cell, inlet, outlet, axis, drop)
  local run = c:run("open_duct",
    { space = space, cell = cell, inlet = inlet, outlet = outlet, steps = 20000 })
  local where = ("%s, Reynolds number of a cell %g, %s to %s"):format(
    space and "duct" or "channel", cell, inlet, outlet)
  c:gate { where .. ": velocity on the axis", computed = run.results.axis, reference = 0,
    within = axis }
  c:gate { where .. ": pressure drop", computed = run.results.drop, reference = 0, within = drop }
  return run
end

return {
  about = "Square duct and plane channel between open faces, regularized: deviations from the "
    .. "exact velocity on the axis and pressure drop, as parts.",
  run = function(c)
    for _, space in ipairs { false, true } do
      for _, cell in ipairs { 8.3, 11 } do
        local run = both(c, space, cell, "velocity", "pressure", 0.02, 0.03)
        both(c, space, cell, "velocity", "outflow", 0.02, 0.03)
        both(c, space, cell, "pressure", "pressure", 0.03, 0.03)
        both(c, space, cell, "pressure", "outflow", 0.03, 0.03)
        if space and cell == 11 then
          local axis = run:last("axis")
          c:plot { title = "pressure along the axis, Reynolds number of a cell 11", x = "x",
            y = "pressure", lines = { { "here", axis.x, axis.pressure } } }
        end
      end
      for _, cell in ipairs { 15, 20, 30 } do
        both(c, space, cell, "velocity", "pressure", 0.02, cell == 30 and 0.06 or 0.04)
      end
    end
  end,
}
