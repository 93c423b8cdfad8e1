local sel = require "selenite"
local walls = {
  { where = sel.shape.faces, law = sel.law.wall {} }

local H = 16
return sel.lbm { lattice = "D2Q9", size = { H, H }, tau = 0.8, stop = { steps = 1 }, regions = walls }
