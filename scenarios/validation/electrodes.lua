-- Capacitances of a coaxial line and of two wires.
return {
  about = "The capacitance per length of a coaxial line whose inner conductor has a radius of 32 "
    .. "cells, and of two wires in a large box, from the flux through a conductor.",
  run = function(c)
    local line = c:run("electrodes", { line = "coaxial" })
    c:gate { "coaxial line: C over the exact one", reference = 1, within = 0.02,
      computed = line.results["balance.in_inner"] / 100 / line.results.exact_capacitance }
    local pair = c:run("electrodes", { line = "pair", room = 8, cells = 16 })
    c:gate { "two wires in a box: C over that in the open", reference = 1, within = 0.03,
      computed = pair.results["balance.in_inner"] / 100 / pair.results.exact_capacitance }
  end,
}
