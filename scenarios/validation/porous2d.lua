-- Slow flow through a square array of discs against Sangani and Acrivos (1982).
return {
  about = "Permeability of a square array of discs, solid fraction 0.2: k = L^2 / 51.53. A. S. "
    .. "Sangani and A. Acrivos (1982), Int. J. Multiphase Flow 8: 193.",
  run = function(c)
    local picture = c.scenarios .. "/porous2d_square.png"
    local run = c:run("porous2d", { picture = picture })
    c:gate { "permeability", computed = run.results["pores.permeability"],
      reference = 64 ^ 2 / 51.53, within = 0.02, relative = true }
  end,
}
