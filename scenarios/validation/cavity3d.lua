-- The lid-driven cube against Albensoeder and Kuhlmann (2005) and an independent computation.
local v = ...

return {
  about = "Lid-driven cube, profiles through the centre. Re 1000: Albensoeder and Kuhlmann (2005), "
    .. "J. Comput. Phys. 206: 536, and a check that the flow is not that of the square cavity. Re "
    .. "100 and 400: extrapolated values of an independent computation, not literature.",
  slow_on_cpu = "about an hour",
  run = function(c)
    local lines_u, points_u, lines_v, points_v = {}, {}, {}, {}
    local function draw(name, p, source, ys, us, xs, vs)
      lines_u[#lines_u + 1] = { name, p.y, p.u }
      lines_v[#lines_v + 1] = { name, p.x, p.v }
      points_u[#points_u + 1] = { name .. ", " .. source, ys, us }
      points_v[#points_v + 1] = { name .. ", " .. source, xs, vs }
    end

    local U = 0.1
    local p = v.cavity_profiles(c:run("cavity3d", { N = 64, Re = 1000, U = U }), 64, U)
    local cube_u = c:reference("cavity3d_albensoeder2005_re1000_u_vertical.csv")
    local cube_v = c:reference("cavity3d_albensoeder2005_re1000_v_horizontal.csv")
    c:gate { "Re 1000, 64 cells: rms u - Albensoeder", reference = 0, within = 0.010,
      computed = v.rms(v.differences(p.at_y, cube_u.y, cube_u.u_cube)) }
    c:gate { "Re 1000, 64 cells: rms v - Albensoeder", reference = 0, within = 0.020,
      computed = v.rms(v.differences(p.at_x, cube_v.x, cube_v.v_cube)) }
    local square = c:reference("cavity2d_ghia1982_u_vertical.csv")
    c:gate { "Re 1000: rms u - square cavity", at_least = 0.05,
      computed = v.rms(v.differences(p.at_y, square.y, square.u_Re1000)) }
    draw("Re 1000", p, "Albensoeder", cube_u.y, cube_u.u_cube, cube_v.x, cube_v.v_cube)

    local N, slow = 96, 0.05
    local extrema = c:reference("cavity3d_independent_extrema.csv")
    for i, Re in ipairs(extrema.Re) do
      p = v.cavity_profiles(c:run("cavity3d", { N = N, Re = Re, U = slow }), N, slow)
      local here = { u_min = v.extremes(p.at_y, 0, 1) }
      here.v_min, here.v_max = v.extremes(p.at_x, 0, 1)
      for _, name in ipairs { "u_min", "v_max", "v_min" } do
        c:gate { ("Re %d, %d cells: %s"):format(Re, N, name), computed = here[name],
          reference = extrema[name][i], within = 0.015, relative = true }
      end
      local other = c:reference(("cavity3d_independent_re%d.csv"):format(Re))
      draw("Re " .. Re, p, "independent", other.s, other.u_ext, other.s, other.v_ext)
    end
    c:plot { title = "cube: u on the vertical centre line", x = "y", y = "u / U", lines = lines_u,
      points = points_u }
    c:plot { title = "cube: v on the horizontal centre line", x = "x", y = "v / U",
      lines = lines_v, points = points_v }
  end,
}
