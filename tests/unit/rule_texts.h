/* rule_texts.h -- scenarios of sel.rule of every kind, for tests that compare two ways to run them.
 */
#ifndef RULE_TEXTS_H
#define RULE_TEXTS_H

typedef struct rule_text {
    const char *name, *text; /* %s: the precision */
    bool round_off;          /* has functions that only agree but for it */
} rule_text;

/* `where`: size and periodic axes. */
#define RULE_TEXT(where, fields)                                                                  \
    "return sel.rule { " where ", precision = '%s', exact = true, stop = { steps = 9 },\n" fields \
    " }\n"

#define LAPLACE                                                                  \
    "local function around(c, name)\n"                                           \
    "  return c(1, 0)[name] + c(-1, 0)[name] + c(0, 1)[name] + c(0, -1)[name]\n" \
    "    - 4 * c[name]\n"                                                        \
    "end\n"

static const rule_text rule_texts[] = {
    {"two substances",
     LAPLACE RULE_TEXT(
         "size = { 131, 37 }, periodic = { 'x', 'y' }",
         "state = { u = 'real', v = 'real' }, dt = 0.9, main = 'v',\n"
         "rule = function(c, dt)\n"
         "  local rate = c.u * c.v ^ 2\n"
         "  return { u = c.u + dt * (0.16 * around(c, 'u') - rate + 0.037 * (1 - c.u)),\n"
         "    v = c.v + dt * (0.08 * around(c, 'v') + rate - 0.097 * c.v) }\n"
         "end, conserved = { 'u' },\n"
         "derived = { speed = function(c) return c.u - c.v, c(1, 0).u * c(0, -1).v end },\n"
         "initial = { u = function(x, y) return 1 - math.exp(-(x - 9) ^ 2 / 99) end,\n"
         "v = function(x, y) return math.exp(-(x - 20) ^ 2 / 90 - y / 8) end }"),
     false},
    {"a gradient that begins at 0",
     RULE_TEXT("size = { 144, 72 }",
               "state = { T = 'real' }, regions = {\n"
               "{ where = shape.faces, law = law.gradient { 0 } },\n"
               "{ where = shape.face 'x-', law = law.gradient { function(t) return 0.1 * t end } } "
               "},\n"
               "rule = function(c) return c.T + 0.2 * (c(1, 0).T + c(-1, 0).T - 2 * c.T) end,\n"
               "initial = { T = 1 }"),
     false},
    {"bytes between walls of ones",
     RULE_TEXT("size = { 144, 72 }",
               "state = { u = 'u8' }, regions = {\n"
               "{ where = shape.faces, law = law.mirror {} },\n"
               "{ where = shape.face 'x-', law = law.fixed { 1 } } },\n"
               "rule = function(c)\n"
               "  local n = c(1, 0).u + c(-1, 0).u + c(0, 1).u + c(0, -1).u + c(1, 1).u\n"
               "  return (n == 1 or n == 2 and c.u == 1) and 1 or 0\n"
               "end, initial = { u = function(x, y) return math.floor(x * 7 + y * 3) % 2 end }"),
     false},
    {"a plate",
     RULE_TEXT("size = { 140, 70 }, dx = 0.5",
               "state = { T = 'real' }, regions = {\n"
               "{ where = shape.face 'x-', law = law.fixed { 1, at = 'face' } },\n"
               "{ where = shape.face 'x+', law = law.fixed { 2 } },\n"
               "{ where = shape.face 'y-', law = law.gradient { 0.1 } },\n"
               "{ where = shape.face 'y+', law = law.mirror {} } },\n"
               "rule = function(c)\n"
               "  return c.T + 0.2 * (c(1, 0).T + c(-1, 0).T + c(0, 1).T + c(0, -1).T - 4 * c.T)\n"
               "end, initial = { T = function(x, y) return math.sin(x * y / 9) end }"),
     false},
    {"two fields in a box",
     RULE_TEXT(
         "size = { 242, 67 }, periodic = { 'x' }",
         "state = { u = 'real', v = 'real' }, main = 'u', dt = 0.5,\n"
         "regions = { { where = shape.faces, law = law.mirror {} } },\n"
         "rule = function(c, dt)\n"
         "  local rate = c.u * c(1, 1).v ^ 2 * c(-1, 0).v\n"
         "  return { u = c.u + dt * (0.037 * (1 - c(-1, 0).u) - rate), v = c.v + dt * rate }\n"
         "end, initial = { u = function(x, y) return math.cos(x - y / 7) end,\n"
         "v = function(x, y) return math.sin(x / 5 + y) end }"),
     false},
    {"life",
     RULE_TEXT("size = { 301, 45 }, periodic = { 'x', 'y' }",
               "state = { alive = 'u8' }, rule = function(c)\n"
               "  local n = -c.alive\n"
               "  for dy = -1, 1 do for dx = -1, 1 do n = n + c(dx, dy).alive end end\n"
               "  return (n == 3 or n == 2 and c.alive == 1) and 1 or 0\n"
               "end, initial = { alive = function(x, y)\n"
               "  return math.floor(x * y * 0.37) % 3 == 0 and 1 or 0 end }"),
     false},
    {"grains that topple, with bits",
     RULE_TEXT("size = { 70, 41 }",
               "state = { n = 'i32', seen = 'u8' }, main = 'n', rule = {\n"
               "function(c)\n"
               "  local n = c.n % 4\n"
               "  for _, d in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do\n"
               "    n = n + c(d[1], d[2]).n // 4\n"
               "  end\n"
               "  return { n = n }\n"
               "end,\n"
               "function(c) return { seen = ((c.seen << 1 | c.n & 1) ~ (c.n >> 2)) & 255 } end },\n"
               "regions = { { name = 'all', where = shape.faces, law = law.fixed { 0 } } },\n"
               "initial = { n = function(x, y) return math.floor(x + y) % 9 end }"),
     false},
    {"laws of all kinds, a wall and a held place",
     LAPLACE RULE_TEXT(
         "size = { 67, 39 }, dx = 1.5",
         "state = { h = 'real', q = 'vector' }, main = 'h', dt = 0.1, rule = {\n"
         "function(c, dt)\n"
         "  local slope = (c(2, 0).h - c(-2, 0).h) / 4\n"
         "  return { h = c.h + dt * around(c, 'h') + 0.01 * c(1, 1).q_x,\n"
         "    q_x = c.q_x - dt * slope, q_y = math.max(c.q_y - dt * c(0, 1).h, -3) }\n"
         "end,\n"
         "function(c) return { q_y = c.q_y / (1 + math.abs(c.q_x)) } end },\n"
         "regions = { { name = 'all', where = shape.faces, law = law.wall {} },\n"
         "{ name = 'west', where = shape.face 'x-', law = { h = law.fixed { 1 }, q = law.fixed {\n"
         "  0.5, 0.25, at = 'face' } } },\n"
         "{ name = 'east', where = shape.face 'x+', law = { h = law.gradient { 0.1 },\n"
         "  q = law.mirror {} } },\n"
         "{ name = 'south', where = shape.face 'y-', law = law.mirror {} },\n"
         "{ name = 'rock', where = shape.ball { centre = { 20, 20 }, radius = 7 },\n"
         "  law = law.wall {} },\n"
         "{ name = 'pool', where = shape.ball { centre = { 45, 30 }, radius = 5 },\n"
         "  law = { h = law.fixed { 2 } } } },\n"
         "initial = { h = function(x, y) return 1 + 0.2 * math.sin(x * 0.3) * y / 20 end }"),
     false},
    {"laws and data in time, a control",
     LAPLACE RULE_TEXT(
         "size = { 50, 33 }, periodic = { 'y' }, controls = { k = 0.2 }",
         "state = { h = 'real' }, data = { rain = function(x, y, t, k) return k * x * t end,\n"
         "  ground = function(x, y) return x * y / 999 end },\n"
         "rule = function(c, t, k)\n"
         "  return c.h + k * around(c, 'h') + 0.01 * (c.rain - c(1, 0).ground) + t * 0x1p-9\n"
         "end, derived = { wet = function(c, t) return c.h - c.ground + t end },\n"
         "regions = { { name = 'all', where = shape.faces, law = law.mirror {} },\n"
         "{ name = 'west', where = shape.face 'x-',\n"
         "  law = law.fixed { function(y, t) return y / 40 + t / 8 end, at = 'face' } },\n"
         "{ name = 'pool', where = shape.ball { centre = { 30, 20 }, radius = 5 },\n"
         "  law = law.fixed { function(x, t) return x / 9 - t end } } }"),
     false},
    {"chance and place",
     RULE_TEXT("size = { 90, 31 }, periodic = { 'x' }, seed = 12345678901",
               "state = { tree = 'u8', age = 'real' }, main = 'tree',\n"
               "rule = function(c, x, y)\n"
               "  local burns = c(1, 0).tree == 2 or c(0, 1).tree == 2 or sel.random(0) < 0.01\n"
               "  if c.tree == 1 and burns then return { tree = 2, age = 0 } end\n"
               "  if c.tree == 2 then return { tree = 0, age = c.age } end\n"
               "  local grows = c.tree == 1 or sel.random(1) < 0.05 + x * 0x1p-10\n"
               "  return { tree = grows and 1 or 0, age = c.age + y * 0.125 }\n"
               "end, regions = { { name = 'all', where = shape.faces, law = law.wall {} } },\n"
               "initial = { tree = function(x, y) return sel.random(3) < 0.6 and 1 or 0 end }"),
     false},
    {"whole numbers beyond 2^24, and in a cell the largest random number",
     RULE_TEXT(
         "size = { 67, 9 }, periodic = { 'x', 'y' }, seed = 61551765",
         "state = { n = 'i32', m = 'i32', a = 'i32', b = 'i32', d = 'i32', u = 'real',\n"
         "  v = 'real' }, main = 'v', rule = function(c)\n"
         "  local draw = sel.random(1)\n"
         "  return { n = (c.n * 16807 + c(1, 0).m) % 2147483647, m = -c(0, 1).n // 7 % 100003,\n"
         "    a = math.fmod(-c.n, 1000) - math.floor(draw * 6), b = c.m * c(1, 1).m % 997,\n"
         "    d = math.floor(math.max(c.n, 0.5)) - math.floor(c.n / 10),\n"
         "    u = math.max(c.u, draw), v = c.n * 0.5 - c.v }\n"
         "end, initial = { n = function(x, y) return 123456789 + math.floor(x * y) end }"),
     false},
    {"coordinates far from the origin",
     RULE_TEXT(
         "size = { 300, 31 }, dx = 0.3, origin = { 5881700.25, -331204.7 }, periodic = { 'x' }",
         "state = { u = 'real', k = 'i32', near = 'u8' }, main = 'u', dt = 0.1,\n"
         "rule = function(c, x, y, t, dt)\n"
         "  local across, up = x - 5881700.25, (y + 331204.7) / 0.3\n"
         "  local slope = (across * dt - up * t) * 0.7 + across * up\n"
         "  local hill = math.sqrt(across * across + up * up)\n"
         "  return { u = c.u * 0.5 + slope - hill * c(1, 0).u / x,\n"
         "    k = math.floor(across / 0.3) * 31 + math.floor(up) + c.near,\n"
         "    near = (c.u < hill and across < 9.1 or x == c.u) and 1 or 0 }\n"
         "end, derived = { d = function(c, x, y) return x * y - c.u, c.k * 0.1 + x end },\n"
         "regions = { { name = 'all', where = shape.faces, law = law.wall {} } },\n"
         "initial = { u = function(x, y) return x - 5881700 end }"),
     false},
    {"space",
     RULE_TEXT("size = { 35, 14, 11 }, periodic = { 'z' }",
               "state = { a = 'real', v = 'vector' }, main = 'a', dt = 0.1,\n"
               "rule = function(c, dt)\n"
               "  local sum = c(1, 0, 0).a + c(-1, 0, 0).a + c(0, 1, 0).a + c(0, -1, 0).a +\n"
               "    c(0, 0, 1).a + c(0, 0, -1).a - 6 * c.a\n"
               "  return { a = c.a + dt * sum, v_x = c(0, 0, -1).v_y, v_y = c(0, 1, 1).v_z,\n"
               "    v_z = math.sqrt(math.abs(c.a)) }\n"
               "end, regions = { { name = 'all', where = shape.faces, law = law.wall {} },\n"
               "{ name = 'low', where = shape.face 'y-',\n"
               "  law = { v = law.fixed { 1, 2, 3 }, a = law.gradient { 1 } } },\n"
               "{ name = 'rock', where = shape.ball { centre = { 20, 7, 5 }, radius = 3 },\n"
               "  law = law.wall {} } },\n"
               "initial = { a = function(x, y, z) return math.sin(x * 0.2) + y * z * 0.01 end }"),
     false},
    {"functions of mathematics",
     RULE_TEXT("size = { 64, 20 }, periodic = { 'x', 'y' }",
               "state = { a = 'real' }, rule = function(c, x, t)\n"
               "  local a = math.sin(c(1, 0).a) + math.exp(-c.a * c.a) + c.a % 0.7 - c.a // 0.3\n"
               "  return a * 0.1 + math.cos(t + 0.1) + math.log(1 + math.abs(c(0, 1).a)) ^ 1.5\n"
               "end, initial = { a = function(x, y) return x * y * 0.01 end }"),
     true},
    {"steps of changing length",
     LAPLACE RULE_TEXT(
         "size = { 40, 22 }, periodic = { 'x', 'y' }",
         "state = { h = 'real' }, dt = { limit = function(c) return 1 / (4 + c.h) end,\n"
         "  max = 0.2, factor = 0.9, every = 3 },\n"
         "rule = function(c, dt, t) return c.h + dt * around(c, 'h') + t * 0x1p-8 end,\n"
         "initial = { h = function(x, y) return 1 + math.floor(x / 7) % 2 end }"),
     false},
};

enum { RULE_TEXTS = sizeof rule_texts / sizeof *rule_texts };

#endif
