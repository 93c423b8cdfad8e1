#!/usr/bin/env python3
"""attacks.py -- run random scenarios whose functions attack the reader of functions (lua/functions/read.lua).

usage: attacks.py PROGRAM DIRECTORY [COUNT [FIRST]]

Each scenario comes from its number. Its metatables and its changed library functions look at what they
are given, when Lua really calls them, and tell of tables that the script did not make. What they tell,
a report of a sanitizer, a signal or a hang is wrong: the script then stays in DIRECTORY. Any exit
status of selenite help is right.
"""
import random

import drawn

# `see` looks at values and at their members. A function that is read gets on well with it: numbers,
# cells and functions of the reader are no tables there, and the line with `print` is not reached.
PRELUDE = """local sel = require 'selenite'
local shape, law, out = sel.shape, sel.law, sel.out
local S, T, M = {}, {}, {}
for k, v in next, string do S[k] = v end
for k, v in next, table do T[k] = v end
for k, v in next, math do M[k] = v end
local FIELDS = { 'whole', 'low', 'condition', 'code', 'boxes', 'c', 'node', 'operation', 'registers',
  'facts', 'above', 'constants', 'captured', 'log' }
local stolen = {}
local function look(where, v, depth)
  if type(v) ~= 'table' then
    return
  end
  for i = 1, #FIELDS do
    if rawget(v, FIELDS[i]) ~= nil then
      print('LEAK of ' .. FIELDS[i] .. ': ' .. where)
      stolen[#stolen + 1] = v
    end
  end
  if rawlen(v) == 3 and getmetatable(v) == false then -- no table of the script is so long
    print('LEAK of a cell: ' .. where)
  end
  if depth > 0 then
    for k, m in next, v do
      look(where, k, depth - 1)
      look(where, m, depth - 1)
    end
  end
end
local function see(where, ...)
  for i = 1, select('#', ...) do
    look(where, (select(i, ...)), 2)
  end
end
local busy = false
local function wrap(library, name, f)
  local original = library[name]
  library[name] = function(...)
    if not busy then
      see('changed ' .. name, ...)
    end
    return f(original, ...)
  end
end
local series = sel.series { t = { 0, 1 }, value = { 1, 2 }, outside = 'hold' }
local kept, real_cell = {}, nil
"""

EVENTS = ["__index", "__newindex", "__call", "__tostring", "__name", "__len", "__pairs", "__concat",
          "__close", "__eq", "__lt", "__le", "__add", "__sub", "__mul", "__div", "__mod", "__pow",
          "__unm", "__idiv", "__band", "__bor", "__bxor", "__shl", "__shr", "__bnot", "__metatable",
          "__mode", "__gc"]
LIBRARIES = {
    "string": ["byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep",
               "reverse", "sub", "upper", "pack", "unpack", "packsize"],
    "table": ["concat", "insert", "remove", "sort", "unpack", "pack", "move"],
    "math": ["abs", "ceil", "floor", "max", "min", "log", "sqrt", "type", "tointeger", "fmod", "exp",
             "huge", "pi", "maxinteger", "mininteger"],
    "utf8": ["char", "codepoint", "len"],
    "coroutine": ["wrap", "create", "resume", "running", "isyieldable"]}


class Writer:
    def __init__(self, number):
        self.r = random.Random(number)
        self.metas = self.r.randint(2, 5)
        self.cells = False

    def one(self, *choices):
        chosen = self.r.choice(choices)
        return chosen() if callable(chosen) else chosen

    # ---- metatables ----

    def handler(self, event, where):
        if event == "__name":
            return self.one("'number'", "'selenite.cell'", "5", "{}", "'x\\0y'")
        if event == "__mode":
            return self.one("'k'", "'v'", "'kv'", "7")
        if event == "__metatable":
            return self.one("false", "{}", "'locked'", "0")
        if event == "__gc":
            return f"function(...) see('{where}', ...) end"
        result = {"__tostring": ["'text'", "nil", "5", "error('told', 0)", "error({ text = 7 }, 0)"],
                  "__len": ["0", "2", "3.5", "-1", "2^53", "'4'", "M.maxinteger", "M.mininteger", "{}"],
                  "__pairs": ["next, {}, nil", "next, { 1, 2 }", "pairs", "nil"],
                  "__close": [""]}.get(event, [
                      "1", "0", "nil", "'1'", "true", "{}", "rawget((...), 'v')", "(...)", "...",
                      "rawget((...), 1)", "error('told', 0)", "error({ text = 't', mistake = true, "
                      "file = '@x', line = 1e9 }, 0)", "setmetatable({ v = (...) }, metas[1])"])
        function = f"function(...) see('{where}', ...) return {self.r.choice(result)} end"
        if event in ("__index", "__newindex", "__call") and self.r.random() < 0.3:
            return self.one("kept", "setmetatable({}, metas[1])", "metas[1]", "string", "rawget",
                            "coroutine.wrap(function(...) see('wrapped', ...) end)", "pairs", "series",
                            "sel.ramp", "rawequal", "select", "pcall")
        return self.one(function, function, function, function, function, "false", "pcall", "print",
                        "sel.ramp", "coroutine.wrap(function(...) while true do see('wrapped', ...) "
                        "coroutine.yield(1) end end)", "setmetatable({}, { __call = function(...) "
                        f"see('{where} by __call', ...) return 1 end }})")

    def metatables(self):
        lines = ["local metas = {}"]
        for i in range(1, self.metas + 1):
            events = self.r.sample(EVENTS[:-1], self.r.randint(1, 8))
            if self.r.random() < 0.03:
                events.append("__gc")
            lines.append(f"metas[{i}] = {{}}")
            lines += [f"metas[{i}].{event} = {self.handler(event, event)}" for event in events]
        if self.r.random() < 0.2:
            lines.append("setmetatable(metas[1], metas[2])")
        return "\n".join(lines) + "\n"

    def meta(self):
        return f"metas[{self.r.randint(1, self.metas)}]"

    # ---- changed libraries ----

    def changes(self):
        lines = []
        for library, names in LIBRARIES.items():
            if self.r.random() < 0.5:
                continue
            for name in self.r.sample(names, self.r.randint(1, len(names))):
                kind = self.r.randrange(8)
                if name in ("huge", "pi", "maxinteger", "mininteger"):
                    lines.append(f"{library}.{name} = {self.one('0', '-1', 'nil', '{}', '0/0', '2^31')}")
                elif kind < 5:
                    lines.append(f"wrap({library}, '{name}', function(f, ...) return f(...) end)")
                else:
                    value = self.one("nil", "1e9", "-1", "{}", "'%s%s%s%n'", "true", "f",
                                     "select('#', ...)",
                                     "...", "error('changed', 0)", "setmetatable({}, metas[1])")
                    lines.append(f"wrap({library}, '{name}', function(f, ...) return {value} end)")
            if self.r.random() < 0.3:
                lines.append(f"setmetatable({library}, {self.meta()})")
        return "\n".join(lines) + "\n"

    # ---- functions that are read ----

    def number(self):
        return self.one("1", "2", "0.5", "-3", "1e-3", "2^53", "0", "7 // 2", *self.symbols)

    def value(self):
        """What the reader has alone, or what holds it."""
        return self.one(
            *self.symbols, *self.symbols, *self.symbols,
            lambda: f"({self.r.choice(self.symbols)} > {self.number()})",
            lambda: f"({self.r.choice(self.symbols)} > 0 and {self.number()} or "
                    f"{self.one('nil', 'false', '{}', self.number())})",
            lambda: f"function() return {self.r.choice(self.symbols)} end",
            lambda: f"function(...) local z = {self.r.choice(self.symbols)} "
                    "return function() z = z + 1 return z end end",
            lambda: f"{{ {self.r.choice(self.symbols)}, {self.number()} }}",
            lambda: f"{{ v = {self.r.choice(self.symbols)}, {self.number()} }}",
            lambda: f"table.pack({self.r.choice(self.symbols)})",
            lambda: f"M.floor({self.r.choice(self.symbols)})", "f", "nil", "'12'", "real_cell",
            *(["c", "c(1, 0)", "c(-1, 1)"] if self.cells else []))

    def trap(self):
        """A table with a metatable, or not, around such a value."""
        inner = self.one(lambda: f"{{ v = {self.value()}, {self.value()} }}",
                         lambda: f"{{ {self.value()}, {self.value()}, m = {self.number()} }}",
                         lambda: f"{{ [{self.one('1', '2', 'f', 'S')}] = {self.value()} }}")
        kind = self.r.random()
        if kind < 0.7:
            return f"setmetatable({inner}, {self.meta()})"
        if kind < 0.78:
            events = ", ".join(f"{e} = {self.value()}" for e in self.r.sample(EVENTS[:-1], 2))
            return f"setmetatable({inner}, {{ {events} }})"
        if kind < 0.86:
            inner_meta = f"setmetatable({{ __index = {self.trap_base()} }}, {self.meta()})"
            return f"setmetatable({inner}, {inner_meta})"
        return inner

    def trap_base(self):
        return self.one("kept", "metas[1]", "S", lambda: f"{{ v = {self.value()} }}", "string")

    def touch(self):
        t, v, k = self.trap(), self.value(), self.one("1", "'v'", "'n'", "2", "S", self.value)
        binary = self.r.choice(["+", "-", "*", "/", "%", "^", "//", "&", "|", "~", "<<", ">>", "..", "<",
                                "<=", ">", ">=", "==", "~="])
        pair = self.r.choice([f"{t} {binary} {v}", f"{self.number()} {binary} {t}",
                              f"{t} {binary} {self.trap()}"])
        call = lambda name, *more: f"local _ = {name}({', '.join((t,) + more)})"
        return self.one(
            f"local _ = {pair}", f"local _ = {pair}", f"local _ = {pair}",
            f"local _ = {self.r.choice(['-', '~', '#', 'not '])}{t}",
            f"local t = {t} local _ = t[{k}]", f"local t = {t} t[{k}] = {v}", f"local t = {t} local _ = t.v",
            f"local t = {t} local _ = t({v}, {v})", f"local t = {t} local _ = t:v({v})",
            f"local z <close> = {t}", f"for a, b in {t} do local _ = a break end",
            f"for a, b in pairs({t}) do local _ = b end", f"for a, b in ipairs({t}) do local _ = b end",
            f"for a, b in next, {t} do local _ = b end",
            f"for a, b in next, {t}, nil, {self.trap()} do local _ = b end",
            f"local g, w, z = pairs({{ v = {v}, {t} }}) local _ = g(w, z) _ = g({t}, nil)",
            f"local g = ipairs({{}}) local _ = g({t}, 0)",
            f"local g = pairs({{ v = 1 }}) local w = {{ 'v', of = {t}, at = 0 }} local _ = g(w, nil)",
            f"local g, w = pairs({{ v = {v} }}) setmetatable(w, {self.meta()}) local _ = g(w)",
            f"local s = {t} for q = s, 2 do break end", f"for q = 1, {v} do break end",
            call("tostring"), call("tostring"), call("string.format", v),
            f"local _ = string.format('%s %d', {t}, {t})",
            f"local _ = ('%s'):format({t})", f"local _ = ('x'):rep(2, {t})", f"local _ = ('x')[{k}]",
            f"local _ = ('abc'):gsub('b', {t})",
            f"local _ = ('abc'):{self.one('upper', 'len', 'byte', 'nosuch')}({v})",
            call("table.concat"), call("table.concat", "', '"), call("table.concat", t), call("table.unpack"),
            call("table.unpack", self.number(), self.number()), call("select", v),
            f"local _ = select({self.number()}, {t}, {v})",
            call("rawget", k), call("rawset", "1", v), call("rawlen"), call("rawequal", self.trap()),
            call("next"),
            call("next", k), call("table.insert", v), call("table.insert", "1", v), call("table.remove"),
            call("table.sort"), call("table.sort", "function(a, b) see('sort', a, b) return false end"),
            call("table.move", "1", "2", "1", self.trap()), call("table.pack", v),
            *[call(f"math.{n}", v) for n in ("max", "min", "floor", "fmod", "abs", "log", "type",
                                             "tointeger", "atan")],
            f"local _ = math.max({v}, {t})", f"local _ = math.log({self.number()}, {t})",
            call("tonumber"), call("tonumber", self.trap()), call("getmetatable"), call("type"),
            f"local _ = setmetatable({t}, {self.trap()})", f"local _ = setmetatable({{ {v} }}, {v})",
            call("assert", v), f"local _ = pcall(see, {t}, {v})", f"local _ = pcall({t}, {v})",
            f"error({t})", call("see", v), "local _ = load('return 1')()",
            f"local _ = coroutine.wrap(function(...) see('coroutine', ...) end)({t}, {v})",
            call("sel.ramp", t), f"local _ = sel.ramp({v}, {t})", call("sel.step"), call("sel.noise", v, v),
            f"local _ = sel.random({t})", call("series"), f"local _ = series({v}, {t})",
            f"local _ = series[{k}]",
            call("shape.face"), f"local _ = shape.rest + {t}", f"local _ = {t} - shape.rest",
            f"local _ = shape[{k}]",
            f"local _ = sel[{k}]", f"local _ = sel.units[{k}]", call("utf8.char", v),
            call("string.pack", v),
            f"kept.v = {t}", f"kept[#kept + 1] = {v}", f"stolen[1] = {v}", f"string.format = {t}",
            f"_G.x = {t}",
            f"local n = 0 while n < 2 do n = n + 1 local _ = tostring({t}) end",
            f"if {self.value()} then local _ = tostring({t}) end",
            f"local s = {v} local t = {t} if s then t.v = {v} else t.w = 1 end local _ = t.v",
            f"local v = stolen[1] local _ = v and math.max(v) or 0",
            f"local v = setmetatable({{ n = {self.one('-1', '1e9', '2^40', '3')}, whole = true, "
            "low = 0.0, high = 1.0 }, "
            "getmetatable(stolen[1] or {})) local _ = M.max(v)",
            f"local t = setmetatable({{}}, {{}}) getmetatable(t).__index = t local _ = t[{k}]",
            f"local t = {{}} setmetatable(t, {{ __call = t }}) local _ = t({v})",
            f"local function r(n) local z <const> = {v} return n > 0 and r(n - 1) or {t} end "
            "local _ = tostring(r(2))",
        )

    def function(self, parameters, results, cells=False):
        self.symbols, self.cells = list(parameters), cells
        if cells:
            self.symbols = ["c.u", "c.k", "c(1, 0).u"] + [p for p in parameters if p != "c"]
        lines = []
        for _ in range(self.r.randint(1, 3)):
            touch = self.touch()
            kind = self.r.random()
            if kind < 0.1:
                touch = f"pcall(function() {touch} end)"
            elif kind < 0.85:  # the reader goes there, Lua only where the comparison does
                touch = f"if {self.r.choice(self.symbols)} {self.one('> 1e6', '< -1e6')} then {touch} end"
            lines.append(f"  do {touch} end")
        real = "real_cell = c" if cells and self.r.random() < 0.05 else ""
        return (f"function({', '.join(parameters)}) "
                f"local f = function() return {self.symbols[0]} end {real}\n"
                + "\n".join(lines) + f"\n  return {results} end")

    def quantity(self, parameters, low=0):
        return self.function(parameters, f"{low} + 1e-4 * {self.r.choice(parameters)}")

    # ---- tables ----

    def table(self, text):
        return f"setmetatable({text}, {self.meta()})" if self.r.random() < 0.1 else text

    def hook(self):
        self.symbols, self.cells = ["run.step", "run.time", "(run.state.n or 0)"], False
        touches = "\n".join(f"    pcall(function() local f = see {self.touch()} end)"
                            for _ in range(self.r.randint(1, 3)))
        return ("{ every = 1, call = function(run)\n    see('hook', run)\n" + touches
                + f"\n    run.state.n = {self.one('1', '{ 1 }', self.meta(), 'see')}\n  end }}")

    def parameters(self):
        if self.r.random() < 0.6:
            return ""
        entry = self.table(f"{{ 1, 'help', min = 0, choices = {self.table('{ 1, 2 }')} }}")
        return f"local p = sel.params {self.table('{ a = ' + entry + ', b = true }')}\n"

    def flow(self):
        xyt, xy = ["x", "y", "t"], ["x", "y"]
        velocity = self.table("{ " + self.quantity(xyt) + ", 0 }")
        regions = [f"{{ where = shape.face 'x-', law = law.pressure {{ {self.quantity(xyt)} }} }}",
                   f"{{ where = shape.face 'x+', law = law.velocity {velocity} }}",
                   f"{{ where = shape.inside({self.function(xy, 'x > 3 and x < 5')}), "
                   "law = law.wall {} }"]
        initial = f"velocity = {{ {self.quantity(xy)}, 0 }}, pressure = {self.quantity(xy)}"
        return f"""return sel.lbm {{ lattice = 'D2Q9', size = {{ 8, 6 }}, tau = 0.9,
  periodic = {{ 'y' }}, stop = {{ steps = 2 }},
  initial = {self.table('{ ' + initial + ' }')},
  hooks = {{ {self.hook()} }},
  regions = {self.table('{ ' + ', '.join(regions[:self.r.randint(2, 3)]) + ' }')} }}
"""

    def cellular(self):
        rule = self.function(["c", "t"], "{ u = c.u + 1e-3 * t, k = c.k }", cells=True)
        results = self.one("c.u", "c.u, c.u", "table.unpack({ c.u, 1, 2, 3, 4 })")
        derived = self.function(["c"], results, cells=True)
        data = self.quantity(["x", "y"])
        parts = [f"derived = {{ d = {derived} }}",
                 f"initial = {{ u = {self.quantity(['x', 'y'])}, k = {self.function(['x', 'y'], '1')} }}",
                 f"data = {self.table('{ q = ' + data + ' }')}",
                 f"dt = {{ max = 1, limit = {self.function(['c'], '0.5 + 0 * c.u', cells=True)} }}",
                 f"hooks = {{ {self.hook()} }}"]
        chosen = self.r.sample(parts, self.r.randint(1, len(parts)))
        return f"""return sel.rule {{ size = {{ 6, 5 }}, periodic = {{ 'x', 'y' }},
  state = {{ u = 'real', k = 'u8' }}, rule = {rule}, stop = {{ steps = 2 }}, {', '.join(chosen)} }}
"""

    def water(self):
        law = self.one(f"law.level {{ {self.quantity(['t'], 1)} }}", "law.wall {}")
        return f"""return sel.aqua {{ size = {{ 6, 5 }}, dt = 0.1, alpha = 0.5,
  ground = {self.quantity(['x', 'y'])},
  rain = {self.quantity(['x', 'y', 't'])}, stop = {{ steps = 2 }}, hooks = {{ {self.hook()} }},
  regions = {{ {{ where = shape.faces, law = {law} }} }} }}
"""

    def scenario(self):
        head = PRELUDE + self.metatables()
        body = self.one(self.flow, self.cellular, self.cellular, self.water)
        parameters = self.parameters()
        changed = self.changes() if self.r.random() < 0.6 else ""
        return head + (changed + parameters if self.r.random() < 0.5 else parameters + changed) + body


if __name__ == "__main__":
    drawn.main(Writer, "attack", ["--script-limit", "5"], 8)
