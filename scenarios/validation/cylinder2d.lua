-- DFG 2D-1: drag and pressure drop of a cylinder at Re 20.
return {
  about = "Schaefer and Turek (1996), case 2D-1: a cylinder in a channel at Re 20, 40 cells per "
    .. "diameter, a staircase wall, with the default operator and with trt. The tight values are "
    .. "later high-resolution ones.",
  run = function(c)
    local reference = c:reference("cylinder2d_schaefer_turek_2d1.csv")
    local value = {}
    for i, kind in ipairs(reference.kind) do
      if kind == "later" then
        value[reference.quantity[i]] = reference.lower[i]
      end
    end
    local lines, time = {}, nil
    for _, collision in ipairs { "hybrid", "trt" } do
      local prefix = collision == "hybrid" and "" or collision .. ", "
      local run = c:run("cylinder2d", { D = 40, case = "2D-1", collision = collision })
      local drag, ends = run:csv("drag"), run:csv("ends")
      c:gate { prefix .. "drag coefficient", computed = drag.cd[#drag.cd], reference = value.cd,
        within = 0.02, relative = true }
      local last = #ends.step
      c:gate { prefix .. "pressure drop", computed = ends.pressure_1[last] - ends.pressure_2[last],
        reference = value.dp, within = 0.02, relative = true }
      lines[#lines + 1], time = { collision, drag.time, drag.cd }, drag.time[#drag.time]
    end
    c:plot { title = "drag coefficient in time", x = "time (s)", y = "cd", lines = lines,
      points = { { "reference", { time }, { value.cd } } } }
  end,
}
