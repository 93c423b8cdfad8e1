local sel = require "selenite"
local über = 8
