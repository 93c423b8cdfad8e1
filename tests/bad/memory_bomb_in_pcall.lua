-- args: check @ --script-limit 600
while true do
  pcall(function()
    local text = "x"
    while true do text = text .. text end
  end)
end
