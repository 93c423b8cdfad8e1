-- args: check @ --script-limit 0.5
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local layers = { 0 }

-- Each function has 128 paths, and a million instructions on each of them. It stands on one line, which is told
-- whether the limit falls into its tracing or into its comparison with Lua.
for i = 1, 60 do
  local square = shape.box { min = { 0, 0 }, max = { i, i } }
  local function value(x) local n, m = i, 1; for k = 1, 7 do if x > k then n = n + x end end; for k = 1, 200000 do m = m + k end; return n / m end
  layers[i + 1] = { square, value }
end

return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 }, size = { 64, 64 }, tau = 0.8,
  initial = { pressure = sel.paint(layers) },
  regions = { { where = shape.faces, law = law.wall {} } },
}
