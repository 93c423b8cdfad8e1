-- args: check @ --script-limit 0.5
-- No hook is called inside a comparison that never returns.
table.sort({ 2, 1 }, function() return ("a"):rep(50):find(("a-"):rep(50) .. "b") end)
