-- Poisson's equation on a square: the exact solution on the grid, order, cycles on all grids.
local v = ...

-- What the grid makes of a half wave of amplitude 1: the ratio of the eigenvalues.
local function amplitude(N)
  local dx = 1 / (N + 1)
  return (math.pi * dx) ^ 2 / (2 - 2 * math.cos(math.pi * dx))
end

return {
  about = "Half a wave along each axis of a square between fixed edges, whose amplitude on the "
    .. "grid is known; on a node at the middle it can be compared to round-off. Cycles of "
    .. "multigrid for a rough right-hand side are as many on all grids, and methods agree.",
  run = function(c)
    local errors = {}
    for _, N in ipairs { 63, 127, 255 } do
      local run = c:run("poisson2d", { N = N, tolerance = 1e-12 })
      local p = run:last("middle")
      local exact = v.map(p.x, function(x) return math.sin(math.pi * x) end)
      errors[N] = v.rms(v.map(p.potential, function(q, i) return q - exact[i] end))
      c:gate { ("N = %d: highest potential over that of the grid, less 1"):format(N),
        within = 1e-10, reference = 0,
        computed = run.results["highest.potential"] / amplitude(N) - 1 }
    end
    c:gate { "order from 127 to 255", reference = 2, within = 0.05,
      computed = math.log(errors[127] / errors[255]) / math.log(2) }
    for _, N in ipairs { 64, 600, 1000, 4097 } do
      local run = c:run("poisson2d", { N = N, layout = "cell", rhs = "noise" })
      c:gate { ("cycles to 1e-8 of a rough right-hand side, N = %d"):format(N),
        computed = run.results.iterations, reference = 5, within = 1 }
    end
    for _, method in ipairs { "jacobi", "gauss_seidel", "sor", "conjugate_gradient" } do
      local run = c:run("poisson2d", { N = 63, method = method, rhs = "noise" })
      local other = c:run("poisson2d", { N = 63, rhs = "noise", tolerance = 1e-12 })
      local p, q = run:last("middle").potential, other:last("middle").potential
      c:gate { method .. ": difference from multigrid", reference = 0, within = 1e-5,
        computed = v.rms(v.map(p, function(x, i) return x - q[i] end)) / v.rms(q) }
    end
  end,
}
