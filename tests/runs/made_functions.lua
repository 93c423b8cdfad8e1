-- Functions that functions make, in a rule and in a source: what they have captured outlives the function that made
-- them. The rule counts by 1, and by 100 from 5 on once; the source adds 0.5 + t per time from t = 0 to 9.
local sel = require "selenite"
local p = sel.params { model = "rule" }

local function step_of(size)
  return function(value) return value + (size or 1) end
end

local function ramp(from)
  return function(t) return from + t end
end

if p.model == "law" then
  return sel.heat {
    size = { 4, 4 }, dt = 1, diffusivity = 0.1, periodic = { "x", "y" }, stop = { steps = 10 },
    source = function(t) return ramp(0.5)(t) end,
    output = { sel.out.reduce { field = "temperature", op = "mean", every = 1 } },
  }
end

return sel.rule {
  size = { 8, 8 }, periodic = { "x", "y" }, state = { count = "i32" }, stop = { steps = 10 },
  rule = function(c)
    local far, near = step_of(100), step_of()
    if c.count == 5 then
      return far(c.count)
    end
    return near(c.count)
  end,
  output = { sel.out.reduce { field = "count", op = "mean", every = 1 } },
}
