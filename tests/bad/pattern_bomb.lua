-- args: check @ --script-limit 0.2
local found = ("a"):rep(50):find(("a-"):rep(50) .. "b")
