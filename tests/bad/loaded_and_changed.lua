local sel = require "selenite"
local box = sel.load "stop_negative.lua"
local other = sel.load "stop_negative.lua"
box.name, other.name = "box", "other"
box.stop = { stpes = 20 }
other.stop.steps = 20
return { box, other }
