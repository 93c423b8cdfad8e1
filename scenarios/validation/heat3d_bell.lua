-- A bell of cosines in a closed box: factors of the modes, order, conservation.
return {
  about = "A bell of cosines in a closed box, sides of a cell that differ by axis: each step "
    .. "multiplies its eight modes by known factors, the error against the solution in space falls "
    .. "with the square of the cell size, and no heat is lost.",
  run = function(c)
    local errors = {}
    for i, N in ipairs { 16, 32, 64 } do
      local run = c:run("heat3d_bell", { nx = N, ny = 3 * N // 4, nz = N // 2 })
      errors[i] = run.results.error_continuous
      if N == 64 then
        c:gate { "64 x 48 x 32: error against the modes", computed = run.results.error_discrete,
          reference = 0, within = 1e-13 }
        c:gate { "64 x 48 x 32: error against the solution", computed = errors[i], reference = 0,
          within = 3e-4 }
        c:gate { "64 x 48 x 32: change of the mean", computed = run.results.drift, reference = 0,
          within = 1e-15 }
      end
    end
    c:gate { "order from 32 to 64 cells", reference = 2, within = 0.05,
      computed = math.log(errors[2] / errors[3]) / math.log(2) }
  end,
}
