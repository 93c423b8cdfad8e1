-- Ways by which a script might see tables of the reader; prints those that it found.
local sel = require "selenite"
local got = {}

local function see(name, v)
  if type(v) == "table" and (rawget(v, "n") or rawget(v, "code")) then
    got[name] = true
  end
end

-- Sees what is in the table, and gives the value.
local function seeing(name, value)
  return function(s)
    see(name, rawget(s, "v"))
    return value
  end
end

local function two() return 2 end
local MT = {
  tostring = { __tostring = seeing("tostring", "") },
  closure = { __tostring = seeing("closure", "") },
  format = { __tostring = seeing("format", "") },
  select = { __tostring = seeing("select", "") },
  concat = { __index = seeing("concat", "a"), __len = two },
  unpack = { __index = seeing("unpack", 1), __len = two },
  pairs = { __pairs = function(s) see("pairs", rawget(s, "v")) return next, {}, nil end },
  ipairs = { __index = seeing "ipairs" },
  index = { __index = seeing("index", 1) },
  eq = { __eq = seeing("eq", true) },
  lt = { __lt = function(s, t) see("lt", rawget(type(s) == "table" and s or t, "v")) return true end },
  insert = { __len = function(s) return s end, __newindex = function() end, __add = seeing("insert", 1) },
  wrapped = { __index = coroutine.wrap(function(s)
    while true do
      see("wrapped", rawget(s, "v"))
      coroutine.yield(1)
    end
  end) },
}

setmetatable(string, { __index = function(_, k) see("text", rawget(k, "v")) return 1 end })
for _, name in ipairs { "gsub", "find", "lower", "upper", "sub" } do
  local original = string[name]
  string[name] = function(...)
    for i = 1, select("#", ...) do
      see("changed", (select(i, ...)))
    end
    return original(...)
  end
end

local function make(x, name) return setmetatable({ v = x }, MT[name]) end
local ways = {
  tostring = function(x) tostring(make(x, "tostring")) end,
  closure = function(x) tostring(make(function() return x end, "closure")) end,
  format = function(x) local _ = string.format("%s", make(x, "format")) end,
  concat = function(x) table.concat(make(x, "concat")) end,
  unpack = function(x) table.unpack(make(x, "unpack")) end,
  pairs = function(x) for _ in pairs(make(x, "pairs")) do end end,
  ipairs = function(x) for _ in ipairs(make(x, "ipairs")) do end end,
  iterator = function(x) ipairs({})(make(x, "ipairs"), 0) end,
  select = function(x) tostring(make(select(1, x), "select")) end,
  index = function(x) local _ = make(x, "index").q end,
  eq = function(x) local a, b = make(x, "eq"), {} local _ = a == b end,
  lt = function(x) local _ = make(x, "lt") < {} end,
  le = function(x) local _ = {} <= make(x, "lt") end,
  wrapped = function(x) local _ = make(x, "wrapped").q end,
  text = function(x) local _ = ("x")[{ v = x }] end,
  -- Lua itself would not go on with these.
  walk = function(x) if x > 1e6 then pairs({ a = 1 })(make(x, "index")) end end,
  ramp = function(x) if x > 1e6 then sel.ramp(1, make(x, "lt")) end end,
  insert = function(x) if x > 1e6 then table.insert(make(x, "insert"), 1) end end,
}
local data = {}
for name, f in pairs(ways) do
  data["d_" .. name] = function(y) f(y) return y * 1e-6 end
end

local function tell()
  local names = {}
  for name in pairs(got) do
    names[#names + 1] = name
  end
  print("LEAKS:", table.concat(names, " "))
end
return sel.rule { size = { 8, 8 }, periodic = { "x", "y" }, state = { u = "real" }, data = data,
  rule = function(c) return { u = c.u } end, stop = { steps = 1 }, hooks = { { at = "end", call = tell } } }
