-- selenite.lua -- the scenario library: what `require "selenite"` returns.
--
-- `host` is what C gives (library.c): the constructors come from the field lists of the engine, so
-- that a new solver, law, shape or output needs no change here.
local host = ...

-- For starts from rest: no kink at either end, so that little sound is made.
local max, min = math.max, math.min
local function ramp(t, T)
  if T > 0 then
    local s = max(0, min(1, t / T))
    return s * s * (3 - 2 * s)
  end
  error("sel.ramp(t, T): T must be above 0", 2)
end

local sel = {
  params = host.params, load = host.load,
  step = host.step, noise = host.noise, ramp = ramp,
  series = host.series, raster = host.raster, state = host.state,
  paint = host.paint, units = host.units,
}

-- Constructors return the table that they get, so that whoever loads a scenario can edit it.
local shape = host.groups.shape
shape.face, shape.faces, shape.rest = host.face, host.plain_shape "faces", host.plain_shape "rest"
for group, members in pairs(host.groups) do
  if group == "sel" then
    for solver, constructor in pairs(members) do
      sel[solver] = constructor
    end
  else
    sel[group] = host.closed("sel." .. group, members)
  end
end

return host.closed("selenite", sel)
