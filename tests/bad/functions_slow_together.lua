-- args: check @ --script-limit 1
local sel = require "selenite"
local shape, law = sel.shape, sel.law

-- Each value takes a millisecond or so, and there are 40,000 of them.
local function slow(x)
  local n = 0
  for i = 1, 50000 do n = n + i % 3 end
  return #tostring(x) == n
end

return sel.lbm {
  lattice = "D2Q9", stop = { steps = 10 }, size = { 200, 200 }, tau = 0.8,
  regions = {
    { where = shape.faces, law = law.wall {} },
    { name = "post", where = shape.inside(slow), law = law.wall {} },
  },
}
