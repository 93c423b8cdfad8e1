-- args: check @ --script-limit 600
local text = "x"
while true do text = text .. text end
