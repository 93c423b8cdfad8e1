-- The lid-driven cube at Re 1000 on 128 cells a side.
local v = ...

return {
  about = "Lid-driven cube at Re 1000 on 128^3 cells against Albensoeder and Kuhlmann (2005), "
    .. "J. Comput. Phys. 206: 536.",
  slow_on_cpu = "about an hour and a half",
  run = function(c)
    local N, U = 128, 0.1
    local p = v.cavity_profiles(c:run("cavity3d", { N = N, Re = 1000, U = U }), N, U)
    local u = c:reference("cavity3d_albensoeder2005_re1000_u_vertical.csv")
    local w = c:reference("cavity3d_albensoeder2005_re1000_v_horizontal.csv")
    c:gate { "rms u - Albensoeder", reference = 0, within = 0.003,
      computed = v.rms(v.differences(p.at_y, u.y, u.u_cube)) }
    c:gate { "rms v - Albensoeder", reference = 0, within = 0.006,
      computed = v.rms(v.differences(p.at_x, w.x, w.v_cube)) }
    c:plot { title = "cube, 128 cells: u on the vertical centre line", x = "y", y = "u / U",
      lines = { { "here", p.y, p.u } }, points = { { "Albensoeder", u.y, u.u_cube } } }
    c:plot { title = "cube, 128 cells: v on the horizontal centre line", x = "x", y = "v / U",
      lines = { { "here", p.x, p.v } }, points = { { "Albensoeder", w.x, w.v_cube } } }
  end,
}
