-- Metamethods steal the metatable of a number that the reader makes, and forge one of node `n`: the
-- reading must end first, and the function that wants it fails in Lua.
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local p = sel.params { n = 100000000 }
local SYM
local box = {}
local MT = { __tostring = function(self) if type(self.v) == "table" then
    SYM = getmetatable(self.v)
    box.v = setmetatable({ n = p.n, whole = true, low = 1.0, high = 2.0 }, SYM)
  end return "x" end }
local function f(y, t)
  local s = setmetatable({ v = y }, MT)
  tostring(s)
  return 1e-3 * y
end
local function g(y, t)
  return math.max(box.v) + y
end
return sel.lbm { lattice="D2Q9", size={16,16}, nu=0.1, periodic={"y"}, stop={steps=2},
  regions = { { where = shape.face "x-", law = law.pressure { f } },
    { where = shape.face "x+", law = law.pressure { g } } } }
