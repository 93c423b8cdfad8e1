/* test_rule_read.c -- functions of cells become graphs that give what Lua gives, bit by bit. */
#include "rule_follow.h"
#include <time.h>
#include "random_law.h"

#if defined(__SANITIZE_ADDRESS__)
enum { SPEED_COUNTS = 0 };
#else
enum { SPEED_COUNTS = 1 };
#endif

enum { RULES = 2000 };

static void rules_become_graphs(void **state) {
    (void)state;
    static const char *const cases[] = {
        RULE("", "function(c) return { u = c.u } end"),
        RULE("", "function(c) local n = 0\nfor dy = -1, 1 do for dx = -1, 1 do n = n + c(dx, dy).k "
                 "end end\nn = n - c.k\nif n == 3 or (n == 2 and c.k == 1) then return { n = 1 } "
                 "end\nreturn { n = 0 } end"),
        RULE("", "function(c) local n = -c.k\nfor dy = -1, 1 do for dx = -1, 1 do n = n + c(dx, "
                 "dy).k end end\nreturn { n = (n == 3 or n == 2 and c.k == 1) and 1 or 0 } end"),
        RULE(
            "local EMPTY, TREE, FIRE = 0, 1, 2\nlocal sides = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { "
            "0, -1 } }",
            "function(c)\nif c.k == FIRE then return { n = EMPTY }\nelseif c.k == EMPTY then\n"
            "return { n = sel.random(1) < 0.5 and TREE or EMPTY } end\n"
            "for _, d in ipairs(sides) do\nif c(d[1], d[2]).k == FIRE then return { n = FIRE } end "
            "end\nreturn { n = sel.random(2) < 0.1 and FIRE or TREE } end"),
        RULE("", "function(c, t, gain)\nif t == gain * 2 then return { n = 6 - c.n } end\n"
                 "return { n = c.n % 4 + c(1, 0).n // 4 + c(-1, 0).n // 4 + c(0, 1).k // 4 } end"),
        RULE(
            "local function lap(c, u) return u(c(1, 0)) + u(c(-1, 0)) + u(c(0, 1)) + u(c(0, -1)) - "
            "4 * u(c) end\nlocal function u(c) return c.u end\nlocal function v(c) return c.v end",
            "function(c, dt)\nlocal rate = c.u * c.v ^ 2\nreturn { u = c.u + dt * (0.16 * lap(c, "
            "u) - rate), v = c.v + dt * (0.08 * lap(c, v) + rate) } end"),
        RULE("local sides = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } }\n"
             "local function conducted(c, k, T)\nlocal sum = 0\nfor _, d in ipairs(sides) do\n"
             "local o = c(d[1], d[2])\nlocal both = k(c) + k(o)\nif both > 0 then\n"
             "sum = sum + 2 * k(c) * k(o) / both * (T(o) - T(c))\nend end\nreturn sum / 4 end",
             "function(c, x, y, t, dt)\nreturn { u = conducted(c, function(o) return o.a end, "
             "function(o) return o.u end) } end"),
        RULE(
            "local function level(c) return c.a + c.u end\n"
            "local function discharge(a, b, q)\n"
            "local flow = math.max(level(a), level(b)) - math.max(a.a, b.a)\n"
            "if flow <= 1e-4 or b.k == 0 then return 0 end\n"
            "return q / (1 + math.abs(q) / flow ^ (7 / 3)) end",
            "function(c) return { u = discharge(c, c(1, 0), c.u), v = discharge(c, c(0, 1), c.v) } "
            "end"),
        RULE("", "function(c) local t = { 1, x = c.u }\nif c.u > 0 then t.x = 5 t[2] = c.v else "
                 "t[2] = 1 end\nlocal s = 0 for i = 1, #t do s = s + t[i] end\n"
                 "return { u = s + t.x } end"),
        RULE("", "function(c) local o = c.u > 0 and c(1, 0) or c(-1, 0)\nreturn { u = o.v } end"),
        RULE("", "function(c) local best if c.u > 0 then best = c.v end\nreturn { u = best or 7 } "
                 "end"),
        RULE("", "function(c) local f = c.u > 0 and math.floor or math.ceil\nreturn { n = f(c.v) } "
                 "end"),
        RULE("", "function(c) local s = 0\nfor i = 1, 5 do\nif c(0, i % 3 - 1).u > 0 then goto "
                 "skip end\ns = s + i\n::skip:: end\nreturn { u = s } end"),
        RULE("", "function(c) local s = 0\nfor i = 1, 5 do\nif c(0, i % 3 - 1).u > 50 then break "
                 "end\ns = s + i\nend\nreturn { u = s } end"),
        RULE("", "function(c) local s, i = 0, 0\nwhile i < 4 do i = i + 1 s = s + c(0, i - 2).u "
                 "end\nrepeat local z = i i = i - 1 until z < 2\nreturn { u = s + i } end"),
        RULE("", "function(c) return { n = (c.n & 255 | c.k << 2) ~ (c.k >> 1) } end"),
        RULE("", "function(c) return { n = (~c.k) & 7, u = (c.n >> 12) + (-5 & c.n) } end"),
        RULE("", "function(c) local r = {}\nif c.u > 1 then r.u = 1 r.v = 2 return r end\n"
                 "r.u = c.v r.v = c.u\nreturn r end"),
        RULE("", "function(c) local n = 0\nlocal function add(v) if v < 0 then return n end\n"
                 "n = n + v return n end\nadd(c.u) add(c.v) add(3)\nreturn { u = n } end"),
        RULE(
            "local V = {}\nV.__index = V\nV.__add = function(a, b) return setmetatable({ x = a.x + "
            "b.x, y = a.y + b.y }, V) end\nfunction V:dot(b) return self.x * b.x + self.y * b.y "
            "end\nlocal function new(x, y) return setmetatable({ x = x, y = y }, V) end",
            "function(c) local a, b = new(c.u, c.v), new(c(1, 0).u, c(1, 0).v)\n"
            "local s = a + b\nreturn { u = s.x, v = s:dot(a) } end"),
        RULE("local function sum(...) local s = 0 for _, v in ipairs { ... } do s = s + v end\n"
             "return s, select('#', ...) end",
             "function(c) local s, n = sum(c.u, c.v, 3)\nreturn { u = s, v = n } end"),
        RULE("local low <const>, high <const> = 1, -2.5\nlocal zero <const> = 0",
             "function(c) local z <const> = 0\nreturn { u = c.u - 0 + high, v = 1 / (c.v - zero) - "
             "1 / (c.u - z) } end"),
        RULE("local p = sel.params { gain = 3 }",
             "function(c, gain) return { u = p.gain * gain * c.u, v = sel.ramp(c.u, 2) + "
             "sel.noise(1, c.v, 2) + sel.step(c.u) } end"),
        RULE("", "function(c) local m = math\nreturn { u = m.sin(c.u) * m.exp(-c.v ^ 2) + "
                 "m.log(m.abs(c.u) + 1, 2) + m.atan(c.u, c.v) + m.fmod(c.u, 3), v = "
                 "select(2, m.modf(c.v)) + m.min(c.k, c.u, 3) + m.deg(c.u) } end"),
        RULE("", "function(c) local x, y = c.u, c.v\nx, y = y, x\nlocal a = { x, y }\na[1], a[2] = "
                 "a[2], a[1]\nreturn { u = a[1], v = x == y and 1 or x ~= 1 and 2 or 3 } end"),
        RULE("",
             "function(c) if c.u > 1000 then error 'too large' end\nassert(c.v < 1e6)\nreturn { "
             "u = c.u } end"),
        RULE("",
             "function(c) local a = -c.u ^ 2 + 2 ^ -c.k * 3 % 5 - -3 // 2\n"
             "local b = not (c.u > 1) == (c.v > 1) and #'ab' .. 3 .. 4 or 0x1p-2 + 0xA + 3e2 + "
             ".5\n--[[ a\ncomment ]] local s = [==[\nlong]]]==];\n"
             "return { u = a + tonumber(b) + #s, v = 1 < 2 == true and 1 or 2 ; n = 7 & 3 << 1 | "
             "~0 & 8 ~ 1, } end"),
        RULE("local t = { f = { g = function(x) return { h = x } end } }\nfunction t.f.k(...) "
             "return "
             "... end\nfunction t.f:m(x, ...) return self.z or x, ... end",
             "function(c) local f, v = t.f, { t.f.k(1, 2), t.f.k(3, 4), [7] = 5, ['x y'] = 6; n = "
             "7 }\n"
             "do local f <const> = 1; v[2] = v[2] + f end\n"
             "local p, q, r = f:m(c.u, (f.k(c.v, 9)))\n"
             "return { u = t.f.g(c.u).h + t['f']['g'](2)['h'] + #v + v[7] + v['x y'] + v.n, v = p "
             "+ q + "
             "(r and 1 or 2), n = select('#', f.k()) + select('#', (f.k())) } end"),
        RULE("local function id(x) return x end local s = { len = string.len }",
             "function(c) local n = s.len'abc' + #id{ 1, 2 } + ('x'):rep(3):len() + id(c).k\n"
             "for i = 3, 1, -1 do n = n + i end for i = 1.0, 2 do n = n + i // 1 | 0 end\n"
             "repeat local done = true until done\nif n then elseif c then else end\n"
             "local function none() return end ; none();\n(none or id)(1)\n"
             "return { n = n } end"),
        RULE(
            "local Point = {} Point.__index = Point\nPoint.__eq = function(a, b) return a.x == b.x "
            "end\nPoint.__lt = function(a, b) return a.x < b.x end\nPoint.__unm = function(a) "
            "return "
            "-a.x end\nPoint.__len = function() return 4 end\nPoint.__call = function(a, k) return "
            "a.x "
            "* k end\nPoint.__concat = function(a, b) return b end\n"
            "Point.__newindex = function(t, k, v) rawset(t, k, 1) end\n"
            "local function new(x) return setmetatable({ x = x }, Point) end",
            "function(c) local a, b = new(c.u), new(c.v)\n"
            "return { u = (a == b and 1 or a ~= b and 2 or 3) + -a + #a + a(2), v = a < b and a .. "
            "5 "
            "or b .. 6 } end"),
        RULE("", "function(c) local ok = c.u > 0\nlocal both = ok == (c.v > 0)\nreturn { u = both "
                 "and 1 or 0, v = ok ~= true and 1 or 2 } end"),
        RULE("",
             "function(c) local i, s = 0, c.u\n::again:: i = i + 1\nif c(0, i - 1).u > 0 then s = "
             "s + i end\nif i < 3 then goto again end\nreturn { u = s } end"),
        RULE("", "function(c) local t = {}\nif c.u > 0 then t[1] = 1 end\nlocal s = 0\n"
                 "for k, v in pairs(t) do s = s + k + v end\nreturn { u = s, n = #t } end"),
        RULE("", "function(c) local v\nif c.u > 0 and c.v > 0 then return { u = 1 } end\nif not "
                 "(c.v > 0) "
                 "then v = 3 end\nif c.u > 0 then return { u = v + 1 } end\nreturn { u = 2 } end"),
        RULE("local V = {} V.__index = V\nfunction V:twice() return self.x * 2 end\nlocal function "
             "new(x) "
             "local v = {} if x > 0 then v.x = x else v.x = -1 end\nreturn setmetatable(v, V) end",
             "function(c) return { u = new(c.u):twice() } end"),
        RULE("", "function(c) local fs = {}\nfor i = 1, 3 do local j = c.u * i\nfs[i] = "
                 "function(d) return "
                 "j + d end\nj = j + 1\nif c(0, i - 2).v > 0 then break end end\nlocal s = 0\nfor "
                 "i = 1, "
                 "3 do s = s + (fs[i] and fs[i](i) or i) end\nreturn { u = s } end"),
        RULE("local f = load 'return function(c) return c end' ()",
             "function(c) return { u = f(c).u } end"),
        RULE("",
             "function(c) local i, s = 0, 0\nwhile i < 3 and c(0, i - 1).u > 0 do i = i + 1 s = s "
             "+ c(0, i - 1).v end\nreturn { u = s } end"),
        RULE(
            "",
            "function(c) local f, v = nil, c.v\nif c.u > 0 then f = function() return v end else f "
            "= function() v = v + 1 return v * 2 end end\nv = v + 1\nlocal w = f()\n"
            "return { u = w, v = v } end"),
        RULE("",
             "function(c) local fs = {}\nfor i = 1, 3 do local j = i * c.u\nfs[i] = function(d) "
             "j = j + d return j + i end\nif c(0, i - 2).u > 0 then fs[i](10) end end\n"
             "return { u = fs[1](1) + fs[2](2), v = fs[3](3) + fs[1](4) } end"),
        RULE("", "function(c) local function pick(...) if c.u > 0 then return ... end return 1, "
                 "... end\n"
                 "local a, b, d = pick(c.v, 5)\nreturn { u = a, v = b + (d or 7) } end"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        follows(cases[i], SEL_RETURNS_FIELDS);
    follows(RULE("", "function(c) return c.u, c(1, 0).k end"), SEL_RETURNS_NUMBERS);
    follows(RULE("", "function(c) if c.u > 0 then return 1, 2 end return c.u, 3 end"),
            SEL_RETURNS_NUMBERS);
}

/* Functions that functions make: counters, iterators, currying. */
static void made_functions_are_followed(void **state) {
    (void)state;
    static const char *const cases[] = {
        RULE("local function adder(amount) return function(v) return v + (amount or 1) end end",
             "function(c) if c.n == 2 then return { u = adder(100)(c.u) } end return { u = "
             "adder()(c.u) } end"),
        RULE("local function compose(f, g) return function(...) return f(g(...)) end end\nlocal "
             "function plus(k) return function(x) return x + k end end",
             "function(c) local f = compose(plus(c.v), plus(2)) local g = compose(f, f) return { u "
             "= g(c.u), v = compose(math.abs, g)(c.v) } end"),
        RULE("local function curry(a) return function(b) return function(d) return a * b + d end "
             "end end",
             "function(c) return { u = curry(c.u)(c.v)(3), v = curry(2)(c.k)(c.n) } end"),
        RULE("local function counter(start) local n = start or 0 return function(by) n = n + (by "
             "or 1) return n end end",
             "function(c) local f, g = counter(), counter(c.n) f() g(2) f() if c.u > 0 then f(10) "
             "end return { u = f(), v = g() + g() } end"),
        RULE("local function pair(x) return function() return x end, function(v) x = v end end",
             "function(c) local get, set = pair(c.u) if c.v > 0 then set(c.v * 2) end local a = "
             "get() set(a + 1) return { u = get(), v = a } end"),
        RULE("local function range(n) local i = 0 return function() i = i + 1 if i <= n then "
             "return i end end end",
             "function(c) local s = 0 for i in range(3) do s = s + i * c(0, i - 2).u end return { "
             "u = s } end"),
        RULE("local function neighbours(c) local d = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } "
             "local i = 0\nreturn function() i = i + 1 if d[i] then return c(d[i][1], d[i][2]) end "
             "end end",
             "function(c) local s = 0 for o in neighbours(c) do if o.k > 1 then s = s + o.u end "
             "end return { u = s } end"),
        RULE("local function evens(t) return function(s, i) i = i + 2 if s[i] then return i, s[i] "
             "end end, t, 0 end",
             "function(c) local s = 0 for i, v in evens { 1, c.u, 3, c.v, 5 } do s = s + i * v end "
             "return { u = s } end"),
        RULE("", "function(c) local fs = {} for i = 1, 4 do fs[i] = function(x) return x * i + c.u "
                 "end end local s = 0 for i = 1, 4 do s = s + fs[i](c.v) end return { u = s } end"),
        RULE("", "function(c) local fs = {} local total = 0 for i, name in ipairs { 'u', 'v' } do "
                 "fs[name] = function() total = total + c[name] * i return total end end\nif c.u > "
                 "c.v then fs.u() else fs.v() fs.v() end return { u = fs.u(), v = total } end"),
        RULE("local function make(k) local t = { k = k } function t.add(x) t.k = t.k + x return t "
             "end function t.get() return t.k end return t end",
             "function(c) local o = make(c.u).add(1).add(c.v) if c.n > 0 then o.add(5) end return "
             "{ u = o.get() } end"),
        RULE("", "function(c) local function fact(n) if n <= 1 then return 1 end return n * fact(n "
                 "- 1) end return { u = fact(5) * c.u } end"),
        RULE("",
             "function(c) local even, odd function even(n) if n == 0 then return true end return "
             "odd(n - 1) end function odd(n) if n == 0 then return false end return even(n - 1) "
             "end\nreturn { u = even(4) and c.u or c.v, v = odd(4) and 1 or 2 } end"),
        RULE("", "function(c) local x = c.u local function f() return x end local a = f() x = c.v "
                 "local b = f() if c.n > 0 then x = 7 end return { u = a - b, v = f() } end"),
        RULE("local function make(x) if x > 0 then return function(v) return v + x end end return "
             "function(v) return v - x end end",
             "function(c) local f = make(c.u) return { u = f(c.v), v = make(1)(2) } end"),
        RULE("local function make(x) local y = x if x > 3 then y = 3 return function() return y "
             "end end y = y * 2 local function g() y = y + 1 return y end return g end",
             "function(c) local f = make(c.u) local a = f() return { u = a, v = f() } end"),
        RULE("local function two(a, b) local s = a return function() s = s + b return s end, "
             "function() s = s * 2 return s end, s end",
             "function(c) local f, g, s = two(c.u, c.v) local x = f() + g() * 3 if c.k > 1 then x "
             "= x + f() end return { u = x, v = g() + s } end"),
        RULE("local function map(t, f) local r = {} for i, v in ipairs(t) do r[i] = f(v) end "
             "return r end\nlocal function fold(t, f, s) for _, v in ipairs(t) do s = f(s, v) end "
             "return s end",
             "function(c) local k = c.u local r = map({ 1, c.v, 3 }, function(x) return x * k end) "
             "return { u = fold(r, function(a, b) return a + b end, 0), v = fold(map(r, math.abs), "
             "math.max, 0) } end"),
        RULE("local function once(f) local done, value return function(...) if not done then done, "
             "value = true, f(...) end return value end end",
             "function(c) local n = 0 local f = once(function(x) n = n + 1 return x * 2 end) local "
             "a = f(c.u) return { u = a + f(5), n = n } end"),
        RULE("local function make() local s = 0 return function(v) if v > 0 then s = s + v end "
             "return s end end",
             "function(c) local acc = make() acc(c.u) acc(c.v) acc(c(1, 0).u) return { u = acc(0), "
             "v = make()(3) } end"),
        RULE("", "function(c) local fs, i = {}, 0\nwhile true do i = i + 1 local j = i * c.u fs[i] "
                 "= function(d) j = j + d return j end\nif c(0, i - 2).v > 0 then break end j = j "
                 "* 2 if i >= 3 then break end end\nlocal s = 0 for k = 1, 3 do s = s + (fs[k] and "
                 "fs[k](k) + fs[k](1) or -k) end return { u = s, n = i } end"),
        RULE("", "function(c) local n = 0\nlocal P = { __lt = function(a, b) n = n + 1 return a.x "
                 "< b.x end, __eq = function(a, b) n = n + 100 return a.x == b.x end }\nlocal a, b "
                 "= setmetatable({ x = c.u }, P), setmetatable({ x = c.v }, P)\nif a < b then n = "
                 "n + 10 end\nif a == b then n = n + 1000 end\nreturn { u = n } end"),
        RULE("", "function(c) local n = 0\nlocal P = {} P.__concat = function(a, b) n = n + 1 "
                 "return setmetatable({ x = 1 }, P) end\nlocal a = setmetatable({ x = c.u }, P) "
                 "local b = c.u > 0 and a or nil\nb = b or setmetatable({ x = 2 }, P)\nlocal r = "
                 "(c.v > 0 and a or b) .. a .. b\nreturn { u = n } end"),
        RULE("", "function(c) local t = { a = 1, b = 2, d = 3 } local s = 0 for k, v in pairs(t) "
                 "do if c.u > 0 then t.b = nil end s = s + v end return { u = s } end"),
        RULE("", "function(c) local t = { 1, 2, 3 } local s = 0 for k, v in ipairs(t) do if c.u > "
                 "0 then t[2] = nil end s = s + v end return { u = s } end"),
        RULE("local function each(list, f) for i = 1, #list do local stop = f(list[i], i) if stop "
             "then return i end end return 0 end",
             "function(c) local s = 0 local at = each({ c.u, c.v, c(1, 0).u }, function(v, i) s = "
             "s + v if v > 0.5 then return true end end) return { u = s, n = at } end"),
        RULE("local function make(...) local args = { ... } return function(i) return args[i] or 0 "
             "end end",
             "function(c) local f = make(c.u, nil, c.v) return { u = f(1) + f(3), v = f(2) } end"),
        RULE("local function make(...) local n = select('#', ...) local a, b = ... return "
             "function(...) return n, a, b, ... end end",
             "function(c) local n, a, b, d = make(c.u, c.v)(c.n) return { u = n + a + d, v = b } "
             "end"),
        RULE("local defaults = { scale = 2 }\nlocal function make(o) o = o or {} local scale = "
             "o.scale or defaults.scale local clip = o.clip == nil and true or o.clip return "
             "function(v) v = v * scale if clip and v > 1 then return 1 end return v end end",
             "function(c) return { u = make()(c.u), v = make { clip = false, scale = c.n > 0 and 3 "
             "or nil }(c.v) } end"),
        RULE("local Y = function(f) return (function(x) return x(x) end)(function(x) return "
             "f(function(...) return x(x)(...) end) end) end",
             "function(c) return { u = Y(function(self) return function(n) if n == 0 then return "
             "c.u end return self(n - 1) + 1 end end)(4) } end"),
        RULE("", "function(c) local memo = {} local function fib(n) if n < 2 then return n end if "
                 "memo[n] then return memo[n] end local r = fib(n - 1) + fib(n - 2) memo[n] = r "
                 "return r end return { u = fib(12) * c.u, n = fib(10) } end"),
        RULE("", "function(c) local best, at = -math.huge local function look(o, i) if o.u > best "
                 "then best, at = o.u, i end end for i = -1, 1 do look(c(i, 0), i) end return { u "
                 "= best, n = at or 99 } end"),
        RULE("local function stack() local t, n = {}, 0 return { push = function(v) n = n + 1 t[n] "
             "= v end, pop = function() local v = t[n] t[n] = nil n = n - 1 return v end, size = "
             "function() return n end } end",
             "function(c) local s = stack() s.push(c.u) s.push(c.v) local a = s.pop() s.push(a + "
             "1) if c.u > 0 then s.push(5) s.pop() end return { u = s.pop(), v = s.pop(), n = "
             "s.size() } end"),
        RULE("local function partial(f, ...) local a = table.pack(...) return function(...) local "
             "b = { table.unpack(a, 1, a.n) } for _, v in ipairs { ... } do b[#b + 1] = v end "
             "return f(table.unpack(b)) end end",
             "function(c) return { u = partial(math.max, c.u, 1)(c.v), v = partial(function(a, b, "
             "d) return a + b * d end, c.u)(c.v, 2) } end"),
        RULE("local function pipe(...) local fs = { ... } return function(x) for _, f in "
             "ipairs(fs) do x = f(x) end return x end end",
             "function(c) return { u = pipe(math.abs, math.sqrt, function(v) return v + c.v "
             "end)(c.u) } end"),
        RULE("local function gen(c) local state = c.u return { next = function(self) state = "
             "(state * 3 + 1) % 7 return state end } end",
             "function(c) local g = gen(c) g:next() if c.v > 0 then g:next() end return { u = "
             "g:next() } end"),
        RULE("local ops = { add = function(a) return function(b) return a + b end end, mul = "
             "function(a) return function(b) return a * b end end }",
             "function(c) local op = c.n > 0 and ops.add or ops.mul return { u = op(c.u)(c.v) } "
             "end"),
        RULE("", "function(c) local f for i = 1, 3 do local prev = f f = function(x) if prev then "
                 "return prev(x) + i end return x * i end end return { u = f(c.u) } end"),
        RULE("", "function(c) local a = 1 local function outer() local b = a + 1 local function "
                 "inner() a = a + b b = b * 2 return a end return inner end local f, g = outer(), "
                 "outer() f() if c.u > 0 then g() end return { u = f() + g(), n = a } end"),
        RULE("",
             "function(c) local fs = {} for k, v in pairs { a = c.u, b = c.v } do fs[k] = "
             "function() v = v + 1 return v end end fs.a() return { u = fs.a(), v = fs.b() } end"),
        RULE("", "function(c) local x = c.u local f = function() return x end do local x = c.v f = "
                 "function() x = x + 1 return x end end x = 5 return { u = f(), v = f() + x } end"),
        RULE("", "function(c) local s = 0 for i = 1, 3 do local f = function() return i * c.u end "
                 "i = i + 10 s = s + f() end return { u = s } end"),
        RULE("", "function(c) local s = 0 repeat local j = s + 1 local f = function() return j * 2 "
                 "end s = s + f() until f() > 10 return { u = s + c.u } end"),
        RULE("local function until_pos(c) local i = 0 return function() i = i + 1 if i > 3 then "
             "return nil end if c(0, i - 2).u > 50 then return nil end return i end end",
             "function(c) local s = 0 for i in until_pos(c) do s = s + i end return { n = s } end"),
        RULE("local function make(n) local function f(x) if x > n then return f(x - 1) end return "
             "x end return f end",
             "function(c) return { u = make(3)(6) + c.u } end"),
        RULE("local function f(a, b) b = b or a * 2 return function(d) d = d or b return a + b + d "
             "end end",
             "function(c) local g = f(c.u) return { u = g(), v = g(c.v) + f(1, c.n > 0 and c.n or "
             "nil)() } end"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        follows(cases[i], SEL_RETURNS_FIELDS);
}

static void mistakes_have_their_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {RULE("", "function(c)\nreturn { u = c.uu } end"),
         "5: a cell has no field 'uu'; did you mean 'u'?"},
        {RULE("", "function(c)\nreturn { u = c(2, 0)(1, 0).u } end"),
         "5: rules reach at most 2 cells from the one that they compute"},
        {RULE("", "function(c)\nreturn { u = c(c.n, 0).u } end"),
         "5: the distance of a neighbour must be known when the rule is read"},
        {RULE("", "function(c)\nreturn { u = c(0.5, 0).u } end"),
         "5: the distance of a neighbour must be a whole number, not a number"},
        {RULE("", "function(c)\nreturn { u = c(1).u } end"),
         "5: a cell takes 2 distances: c(dx, dy)"},
        {RULE("", "function(c)\nc.u = 1 end"),
         "5: a cell cannot be assigned to; return the new values: return { NAME = value }"},
        {RULE("", "function(c)\nreturn { u = 1,\na = 2 } end"),
         "5: it returns a value of no state field: 'a', which is data: rules only read it"},
        {RULE("", "function(c)\nreturn { w = 1 } end"),
         "5: it returns a value of no state field: 'w'; state has u, v, n"},
        {RULE("", "function(c)\nif c.u > 0 then return { u = 1 } end\nend"),
         "6: it returns nothing on some way"},
        {RULE("", "function(c)\nlocal u = c.u end"), "5: it returns nothing on some way"},
        {RULE("", "function(c)\nif c.u > 0 then return { u = 1 } end\nreturn { v = 1 } end"),
         "6: it returns 'u' on one way and not on another"},
        {RULE("", "function(c)\nreturn { u = c.u > 0 and 1 } end"),
         "5: it returns a number on one way and a boolean on another"},
        {RULE("", "function(c)\nlocal s\nif c.u > 0 then s = 1 end\nreturn { u = s + 1 } end"),
         "7: attempt to perform arithmetic on a nil value"},
        {RULE("",
              "function(c)\nlocal s = 0\nfor k = 1, 3, 0 do s = s + c.u end\nreturn { u = s } end"),
         "6: the step of a loop must not be 0"},
        {RULE("", "function(c)\nlocal s = c.u > 0 and { 1 } or 1\nreturn { u = s[1] } end"),
         "6: it indexes a number value ('?')"},
        {RULE("", "function(c)\nreturn { u = c.u > 0 } end"), "5: it returns a condition"},
        {RULE("", "function(c)\nreturn { n = c.n / 2 } end"),
         "5: it returns a real number for the whole number 'n'; math.floor makes it whole"},
        {RULE("", "function(c)\nlocal n = 1\nif c.u > 0 then n = 0.5 end\nreturn { n = n } end"),
         "7: it returns a real number for the whole number 'n'; math.floor makes it whole"},
        {RULE("local last = 0",
              "function(c)\nlocal d = c.u - last\nlast = c.u\nreturn { u = d } end"),
         "6: the rule keeps a value between calls: it changes 'last', a variable outside of it"},
        {RULE("local memo = {}", "function(c)\nmemo.u = c.u\nreturn { u = memo.u } end"),
         "5: the rule keeps a value between calls: it changes a table outside of it"},
        {RULE("local function help(c)\nreturn c.b end", "function(c)\nreturn { u = help(c) } end"),
         "3: a cell has no field 'b'; it has u, v, n, k, a"},
        {RULE("", "function(c)\nreturn { u = math.sqroot(c.u) } end"), "5: it calls a nil value"},
        {RULE("", "function(c)\nreturn { u = undeclared * c.u } end"),
         "5: undeclared global 'undeclared'"},
        {RULE("", "function(c)\nreturn { u = 2 * {} } end"),
         "5: attempt to perform arithmetic on a table value"},
        {RULE("", "function(c)\nreturn { u = sel.random(c.u) } end"),
         "5: sel.random(k): k must be a whole number"},
        {RULE("", "function(c)\nreturn 1 end"),
         "4: it returns a number; a rule returns { NAME = new value, ... }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static sel_error error;
        char why[SEL_RULE_WHY], message[256];
        script_case c;
        load(&c, cases[i].text);
        const sel_rule *rule = read_rule(&c, SEL_RETURNS_FIELDS, why, &error);
        snprintf(message, sizeof message, "s.lua:%.1s: sel.lbm.rule: %s", cases[i].message,
                 cases[i].message + 3);
        if (rule || strcmp(error.text, message) != 0)
            fail_msg("case %zu: '%s' %s\n", i, error.text, why);
        script_done(&c);
    }
}

static void what_cannot_be_followed_is_left_to_lua(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {RULE("local t = { 1, 2, 3 }", "function(c)\nreturn { u = t[c.n] or 0 } end"),
         "it indexes a table on line 5 by a value that is known in a cell only"},
        {RULE("", "function(c) local i = 0\nwhile i < c.n do i = i + 1 end\nreturn { n = i } end"),
         "the loop on line 5 ends by a value that is known in a cell only"},
        {RULE("", "function(c) local s = 0\nfor i = 1, c.n do s = s + i end\nreturn { n = s } end"),
         "the loop on line 5 ends by a value"},
        {RULE("", "function(c)\nreturn { n = #tostring(c.n) } end"),
         "it calls tostring on line 5 with what is known in a cell only"},
        {RULE("", "function(c)\nreturn { n = #(c.n .. '') } end"),
         "on line 5 it makes a text of a number"},
        {RULE("", "function(c)\nerror 'never' end"), "it always ends in an error"},
        {RULE("local function f(n) if n > 0 then return f(n - 1) + 1 end return 0 end",
              "function(c)\nreturn { n = f(c.n) } end"),
         "it calls functions more than 150 deep"},
        {RULE("", "function(c) local s = 0 for i = 1, 1e7 do s = s + 1 end\nreturn { n = s } end"),
         "it takes more than 1000000 instructions"},
        {RULE("local M = { __tostring = function(t) return t.v end }",
              "function(c)\nlocal s = tostring(setmetatable({ v = c.u }, M))\nreturn { u = c.u } "
              "end"),
         "it calls tostring on line 5 with a table that has a metatable"},
        {RULE("local M = { __tostring = function(t) return t.v end }",
              "function(c)\nlocal s = ('%s'):format(setmetatable({ v = c.u }, M))\nreturn { u = "
              "c.u } end"),
         "it calls format on line 5 with a table that has a metatable"},
        {RULE("local M = { __index = function(t) return t.v end, __len = function() return 2 end }",
              "function(c)\nlocal s = table.concat(setmetatable({ v = c.u }, M))\nreturn { u = c.u "
              "} end"),
         "it calls concat on line 5 with a table that has a metatable"},
        {RULE("local M = { __index = function(t) return t.v end, __len = function() return 2 end }",
              "function(c)\nlocal s = table.unpack(setmetatable({ v = c.u }, M))\nreturn { u = c.u "
              "} end"),
         "it calls unpack on line 5 with a table that has a metatable"},
        {RULE("local M = { __index = function(t) return nil end }",
              "function(c)\nfor _, s in ipairs(setmetatable({ v = c.u }, M)) do end\nreturn { u = "
              "c.u } end"),
         "it calls ipairs on line 5 with a table that has a metatable"},
        {RULE("local M = { __pairs = function(t) return next, {} end }",
              "function(c)\nfor _, s in pairs(setmetatable({ v = c.u }, M)) do end\nreturn { u = "
              "c.u } end"),
         "it calls pairs on line 5 with a table that has a metatable"},
        {RULE("local M = { __index = function(t) return 1 end }\nlocal f = pairs { a = 1 }",
              "function(c)\nlocal s = f(setmetatable({ v = c.u }, M))\nreturn { u = c.u } end"),
         "on line 6 it goes on with a walk"},
        {RULE("local f = pairs { a = 1 }",
              "function(c)\nlocal s = f({ of = { c.u }, at = 0 })\nreturn { u = c.u } end"),
         "on line 5 it goes on with a walk"},
        {RULE("local M = { __lt = function(a) return true end }",
              "function(c)\nlocal s = {} <= setmetatable({ v = c.u }, M)\nreturn { u = c.u } end"),
         "on line 5 it compares by <= or >= what has __lt alone"},
        {RULE("local M = { __lt = function(a) return true end }",
              "function(c)\nlocal s = sel.ramp(1, setmetatable({ v = c.u }, M))\nreturn { u = c.u "
              "} end"),
         "it calls a function on line 5 with a table that has a metatable"},
        {RULE("local M = { __index = coroutine.wrap(function(t) return 1 end) }",
              "function(c)\nlocal s = setmetatable({ v = c.u }, M).w\nreturn { u = c.u } end"),
         "it calls a library function on line 5"},
        {RULE("local M = { __len = function(t) return t end, __add = function(a) return 1 end }",
              "function(c)\ntable.insert(setmetatable({ v = c.u }, M), 1)\nreturn { u = c.u } end"),
         "on line 5 it inserts into a list whose length"},
        {RULE("", "function(c)\nlocal s = table.concat { c.u }\nreturn { u = c.u } end"),
         "it calls concat on line 5 with a table that holds what is known in a cell only"},
        {RULE("", "function(c)\nlocal s = tostring { function() return c.u end }\nreturn { u = c.u "
                  "} end"),
         "it calls tostring on line 5 with a table that holds a function that it makes"},
        {RULE("", "function(c)\nlocal s = rawget({ 1, 2 }, c.n)\nreturn { u = c.u } end"),
         "it calls rawget on line 5 with what is known in a cell only"},
        {RULE("", "function(c)\nlocal s = table.unpack({ 1, 2 }, 1, c.n)\nreturn { u = c.u } end"),
         "it calls unpack on line 5 with what is known in a cell only"},
        {RULE("local M = {}\nM.__index = setmetatable(M, M)",
              "function(c)\nlocal s = setmetatable({}, M).w\nreturn { u = c.u } end"),
         "on line 6 tables stand behind each other in a loop"},
        {RULE("local M = {}\nM.__call = setmetatable({}, M)",
              "function(c)\nlocal s = M.__call(c.u)\nreturn { u = c.u } end"),
         "on line 6 tables stand behind each other in a loop"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static sel_error error;
        char why[SEL_RULE_WHY];
        script_case c;
        load(&c, cases[i].text);
        const sel_rule *rule = read_rule(&c, SEL_RETURNS_FIELDS, why, &error);
        if (rule || error.status || !strstr(why, cases[i].reason))
            fail_msg("case %zu: '%s' %s\n", i, why, error.text);
        script_done(&c);
    }
}

/* Several functions on one line are told apart by what they compile to. */
static void functions_on_one_line_are_told_apart(void **state) {
    (void)state;
    follows(RULE("local fs = { function(c) return c.u end, function(c) return c.v end }",
                 "function(c) return { u = fs[2](c) - fs[1](c) } end"),
            SEL_RETURNS_FIELDS);
    follows(
        RULE("local p, q = 1, 2 local f, g = function(c) return c.u + p end, function(c) return "
             "c.v + p end",
             "function(c) return { u = f(c) - 2 * g(c) } end"),
        SEL_RETURNS_FIELDS);
    follows(RULE("local m = {} function m.a(c) return c.u end function m:b(c) return c.v end",
                 "function(c) return { u = m.a(c) - m:b(c) } end"),
            SEL_RETURNS_FIELDS);
}

/* The nodes of a rule with so many conditions, one after the other. */
static int nodes_of(int conditions) {
    static char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "local sel = require 'selenite'\nreturn sel.lbm { rule = "
                                   "function(c) local s = c.u\n");
    for (int i = 0; i < conditions; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "if s > %d then s = s - c.v elseif s == %d then s = s * 2 else s = "
                             "s + 1 end\n",
                             i, -i);
    snprintf(text + used, sizeof text - used, "return { u = s } end }\n");
    return follows(text, SEL_RETURNS_FIELDS);
}

static void conditions_do_not_multiply(void **state) {
    (void)state;
    const int few = nodes_of(8), many = nodes_of(16);
    assert_true(many - few <= few);
}

/* A rule of a hundred lines takes less than 20 ms to read, its graph compared with Lua included. */
static void long_rules_are_read_quickly(void **state) {
    (void)state;
    static sel_error error;
    static char text[16384];
    char why[SEL_RULE_WHY];
    script_case c;
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "local sel = require 'selenite'\nreturn sel.lbm { rule = "
                                   "function(c) local s, n = c.u, 0\n");
    for (int i = 0; i < 25; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "for _, d in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do\n"
                             "local o = c(d[1], d[2])\n"
                             "if o.u > s + %d then s = s + 0.25 * (o.u - s) else n = n + o.k end\n"
                             "end\n",
                             i);
    snprintf(text + used, sizeof text - used, "return { u = s, n = n } end }\n");
    load(&c, text);
    const sel_rule *rule = NULL;
    double seconds = HUGE_VAL; /* the least: other programs are at work, too */
    for (int k = 0; k < 5; k++) {
        const clock_t before = clock();
        rule = read_rule(&c, SEL_RETURNS_FIELDS, why, &error);
        seconds = fmin(seconds, (double)(clock() - before) / CLOCKS_PER_SEC);
    }
    if (!rule)
        fail_msg("%s%s", why, error.text);
    print_message("# a rule of 100 lines, %d nodes: %.3g ms\n", rule->nodes, 1e3 * seconds);
    assert_true(!SPEED_COUNTS || seconds < 0.1); /* half of it for the comparison with Lua */
    script_done(&c);
}

static void whole_numbers_have_bounds(void **state) {
    (void)state;
    static const struct {
        const char *value;
        double low, high;
    } cases[] = {
        {"c.k", 0, 255},
        {"c.k * 2 - 1", -1, 509},
        {"c.n % 4", 0, 3},
        {"c.k // 4", 0, 63},
        {"c.k & 7", 0, 7},
        {"c.k | 256", 0, 511},
        {"c.k << 2", 0, 1020},
        {"c.k >> 3", 0, 31},
        {"~c.k", -256, -1},
        {"math.abs(c.n)", 0, 0x1p31},
        {"math.min(c.k, 9)", 0, 9},
        {"math.max(c.k, 9)", 9, 255},
        {"c.u > 0 and 1 or c.k", 0, 255},
        {"-c.k", -255, 0},
        {"c.k + c(1, 0).k + c(2, 0).k - c(1, 0).k", 0, 510}, /* terms that cancel */
        {"-c.k + c(1, 0).k + c.k + c.k", 0, 510},
        {"c.k - c.k", 0, 0},
        {"c.k + c(1, 0).k + c(2, 0).k - c(1, 0).k", 0, 510}, /* terms that cancel */
        {"-c.k + c(1, 0).k + c.k + c.k", 0, 510},
        {"c.k - c.k", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static sel_error error;
        char why[SEL_RULE_WHY], text[512];
        script_case c;
        snprintf(text, sizeof text, RULE("", "function(c) return { n = %s } end"), cases[i].value);
        load(&c, text);
        const sel_rule *rule = read_rule(&c, SEL_RETURNS_FIELDS, why, &error);
        assert_non_null(rule);
        const sel_rule_node *n = &rule->node[rule->output[0].node];
        if (!n->whole || n->low != cases[i].low || n->high != cases[i].high)
            fail_msg("%s: %g to %g", cases[i].value, n->low, n->high);
        script_done(&c);
    }
}

/* What cannot be followed is left to Lua. */
static bool may_be_left(const char *why) {
    return strstr(why, "it always ends in an error") || strstr(why, "2^53") ||
           strstr(why, "more than") || strstr(why, "a real number for"); /* floor of infinity */
}

/* RULES=n compares n rules, from the one of number FIRST=n on. */
static void generated_rules_agree_bit_by_bit(void **state) {
    (void)state;
    static law_writer w;
    static char text[2 * LAW_TEXT];
    static sel_error error;
    const unsigned first = setting("FIRST", 1), rules = setting("RULES", RULES);
    unsigned left = 0, failed = 0, nodes = 0, most = 0;
    for (unsigned number = first; number < first + rules; number++) {
        script_case c;
        char why[SEL_RULE_WHY];
        rule_write(&w, number, false);
        snprintf(text, sizeof text, "%sreturn sel.lbm { controls = { gain = 2.5 }, rule = %s }\n",
                 RULE_PRELUDE, w.text);
        load(&c, text);
        assert_string_equal(mistakes, "");
        const sel_rule *rule = read_rule(&c, SEL_RETURNS_FIELDS, why, &error);
        if (!rule && !may_be_left(*why ? why : error.text))
            fail_msg("FIRST=%u: %s%s\n%s", number, why, error.text, w.text);
        left += !rule;
        failed += rule ? (unsigned)compare(rule, text, CELLS) : 0;
        nodes += rule ? (unsigned)rule->nodes : 0;
        most = rule && (unsigned)rule->nodes > most ? (unsigned)rule->nodes : most;
        script_done(&c);
    }
    print_message("# %u rules, %u left to Lua; of %u cells %u failed; %u nodes, at most %u\n",
                  rules, left, CELLS * (rules - left), failed, nodes / (rules - left + 1), most);
    assert_true(rules < RULES || left < rules / 4);
    assert_true(rules < RULES || failed < CELLS * (rules - left) / 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_become_graphs),
        cmocka_unit_test(made_functions_are_followed),
        cmocka_unit_test(mistakes_have_their_line),
        cmocka_unit_test(what_cannot_be_followed_is_left_to_lua),
        cmocka_unit_test(functions_on_one_line_are_told_apart),
        cmocka_unit_test(conditions_do_not_multiply),
        cmocka_unit_test(long_rules_are_read_quickly),
        cmocka_unit_test(whole_numbers_have_bounds),
        cmocka_unit_test(generated_rules_agree_bit_by_bit),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
