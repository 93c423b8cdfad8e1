-- selenite.lua -- the scenario library: what `require "selenite"` returns.
--
-- `host` is what C gives (library.c): the constructors' names come from the field lists of the
-- engine, so that a new solver, law, shape or output needs no change here.
local host = ...

host.set_shape_operators {
  __add = host.union,
  __sub = host.difference,
  __mul = host.intersection,
  __metatable = false,
}

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
for group, names in pairs(host.groups) do
  local members = {}
  for _, name in ipairs(names) do
    members[name] = host.constructor(group, name)
  end
  if group == "shape" then
    members.face = host.face
    members.faces = host.all_faces
    members.rest = host.rest
  end
  if group == "sel" then
    for name, constructor in pairs(members) do
      sel[name] = constructor
    end
  else
    sel[group] = host.closed("sel." .. group, members)
  end
end

return host.closed("selenite", sel)
