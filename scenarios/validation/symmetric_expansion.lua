-- The symmetric expansion of ratio 3: symmetric below the critical Reynolds number, not above.
local v = ...

return {
  about = "Sudden expansion of ratio 3 with a sideways kick. The symmetric flow loses stability "
    .. "near Re = u_max h / nu = 81 (Fearn, Mullin and Cliffe 1990, J. Fluid Mech. 211: 595): at "
    .. "60 the kick is forgotten, at 120 the flow settles on one wall. With the default operator "
    .. "and with trt.",
  run = function(c)
    local u_max, lines = 0.1, {}
    for _, collision in ipairs { "hybrid", "trt" } do
      local prefix = collision == "hybrid" and "" or collision .. ", "
      local left, kick = {}, {}
      for _, Re in ipairs { 60, 120 } do
        local run = c:run("symmetric_expansion", { Re = Re, u_max = u_max, collision = collision })
        local p, all = run:last("middle"), run:csv("middle")
        local cells = #p.x
        kick[Re] = v.largest { table.unpack(all.velocity_y, cells + 1, 2 * cells) } / u_max
        local sideways = v.map(p.velocity_y, function(value) return value / u_max end)
        left[Re] = v.largest(sideways)
        lines[#lines + 1] =
          { prefix .. "Re " .. Re, v.map(p.x, function(x) return x / 16 end), sideways }
      end
      c:gate { prefix .. "Re 60: the same soon after the kick", computed = kick[60],
        at_least = 1e-5 }
      c:gate { prefix .. "Re 60: sideways velocity / u_max", computed = left[60], reference = 0,
        within = 1e-4 }
      c:gate { prefix .. "Re 120: sideways velocity / u_max", computed = left[120],
        at_least = 0.05 }
    end
    c:plot { title = "sideways velocity on the middle line", x = "x / h", y = "v / u_max",
      lines = lines }
  end,
}
