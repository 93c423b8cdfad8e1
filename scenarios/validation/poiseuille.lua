-- The forced channel: TRT 3/16 gives the parabola in every cell, BGK slips by a known law.
return {
  about = "Plane Poiseuille flow by acceleration. With TRT and the magic number 3/16 the parabola "
    .. "is exact in every cell; BGK slips by (16 Lambda - 3)/12 in units of F/(2 nu), "
    .. "Lambda = (tau - 1/2)^2.",
  run = function(c)
    local H, u_max = 32, 0.05
    for _, tau in ipairs { 0.6, 0.8, 1.5 } do
      local p = c:run("poiseuille", { tau = tau, H = H, u_max = u_max }):last("profile")
      local b = c:run("poiseuille", { tau = tau, H = H, u_max = u_max, collision = "bgk" })
        :last("profile")
      local worst, slip, law = 0, nil, (16 * (tau - 0.5) ^ 2 - 3) / 12
      for i, y in ipairs(p.y) do
        local exact = 4 * u_max * y * (H - y) / H ^ 2
        worst = math.max(worst, math.abs(p.velocity_x[i] / exact - 1))
        local here = (b.velocity_x[i] - exact) / (4 * u_max / H ^ 2)
        if not slip or math.abs(here - law) > math.abs(slip - law) then
          slip = here
        end
      end
      c:gate { ("TRT tau %g: largest error"):format(tau), computed = worst, reference = 0,
        within = 1e-9 }
      c:gate { ("BGK tau %g: slip 2 nu/F"):format(tau), computed = slip, reference = law,
        within = 1e-6 }
    end
  end,
}
