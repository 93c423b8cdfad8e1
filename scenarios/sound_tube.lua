-- Sound in a tube: a harmonic wave, or a pulse, that meets an opening at the end.
--
-- Shows: what openings return of sound. The wave has the period 4 L / c_s, the slowest that fits
-- between an inlet and an outlet; the pulse exp(-(x / 10)^2) starts in the middle. The result
-- `returned` is the largest wave that comes back, v - c drho, over the largest that goes,
-- v + c drho. opening=held sponge=40: a layer before a face that returns all.
local sel = require "selenite"
local shape, law = sel.shape, sel.law

local p = sel.params {
  L         = { 200,  "length, cells", integer = true, min = 50 },
  sound     = { "wave", "what meets the opening", choices = { "wave", "pulse" } },
  opening   = { "outlet", "law.pressure and law.velocity that absorb, and others",
                choices = { "outlet", "inlet", "far_field", "outflow", "held" } },
  sponge    = { 0, "depth of a sponge before the opening, cells; 0: none", min = 0 },
  tau       = { 0.51, "relaxation time", min = 0.5001 },
  collision = { "hybrid", "collision operator",
                choices = { "trt", "bgk", "regularized", "recursive", "hybrid" } },
}

local c = 1 / math.sqrt(3)
local pulse = p.sound == "pulse"
local steps = math.floor((pulse and 1.5 or 20) * p.L / c)
local omega = 0.5 * math.pi * c / p.L

local opening = p.opening == "outlet" and law.pressure { 0, absorbing = true }
  or p.opening == "inlet" and law.velocity { 0, 0, absorbing = true }
  or p.opening == "far_field" and law.far_field { 0, 0 }
  or p.opening == "outflow" and law.outflow {} or law.pressure { 0 }

local function density(x)
  local r = (x - p.L / 2) / 10
  return 1 + 1e-3 * math.exp(-r * r)
end

-- Of the wave that goes and of the one that comes back.
local function waves(run)
  local at = { pulse and 0.75 * p.L or 0.5 * p.L, 1 }
  local v, drho = run:probe("velocity_x", at), run:probe("density", at) - 1
  return v + c * drho, v - c * drho
end

-- The pulse: the largest of each, of the one that comes back once the pulse has left. The wave: the
-- amplitudes of each in the last of five periods.
local function listen(run)
  local s, t = run.state, run.time
  local goes, comes = waves(run)
  if pulse then
    s.goes = math.max(s.goes or 0, math.abs(goes))
    s.comes = math.max(s.comes or 0, t > 0.5 * p.L / c + 40 and math.abs(comes) or 0)
  elseif t > 0.8 * steps then
    for name, value in pairs { a = goes, b = comes } do
      s[name .. 1] = (s[name .. 1] or 0) + value * math.cos(omega * t)
      s[name .. 2] = (s[name .. 2] or 0) + value * math.sin(omega * t)
    end
    s.goes, s.comes = math.sqrt(s.a1 ^ 2 + s.a2 ^ 2), math.sqrt(s.b1 ^ 2 + s.b2 ^ 2)
  end
end

return sel.lbm {
  lattice   = "D2Q9",
  size      = { p.L, 2 },
  periodic  = { "y" },
  tau       = p.tau,
  collision = p.collision,
  precision = "f64",
  initial   = pulse and { density = density, velocity = function(x) return (density(x) - 1) * c,
      0 end } or nil,
  regions   = {
    { name = "source", where = shape.face "x-", law = pulse and law.pressure { 0, absorbing = true }
      or law.velocity { function(t) return 1e-4 * math.sin(omega * t), 0 end } },
    { name = "opening", where = shape.face "x+", law = opening },
  },
  sponge = p.sponge > 0 and { where = shape.face "x+", thickness = p.sponge,
    velocity = { 0, 0 } } or nil,
  stop   = { steps = steps },
  hooks  = {
    { every = pulse and 4 or math.max(1, steps // 5 // 64), call = listen },
    { at = "end", call = function(run)
        local s = run.state
        if s.comes then run:result("returned", s.comes / s.goes) end    -- a run may end earlier
      end },
  },
}
