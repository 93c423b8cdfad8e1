local sel = require "selenite"
return sel.load("nope.lua", { H = 16 })
