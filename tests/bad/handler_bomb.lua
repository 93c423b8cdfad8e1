-- args: check @ --script-limit 0.2
xpcall(error, function()
  while true do end
end)
