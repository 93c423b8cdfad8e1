-- args: check @ --script-limit 0.2
while true do end
