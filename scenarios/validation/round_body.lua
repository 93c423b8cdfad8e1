-- 200 cylinders of random sizes and places at tau = 0.505. A run that diverges ends the case.
return {
  about = "200 cylinders with interpolated walls, radius 3 to 40 cells, anywhere in a channel at "
    .. "tau = 0.505 for 10,000 steps: none blows up.",
  slow_on_cpu = "some minutes",
  run = function(c)
    local seed, worst = 7, 0
    local function random(low, high) -- the same everywhere
      seed = (seed * 1103515245 + 12345) % (1 << 31)
      return low + (high - low) * (seed // 256 / 2 ^ 23)
    end
    for _ = 1, 200 do
      local radius = 3 * (40 / 3) ^ random(0, 1)
      local run = c:run("round_body", { radius = radius, height = random(4, 6),
        cx = random(-0.5, 0.5) * radius, cy = random(-0.5, 0.5) * radius })
      worst = math.max(worst, run.results.largest)
    end
    c:gate { "largest speed of all over the mean of the inlet", computed = worst, reference = 3,
      within = 3 }
  end,
}
