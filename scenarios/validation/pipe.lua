-- Flow in a round pipe with an interpolated wall: flow rate, velocity, and their order; amplitude
-- and phase of the flow rate of an oscillating flow.
return {
  about = "Flow in a round pipe, whose wall is interpolated and whose axis lies off the lattice: "
    .. "steady (Hagen and Poiseuille), and oscillating with the acceleration (Womersley), at a "
    .. "radius of 16 cells where no other is named. With the default operator.",
  run = function(c)
    for _, tau in ipairs { 0.56, 0.8 } do
      local velocity = {}
      for i, within in ipairs { 0.002, 0.0005 } do
        local R = 16 * i
        local results = c:run("pipe", { R = R, tau = tau }).results
        local name = ("tau = %g, radius %g: "):format(tau, R)
        c:gate { name .. "flow rate / exact", computed = results.flow, reference = 1,
          within = within }
        velocity[i] = results.velocity_error
      end
      c:gate { ("tau = %g: order of the velocity"):format(tau), at_least = 1.8,
        computed = math.log(velocity[1] / velocity[2], 2) }
    end
    for _, Wo in ipairs { 4, 8 } do
      for _, tau in ipairs { 0.56, 0.8 } do
        local results = c:run("pipe", { Wo = Wo, tau = tau }).results
        local name = ("Wo %g, tau = %g: "):format(Wo, tau)
        c:gate { name .. "amplitude / exact", computed = results.flow, reference = 1,
          within = 0.002 }
        c:gate { name .. "phase, degrees", computed = results.phase,
          reference = results.exact_phase, within = 0.1 }
      end
    end
  end,
}
