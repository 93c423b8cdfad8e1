-- A cylinder in a free stream at Re 100: the vortex street without walls and without sound.
return {
  about = "A cylinder in a free stream at Re 100, 16 cells per diameter with an interpolated "
    .. "wall, 40 diameters wide and 60 long, far field at the sides and the inlet, absorbing "
    .. "outlet, with trt; forces of the "
    .. "last 10 of 60 periods. The references are common values for wide domains.",
  slow_on_cpu = "a quarter of an hour",
  run = function(c)
    local run = c:run("free_cylinder", { collision = "trt" })
    local r = run.results
    local drag = run:csv("drag")
    c:gate { "amplitude of cd", computed = (r["drag.cd_max"] - r["drag.cd_min"]) / 2,
        reference = 0.009,
      within = 0.002 }
    c:gate { "rms of cl", computed = r["drag.cl_rms"], reference = 0.235, within = 0.015 }
    c:gate { "Strouhal number", computed = r["drag.strouhal"], reference = 0.166, within = 0.003 }
    c:plot { title = "lift coefficient in time", x = "step", y = "cl",
      lines = { { "cl", drag.step, drag.cl } } }
  end,
}
