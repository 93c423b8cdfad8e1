-- A charged ball in a grounded sphere: charge, potential, cycles.
local v = ...

return {
  about = "Laplace's equation between two spheres that cut through the cells of a cube, against "
    .. "phi = A / r + B; their surfaces are staircases.",
  run = function(c)
    local run = c:run("poisson3d_mask", { N = 32 })
    local p = run:last("radius")
    local a, middle = 0.4, 33 / 32
    local function exact(x)
      return (a / (x - middle) - a) / (1 - a)
    end
    c:gate { "charge of the ball over the exact one", reference = 1, within = 0.02,
      computed = run.results["balance.in_ball"] / run.results.exact_charge }
    c:gate { "rms error of the potential along a radius", reference = 0, within = 0.01,
      computed = v.rms(v.map(p.x, function(x, i) return p.potential[i] - exact(x) end)) }
    c:gate { "Gauss's law: error of the balance", reference = 0, within = 1e-6,
      computed = run.results["balance.error"] }
    c:gate { "cycles to 1e-8", computed = run:last("balance").step[1] or 0, reference = 7,
      within = 5 }
  end,
}
