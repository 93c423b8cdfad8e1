-- Metamethods steal the metatable of a function that the reader makes, and forge one that gives the
-- variables of `load`: Lua's own. `load` must stay that of the sandbox.
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local code = "\x1b\x4c\x75\x61\x54\x00\x19\x93\x0d\x0a\x1a\x0a\x04\x08\x08\x78\x56\x00\x00\x00\x00\x00"
  .. "\x00\x00\x00\x00\x00\x00\x28\x77\x40\x00\x80\x81\x81\x00\x00\x02\x83\x01\x80\x14\x80\x48"
  .. "\x00\x02\x00\x47\x00\x01\x00\x80\x80\x80\x80\x80\x80\x80"
local CLOSURE, raw
local box = {}
local steal = { __tostring = function(self)
  if type(self.v) == "table" and self.v.code then
    CLOSURE = getmetatable(self.v)
    local c = self.v.code
    local two = { { operation = "GETUPVAL", A = 0, B = 0 }, { operation = "RETURN1", A = 0 },
      lines = { 1, 1 }, registers = 2, parameters = 0, captured = {}, constants = {},
      upvalues = {}, functions = {},
      file = c.file, first = c.first, last = c.last }
    box.v = setmetatable({ code = two, boxes = { { f = load, number = 1 } } }, CLOSURE)
  elseif type(self.v) == "function" and self.v ~= load and not raw then
    raw = self.v
  end
  return "x" end }
local function f(y, t)
  tostring(setmetatable({ v = function() return 1 end }, steal))
  return 1e-3 * y
end
local function g(y, t)
  if type(box.v) == "function" then tostring(setmetatable({ v = box.v() }, steal)) end
  return 1e-3 * y
end
return sel.lbm { lattice="D2Q9", size={16,16}, nu=0.1, periodic={"y"}, stop={steps=1},
  hooks = { { every = 1, call = function(run)
    local own = pcall(function() return load(code) or error(select(2, load(code))) end)
    local stolen = type(raw(code, "x", "b")) == "function"
    print(own and "LOADED" or "refused", stolen and "STOLEN" or "kept")
  end } },
  regions = { { where = shape.face "x-", law = law.pressure { f } },
    { where = shape.face "x+", law = law.pressure { g } } } }
