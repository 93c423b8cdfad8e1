-- args: check @ --script-limit 0.2
local loop = coroutine.create(function()
  while true do end
end)
while true do
  coroutine.resume(loop)
end
