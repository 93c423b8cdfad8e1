-- Ways by which a script might see tables of the reader; prints those that it found.
local sel = require "selenite"
local got = {}
local function see(name, v) if type(v) == "table" and (rawget(v, "n") or rawget(v, "code")) then got[name] = true end end
local function M(name, t) for k, v in pairs(t) do t[k] = v end return t end
local MT = {
  tostring = { __tostring = function(s) see("tostring", rawget(s, "v")) return "" end },
  closure = { __tostring = function(s) see("closure", rawget(s, "v")) return "" end },
  format = { __tostring = function(s) see("format", rawget(s, "v")) return "" end },
  concat = { __index = function(s, k) see("concat", rawget(s, "v")) return k < 3 and "a" or nil end, __len = function() return 2 end },
  unpack = { __index = function(s, k) see("unpack", rawget(s, "v")) return 1 end, __len = function() return 2 end },
  pairs = { __pairs = function(s) see("pairs", rawget(s, "v")) return next, {}, nil end },
  ipairs = { __index = function(s, k) see("ipairs", rawget(s, "v")) return nil end },
  lt = { __lt = function(s, t) see("lt", rawget(s ~= 0 and type(s) == "table" and s or t, "v")) return true end },
  index = { __index = function(s, k) see("index", rawget(s, "v")) return 1 end },
  eq = { __eq = function(s) see("eq", rawget(s, "v")) return true end },
  length = { __len = function(s) return s end, __newindex = function() end,
    __add = function(s) see("insert", rawget(s, "v")) return 1 end },
  wrapped = { __index = coroutine.wrap(function(s) while true do see("wrapped", rawget(s, "v")) coroutine.yield(1) end end) },
  name = { __name = "x" }, select = { __tostring = function(s) see("select", rawget(s, 1)) return "" end },
}
setmetatable(string, { __index = function(_, k) see("text", rawget(k, "v")) return 1 end })
for _, name in ipairs { "gsub", "find", "lower", "upper", "sub" } do
  local original = string[name]
  string[name] = function(...) for i = 1, select("#", ...) do see("changed", (select(i, ...))) end return original(...) end
end
local ways = {
  tostring = function(x) tostring(setmetatable({ v = x }, MT.tostring)) end,
  closure = function(x) tostring(setmetatable({ v = function() return x end }, MT.closure)) end,
  format = function(x) local _ = string.format("%s", setmetatable({ v = x }, MT.format)) end,
  concat = function(x) table.concat(setmetatable({ v = x }, MT.concat)) end,
  unpack = function(x) table.unpack(setmetatable({ v = x }, MT.unpack)) end,
  pairs = function(x) for _ in pairs(setmetatable({ v = x }, MT.pairs)) do end end,
  ipairs = function(x) for _ in ipairs(setmetatable({ v = x }, MT.ipairs)) do end end,

  select = function(x) tostring(setmetatable({ (select(1, x)) }, MT.select)) end,
  walk = function(x) if x > 1e6 then pairs({ a = 1 })(setmetatable({ v = x }, MT.index)) end end,
  iterator = function(x) ipairs({})(setmetatable({ v = x }, MT.ipairs), 0) end,
  ramp = function(x) if x > 1e6 then sel.ramp(1, setmetatable({ v = x }, MT.lt)) end end,
  insert = function(x) if x > 1e6 then table.insert(setmetatable({ v = x }, MT.length), 1) end end,
  wrapped = function(x) local _ = setmetatable({ v = x }, MT.wrapped).q end,
  text = function(x) local _ = ("x")[{ v = x }] end,
  returned = function(x) return setmetatable({ v = x }, MT.pairs) end,
  lt = function(x) local _ = setmetatable({ v = x }, MT.lt) < {} end,
  index = function(x) local _ = setmetatable({ v = x }, MT.index).q end,
  eq = function(x) local a, b = setmetatable({ v = x }, MT.eq), {} local _ = a == b end,
}
local data, state = {}, { u = "real" }
for name, f in pairs(ways) do data["d_" .. name] = function(y, t) f(y) return y * 1e-6 end end
return sel.rule { size = { 8, 8 }, periodic = { "x", "y" }, state = state, data = data, rule = function(c) return { u = c.u } end, stop = { steps = 1 },
  hooks = { { at = "end", call = function(run) local n = {} for k in pairs(got) do n[#n+1] = k end print("LEAKS:", table.concat(n, " ")) end } } }
