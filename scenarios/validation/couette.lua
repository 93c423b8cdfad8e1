-- The straight profile between a fixed and a moving wall.
return {
  about = "Couette flow: half-way walls that move give the straight profile to round-off.",
  run = function(c)
    for _, tau in ipairs { 0.6, 1.5 } do
      local p = c:run("couette", { tau = tau, H = 32, U = 0.1 }):last("profile")
      local worst = 0
      for i, y in ipairs(p.y) do
        worst = math.max(worst, math.abs(p.velocity_x[i] / (0.1 * y / 32) - 1))
      end
      c:gate { ("tau %g: largest error"):format(tau), computed = worst, reference = 0,
        within = 1e-9 }
    end
  end,
}
