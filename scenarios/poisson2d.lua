-- Poisson's equation on a square of N x N unknowns between fixed edges, by every method: the
-- problem of D. Smalcuga, G.-A. Dogarel and C. D. Leon Ilano, "Metodos estacionarios para la
-- ecuacion de Poisson - Version CUDA" (Universitat Politecnica de Valencia, 2025), who iterate by
-- Jacobi's method in double precision. The paper gives neither right-hand side nor tolerance; here
-- phi is a wave with `waves` halves along each axis, or, with rhs = "noise", the right-hand side is
-- one number or another in each cell.
--
-- Shows: what a method is worth. Jacobi and Gauss-Seidel need iterations by the square of N, SOR
-- and conjugate gradients by N; cycles of multigrid, about as dear as a dozen sweeps, are as many
-- on any grid. Their time for 600 x 600: 162.26 s on one core, 4.09 s on a GPU.
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out

local p = sel.params {
  N         = { 600, "unknowns along a side", integer = true, min = 2 },
  method    = { "multigrid", "method",
                choices = { "multigrid", "jacobi", "gauss_seidel", "sor", "conjugate_gradient" } },
  layout    = { "node", "layout", choices = { "cell", "node" } },
  rhs       = { "wave", "right-hand side", choices = { "wave", "noise" } },
  waves     = { 1, "half waves along an axis", integer = true, min = 1 },
  tolerance = { 1e-8, "residual over the right-hand side", min = 1e-16 },
}

local nodes = p.layout == "node"
local n = p.N + (nodes and 2 or 0)  -- with the fixed nodes of the edges
local dx = 1 / (nodes and p.N + 1 or p.N)
local k = p.waves * math.pi

local function phi(x, y) return math.sin(k * x) * math.sin(k * y) end
local function wave(x, y) return -2 * k * k * math.sin(k * x) * math.sin(k * y) end
local function noise(x, y) return sel.noise(1, x / dx * 1.7, y / dx * 1.7, 0) end

return sel.poisson {
  size = { n, n }, dx = dx, layout = p.layout, method = p.method, tolerance = p.tolerance,
  rhs = p.rhs == "wave" and wave or noise,
  regions = { { name = "edges", where = shape.faces, law = law.fixed { 0 } } },
  output = {
    out.balance { every = p.method == "multigrid" and 1 or 100 },
    out.reduce { name = "highest", field = "potential", op = "max" },
    out.profile { name = "middle", field = "potential", from = { 0, 0.5 }, to = { 1, 0.5 } },
    out.vtk { fields = { "potential", "residual" } },
  },
  hooks = { { at = "end", call = function(run)
    run:result("iterations", run.step)
    run:result("exact_at_middle", phi(0.5, 0.5))
  end } },
}
