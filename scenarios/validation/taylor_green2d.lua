-- Decaying Taylor-Green vortices: order of convergence.
local v = ...

return {
  about = "Taylor-Green vortices in a periodic box, velocity proportional to 1/N at tau = 0.8: the "
    .. "error falls with the square of the cell size.",
  run = function(c)
    for _, collision in ipairs { "trt", "regularized", "recursive", "hybrid" } do
      local sizes, errors = { 16, 32, 64, 128 }, {}
      for i, N in ipairs(sizes) do
        local run = c:run("taylor_green2d", { N = N, collision = collision })
        local U, k, nu = 0.02 * 64 / N, 2 * math.pi / N, 0.1
        local decay = math.exp(-2 * nu * k * k * run.steps)
        local p = run:last("profile")
        errors[i] = v.rms(v.map(p.x, function(x, j)
          local exact = -U * math.cos(k * x) * math.sin(k * p.y[j]) * decay
          return (p.velocity_x[j] - exact) / (U * decay)
        end))
      end
      c:gate { collision .. ": rms error at 128 cells", computed = errors[4], reference = 0,
        within = 1e-3 }
      c:gate { collision .. ": order from 64 to 128", reference = 2, within = 0.1,
        computed = math.log(errors[3] / errors[4]) / math.log(2) }
      local function log10(x) return math.log(x, 10) end
      c:plot { title = "Taylor-Green, " .. collision, x = "log10 N", y = "log10 error",
        lines = { { "here", v.map(sizes, log10), v.map(errors, log10) } },
        points = { { "second order", v.map(sizes, log10), v.map(sizes, function(N)
          return log10(errors[1]) - 2 * log10(N / 16)
        end) } } }
    end
  end,
}
