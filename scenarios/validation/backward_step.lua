-- The backward-facing step against Erturk (2008).
local v = ...

return {
  about = "Backward-facing step of ratio 2, Re by the mean velocity and twice the inlet height. "
    .. "Erturk (2008), Comput. Fluids 37: 633. With the default operator and with trt.",
  run = function(c)
    local table_ = c:reference("backward_step_reattachment.csv")
    local H, lines, Res = 64, {}, { 100, 200 }
    for n, collision in ipairs { "hybrid", "trt" } do
      local prefix, computed = collision == "hybrid" and "" or collision .. ", ", {}
      for i, Re in ipairs(Res) do
        local run = c:run("backward_step",
          { H = H, Re = Re, tail = Re == 100 and 5 or 8, collision = collision })
        computed[i] = v.reattachment(run:last("floor"), 3 * H, H / 2)
        local erturk
        for k, source in ipairs(table_.source) do
          erturk = source == "erturk2008" and table_.Re[k] == Re and table_.x_r_over_h[k] or erturk
        end
        c:gate { ("%sRe %d: reattachment / step height"):format(prefix, Re), computed = computed[i],
          reference = erturk, within = Re == 100 and 0.015 or 0.025, relative = true }
      end
      lines[n] = { collision, Res, computed }
    end
    local function of(source)
      local x, y = {}, {}
      for k, name in ipairs(table_.source) do
        if name == source and table_.Re[k] <= 400 then
          x[#x + 1], y[#y + 1] = table_.Re[k], table_.x_r_over_h[k]
        end
      end
      return x, y
    end
    c:plot { title = "reattachment behind a step", x = "Re", y = "length / step height",
      lines = lines,
      points = { { "Erturk 2008", of("erturk2008") }, { "Armaly 1983", of("armaly1983_exp") } } }
  end,
}
