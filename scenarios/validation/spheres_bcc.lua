-- Slow flow past body-centred cubic spheres with interpolated walls: drag against the series of
-- Sangani and Acrivos.
return {
  about = "Drag of spheres in a body-centred cubic array, 32 cells per diameter, with interpolated "
    .. "walls, against the series of Sangani and Acrivos (1982).",
  run = function(c)
    for _, case in ipairs { { 0.2, 0.8, 0.005 }, { 0.4, 0.8, 0.008 }, { 0.4, 0.56, 0.01 },
      { 0.4, 1, 0.01 } } do
      local solid, tau, within = table.unpack(case)
      local run = c:run("spheres_bcc", { solid = solid, tau = tau })
      c:gate { ("drag, solid fraction %g, tau = %g"):format(solid, tau),
        computed = run.results.drag, reference = run.results.sangani_acrivos, within = within,
        relative = true }
    end
  end,
}
