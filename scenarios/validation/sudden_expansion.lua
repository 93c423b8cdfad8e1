-- The sudden expansion of Rinaldi (2011) against an independent code.
local v = ...

return {
  about = "Sudden expansion of ratio 2, Re = 100 by the maximum velocity and twice the inlet "
    .. "height (66.7 by the mean). The references are an independent D2Q9 computation, not "
    .. "literature: 2.102 step heights at 64 cells, 2.125 at 128. With the default operator "
    .. "and with trt.",
  run = function(c)
    local u_max = 0.1
    local reference = c:reference("sudden_expansion_profiles_n64.csv")
    local lines, points = {}, {}
    for _, collision in ipairs { "hybrid", "trt" } do
      local prefix = collision == "hybrid" and "" or collision .. ", "
      local run = c:run("sudden_expansion", { H = 64, u_max = u_max, collision = collision })
      c:gate { prefix .. "64 cells: reattachment / step height", reference = 2.10, within = 0.02,
        relative = true, computed = v.reattachment(run:last("floor"), 64, 32) }
      for _, pair in ipairs { { "just_behind", "u_x1.1" }, { "middle", "u_x1.5" } } do
        local p = run:last(pair[1])
        local u = v.map(p.velocity_x, function(value) return value / u_max end)
        local difference = v.map(u, function(value, i) return value - reference[pair[2]][i] end)
        c:gate { prefix .. pair[2] .. ": rms difference", computed = v.rms(difference),
          reference = 0, within = 0.01 }
        lines[#lines + 1] = { prefix .. pair[2], v.map(p.y, function(y) return y / 64 end), u }
        if collision == "hybrid" then
          points[#points + 1] = { pair[2] .. ", independent", reference.y, reference[pair[2]] }
        end
      end
      local balance = run:csv("balance")
      local last = #balance.step
      c:gate { prefix .. "mass out / mass in", reference = 1, within = 1e-4,
        computed = -balance.rate_outlet[last] / balance.rate_inlet[last] }
      local fine = c:run("sudden_expansion",
        { H = 128, u_max = u_max, ramp = 20000, collision = collision })
      c:gate { prefix .. "128 cells: reattachment / step height", reference = 2.125,
        within = 0.015, relative = true, computed = v.reattachment(fine:last("floor"), 128, 64) }
    end
    c:plot { title = "u behind the step", x = "y / H", y = "u / u_max", lines = lines,
      points = points }
  end,
}
