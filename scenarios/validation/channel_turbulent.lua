-- Turbulent flow between plates on a coarse grid, at a given flow rate: friction, mean velocity,
-- Reynolds stresses. A cell has 5.6 wall units: streaks are too strong and the friction is too
-- small, by 8 per cent. A laminar flow would have a quarter of the friction.
return {
  about = "Turbulent flow between plates; the Reynolds number by mean velocity and distance of the "
    .. "plates is 5,640. J. Kim, P. Moin, R. D. Moser (1987) and R. D. Moser, J. Kim, N. N. "
    .. "Mansour (1999), where u_tau is 180 nu / delta. A coarse grid, delta = 32 cells, in a box "
    .. "of 3.2 by 1.6 delta, in single precision with the default operator.",
  slow_on_cpu = "some minutes",
  run = function(c)
    local cells, u_tau, length, width = 32, 0.01, 3.2, 1.6
    local run = c:run("channel_turbulent", { cells = cells, u_tau = u_tau, length = length,
      width = width, given = "flow", time = 24, from = 8 })
    local s, n = run:csv("statistics"), 2 * cells
    local function half(values, sign) -- the mean of both halves
      local list = {}
      for j = 1, cells do
        list[j] = (values[j] + sign * values[n + 1 - j]) / 2
      end
      return list
    end
    local g, U = run.results["drive.acceleration_mean"], run.results["drive.velocity"]
    local shear = g * cells               -- on the plates, over the density
    local friction = math.sqrt(shear)
    local u = half(s.velocity_x_mean, 1)
    local viscous = half(s.stress_xy_mean, -1)
    local covariance = half(s.velocity_x_velocity_y_covariance, -1)
    local worst, peaks = 0, {}
    for j = 1, cells do
      local total = (viscous[j] - covariance[j]) / shear
      worst = math.max(worst, math.abs(total - (1 - (j - 0.5) / cells)))
    end
    for _, axis in ipairs { "x", "y", "z" } do
      local list = s["velocity_" .. axis .. "_rms"]
      peaks[axis] = 0
      for j = 1, cells do
        local rms = math.sqrt((list[j] ^ 2 + list[n + 1 - j] ^ 2) / 2)
        peaks[axis] = math.max(peaks[axis], rms / friction)
      end
    end
    local area = math.ceil(length * cells) * math.ceil(width * cells)
    -- What holds on any grid comes first.
    c:gate { "force on the plates / that of g", reference = 1, within = 0.01,
      computed = run.results["shear.force_x_mean"] / (g * area * n) }
    c:gate { "shear stress off its line / that on the plates", computed = worst, reference = 0,
      within = 0.05 }
    c:gate { "friction coefficient", computed = 2 * shear / U ^ 2, reference = 0.00818,
      within = 0.15, relative = true }
    c:gate { "velocity in the middle / mean", computed = u[cells] / U, reference = 1.16,
      within = 0.04, relative = true }
    c:gate { "velocity in the middle / u_tau", computed = u[cells] / friction, reference = 18.3,
      within = 0.08, relative = true }
    c:gate { "largest u' / u_tau", computed = peaks.x, reference = 2.66, within = 0.2 * 2.66 }
    c:gate { "largest v' / u_tau", computed = peaks.y, reference = 0.84, within = 0.1 * 0.84 }
    c:gate { "largest w' / u_tau", computed = peaks.z, reference = 1.08, within = 0.15 * 1.08 }
  end,
}
