local sel = require "selenite"
local N = 8 -- a space of a web page; ü, “ and   may stand in comments
return sel.heat { size = { N, N }, stop = { steps = 2 } }
