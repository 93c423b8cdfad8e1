local sel = require "selenite"
local größe = 8
return sel.heat { size = { größe, größe }, stop = { steps = 2 } }
