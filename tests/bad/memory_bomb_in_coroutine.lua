-- args: check @ --script-limit 600
coroutine.wrap(function()
  local text = "x"
  while true do text = text .. text end
end)()
