-- DFG 2D-1: drag, lift and pressure drop of a cylinder at Re 20.
return {
  about = "Schaefer and Turek (1996), case 2D-1: a cylinder in a channel at Re 20, 20 cells per "
    .. "diameter, with interpolated walls. What falls with the square of the velocity on the "
    .. "lattice is compressibility; the values are extrapolated from two velocities. The tight "
    .. "values are later high-resolution ones.",
  run = function(c)
    local reference = c:reference("cylinder2d_schaefer_turek_2d1.csv")
    local value = {}
    for i, kind in ipairs(reference.kind) do
      if kind == "later" then
        value[reference.quantity[i]] = reference.lower[i]
      end
    end
    local lines, time = {}, nil
    local function forces(collision, u)
      local run = c:run("cylinder2d", { D = 20, case = "2D-1", collision = collision, u = u })
      local drag, ends = run:csv("drag"), run:csv("ends")
      local last, name = #ends.step, ("%s, u = %g"):format(collision, u)
      lines[#lines + 1], time = { name, drag.time, drag.cd }, drag.time[#drag.time]
      return { cd = drag.cd[#drag.cd], cl = drag.cl[#drag.cl],
        dp = ends.pressure_1[last] - ends.pressure_2[last] }
    end
    local fast, slow = forces("hybrid", 0.05), forces("hybrid", 0.025)
    c:gate { "drag coefficient, u = 0.05", computed = fast.cd, reference = value.cd,
      within = 0.015, relative = true }
    for _, gate in ipairs { { "cd", 0.005 }, { "cl", 0.03 }, { "dp", 0.01 } } do
      local name, within = gate[1], gate[2]
      c:gate { name .. ", u to 0", computed = (4 * slow[name] - fast[name]) / 3,
        reference = value[name], within = within, relative = true }
    end
    c:gate { "trt, drag coefficient, u = 0.05", computed = forces("trt", 0.05).cd,
      reference = value.cd, within = 0.02, relative = true }
    c:plot { title = "drag coefficient in time", x = "time (s)", y = "cd", lines = lines,
      points = { { "reference", { time }, { value.cd } } } }
  end,
}
