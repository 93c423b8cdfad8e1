-- Couette flow between cylinders with interpolated walls: order of the velocity, torque, mass.
return {
  about = "Couette flow between cylinders, the inner one turns: rms error of the velocity and of "
    .. "the torque over four centres on and off the lattice, with interpolated walls.",
  run = function(c)
    local centres = { { 0, 0 }, { 0.5, 0.5 }, { 0.13, 0.37 }, { 0.41, 0.22 } }
    local function errors(tau, R)
      local velocity, torque, mass = 0, 0, 0
      for _, at in ipairs(centres) do
        local run = c:run("couette_rotating", { R = R, tau = tau, cx = at[1], cy = at[2] })
        velocity = velocity + run.results.velocity_error ^ 2 / #centres
        torque = torque + run.results.torque_error ^ 2 / #centres
        mass = math.max(mass, math.abs(run.results["balance.error"]) / run.results["balance.mass"])
      end
      c:gate { ("tau %g, radius %d: mass that the balance does not explain"):format(tau, R),
        computed = mass, reference = 0, within = 1e-10 }
      return math.sqrt(velocity), math.sqrt(torque)
    end
    local function slope(points) -- of the straight line that fits best
      local x, y, xx, xy, n = 0, 0, 0, 0, #points
      for _, at in ipairs(points) do
        x, y, xx, xy = x + at[1], y + at[2], xx + at[1] ^ 2, xy + at[1] * at[2]
      end
      return (n * xy - x * y) / (n * xx - x * x)
    end
    local cases = {
      { tau = 0.8, order = 1.9, torque = 0.001, radii = { 16, 24, 32, 48 } },
      { tau = 0.56, order = 1.65, torque = 0.004, radii = { 16, 24, 32 } },
    }
    for _, case in ipairs(cases) do
      local points, at_32 = {}, nil
      for _, R in ipairs(case.radii) do
        local velocity, torque = errors(case.tau, R)
        points[#points + 1] = { math.log(R), math.log(velocity) }
        at_32 = R == 32 and torque or at_32
      end
      c:gate { ("tau %g: order of the velocity, radius %d to %d"):format(case.tau, case.radii[1],
        case.radii[#case.radii]), computed = -slope(points), at_least = case.order }
      c:gate { ("tau %g, radius 32: torque"):format(case.tau), computed = at_32, reference = 0,
        within = case.torque }
    end
  end,
}
