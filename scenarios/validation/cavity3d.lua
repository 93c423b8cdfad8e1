-- The lid-driven cube against Albensoeder and Kuhlmann (2005) and an independent computation.
local v = ...

return {
  about = "Lid-driven cube, profiles through the centre. Re 1000: Albensoeder and Kuhlmann (2005), "
    .. "J. Comput. Phys. 206: 536, and a check that the flow is not that of the square cavity. Re "
    .. "100 and 400: extrapolated values of an independent computation, not literature. With the "
    .. "default operator and with trt.",
  slow_on_cpu = "about two hours",
  run = function(c)
    local lines_u, points_u, lines_v, points_v = {}, {}, {}, {}
    local function draw(name, p, source, ys, us, xs, vs)
      lines_u[#lines_u + 1] = { name, p.y, p.u }
      lines_v[#lines_v + 1] = { name, p.x, p.v }
      points_u[#points_u + 1] = { name .. ", " .. source, ys, us }
      points_v[#points_v + 1] = { name .. ", " .. source, xs, vs }
    end

    local cube_u = c:reference("cavity3d_albensoeder2005_re1000_u_vertical.csv")
    local cube_v = c:reference("cavity3d_albensoeder2005_re1000_v_horizontal.csv")
    local square = c:reference("cavity2d_ghia1982_u_vertical.csv")
    local extrema = c:reference("cavity3d_independent_extrema.csv")
    local function profiles(N, Re, U, collision)
      local run = c:run("cavity3d", { N = N, Re = Re, U = U, collision = collision })
      return v.cavity_profiles(run, N, U)
    end
    for _, collision in ipairs { "hybrid", "trt" } do
      local prefix = collision == "hybrid" and "" or collision .. ", "
      local p = profiles(64, 1000, 0.1, collision)
      c:gate { prefix .. "Re 1000, 64 cells: rms u - Albensoeder", reference = 0, within = 0.010,
        computed = v.rms(v.differences(p.at_y, cube_u.y, cube_u.u_cube)) }
      c:gate { prefix .. "Re 1000, 64 cells: rms v - Albensoeder", reference = 0, within = 0.020,
        computed = v.rms(v.differences(p.at_x, cube_v.x, cube_v.v_cube)) }
      c:gate { prefix .. "Re 1000: rms u - square cavity", at_least = 0.05,
        computed = v.rms(v.differences(p.at_y, square.y, square.u_Re1000)) }
      draw(prefix .. "Re 1000", p, "Albensoeder", cube_u.y, cube_u.u_cube, cube_v.x, cube_v.v_cube)
      local N = 96
      for i, Re in ipairs(extrema.Re) do
        p = profiles(N, Re, 0.05, collision)
        local here = { u_min = v.extremes(p.at_y, 0, 1) }
        here.v_min, here.v_max = v.extremes(p.at_x, 0, 1)
        for _, name in ipairs { "u_min", "v_max", "v_min" } do
          c:gate { ("%sRe %d, %d cells: %s"):format(prefix, Re, N, name), computed = here[name],
            reference = extrema[name][i], within = 0.015, relative = true }
        end
        local other = c:reference(("cavity3d_independent_re%d.csv"):format(Re))
        draw(prefix .. "Re " .. Re, p, "independent", other.s, other.u_ext, other.s, other.v_ext)
      end
    end
    c:plot { title = "cube: u on the vertical centre line", x = "y", y = "u / U", lines = lines_u,
      points = points_u }
    c:plot { title = "cube: v on the horizontal centre line", x = "x", y = "v / U",
      lines = lines_v, points = points_v }
  end,
}
