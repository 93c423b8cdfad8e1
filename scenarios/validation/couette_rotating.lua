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
    for _, gates in ipairs { { 0.8, 1.9, 0.001 }, { 0.56, 1.65, 0.004 } } do
      local tau, order, within = table.unpack(gates)
      local coarse = errors(tau, 16)
      local fine, torque = errors(tau, 32)
      c:gate { ("tau %g: order of the velocity"):format(tau), computed = math.log(coarse / fine, 2),
        reference = 2.1, within = 2.1 - order }
      c:gate { ("tau %g, radius 32: torque"):format(tau), computed = torque, reference = 0,
        within = within }
    end
  end,
}
