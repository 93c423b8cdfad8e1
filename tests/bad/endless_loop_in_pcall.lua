-- args: check @ --script-limit 0.2
while true do
  pcall(function()
    while true do end
  end)
end
