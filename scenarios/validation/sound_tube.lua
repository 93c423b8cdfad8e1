-- What absorbing openings return of sound, at any length of the domain.
return {
  about = "Sound in a tube of 50 to 2,000 cells at tau = 0.51 to 0.6 that meets an absorbing "
    .. "outlet or inlet: of a wave of the period 4 L / c_s at most 10 per cent comes back, of a "
    .. "pulse of "
    .. "density exp(-(x / 10)^2) at most 6 per cent at 50 cells and 2 per cent from 200 on.",
  run = function(c)
    local kinds = { { "trt", 0.51 }, { "regularized", 0.55 }, { "hybrid", 0.51 }, { "hybrid",
        0.6 } }
    for _, opening in ipairs { "outlet", "inlet" } do
      for _, L in ipairs { 50, 200, 800, 2000 } do
        for i, kind in ipairs(kinds) do
          if L < 800 or i == 3 then
            local name = string.format("%s, %s, tau %g, %d cells: ", opening, kind[1], kind[2], L)
            local values = { opening = opening, L = L, collision = kind[1], tau = kind[2] }
            local wave = c:run("sound_tube", values).results.returned
            values.sound = "pulse"
            local pulse = c:run("sound_tube", values).results.returned
            c:gate { name .. "wave", computed = wave, reference = 0, within = 0.1 }
            c:gate { name .. "pulse", computed = pulse, reference = 0, within = L < 200 and 0.06
                or 0.02 }
          end
        end
      end
    end
  end,
}
