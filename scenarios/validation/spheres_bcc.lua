-- Slow flow past body-centred cubic spheres with interpolated walls: drag against the series of
-- Sangani and Acrivos.
return {
  about = "Drag of spheres in a body-centred cubic array, 32 cells per diameter, with interpolated "
    .. "walls, against the series of Sangani and Acrivos (1982).",
  run = function(c)
    for _, case in ipairs { { 0.2, 0.005 }, { 0.4, 0.008 } } do
      local run = c:run("spheres_bcc", { solid = case[1] })
      c:gate { ("drag, solid fraction %g"):format(case[1]), computed = run.results.drag,
        reference = run.results.sangani_acrivos, within = case[2], relative = true }
    end
  end,
}
