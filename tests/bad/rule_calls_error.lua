-- args: run @ -o OUT --quiet
local sel = require "selenite"

return sel.rule {
  size = { 6, 4 }, periodic = { "x", "y" }, stop = { steps = 50 },
  state   = { u = "real" },
  initial = { u = function(x) return x end },
  rule    = function(c)
    if c.u > 6 then
      error("too large")
    end
    return c.u + 0.25
  end,
}
