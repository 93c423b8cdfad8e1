/* random_closures.h -- writes random rules whose functions make functions: every choice from one
 * seed.
 *
 * Makers, counters, currying, composition, iterators, lists of closures from loops of all kinds,
 * variable arguments, objects, recursion, pairs of functions that share a variable. Much of it
 * stands in branches that few cells take. Numbers and conditions are those of random_law.h.
 */
#ifndef RANDOM_CLOSURES_H
#define RANDOM_CLOSURES_H

#include "random_law.h"

enum { MOST_MADE = 12, MOST_CALLS = 100 };

typedef struct closure_writer {
    law_writer w;
    int functions; /* that take a number and give one; each calls earlier ones only */
    char function[MOST_MADE][16];
    int calls[MOST_MADE]; /* about so many calls are made by a call of it */
    int made;             /* calls of what is written now */
} closure_writer;

static inline void closure_fill(closure_writer *c, const char *text);

/* ---- parts of statements ---- */

static inline void closure_rare(closure_writer *c) {
    static const char *const conditions[] = {
        "c.n == 3",        "c.k == 2",        "c.u == 0.5",
        "x == 4.5",        "t == 7",          "c.u > 200",
        "c(1, 0).n == 4",  "c(0, -1).k == 1", "c.n > 3 and t < 5",
        "c.u + c.v > 300", "c.k % 32 == 5",   "sel.random(5) < 0.05",
        "c.v == -1",       "not (c.k ~= 1)",  "y < 20",
        "gain > c.k",      "c.n // 7 == -1",  "c.k + c.n == 2"};
    law_writer *w = &c->w;
    if (law_choose(w, 5) == 0) {
        law_condition(w, 1);
    } else {
        law_add(w, conditions[law_choose(w, sizeof conditions / sizeof *conditions)]);
    }
}

/* One of the functions; NULL: none that may be called. */
static inline const char *closure_made(closure_writer *c) {
    if (c->functions == 0) {
        return NULL;
    }
    const unsigned k = law_choose(&c->w, (unsigned)c->functions);
    if (c->calls[k] > MOST_CALLS) {
        return NULL;
    }
    c->made += c->calls[k];
    return c->function[k];
}

static inline void closure_expression(closure_writer *c, int depth) {
    law_writer *w = &c->w;
    const char *name = law_choose(w, 3) == 0 ? closure_made(c) : NULL;
    if (name) {
        law_add(w, name);
        law_add(w, "(");
        law_expression(w, depth - 1);
        law_add(w, ")");
    } else {
        law_expression(w, depth);
    }
}

/* A function of the script or of math. */
static inline void closure_function(closure_writer *c) {
    static const char *const others[] = {"math.abs", "square", "math.floor", "sel.step"};
    law_writer *w = &c->w;
    const char *name = law_choose(w, 3) ? closure_made(c) : NULL;
    law_add(w, name ? name : others[law_choose(w, sizeof others / sizeof *others)]);
}

/* Changes a variable in sight; or nothing. */
static inline void closure_assignment(closure_writer *c) {
    law_writer *w = &c->w;
    const int at = (int)law_choose(w, (unsigned)w->names);
    if (w->fixed[at]) {
        return;
    }
    law_add(w, w->name[at]);
    law_add(w, " = ");
    if (law_choose(w, 2)) {
        law_add(w, w->name[at]);
        law_add(w, " * 0.5 + ");
    }
    closure_expression(c, 1);
    law_add(w, " ");
}

/* What a function (v) does: v is in sight. */
static inline void closure_body(closure_writer *c, int depth) {
    static const char *const bodies[] = {
        "return $",
        "! return v + $",
        "if ? then ! end return $",
        "if ? then return $ end ! return $ - v",
        "local w = $ if ? then w = v ! end return w + v",
        "for i = 1, 2 do v = v * 0.5 + i if ? then break end ! end return v",
        "if ? then v = $ else ! end ! return v - 1",
        "local g = function(u) ! if ? then return u end v = v + u return v end return g($) + g(1)",
        "do local v = $ if ? then ! end end return v",
        "! if ? then ! return v end ! return $",
    };
    law_writer *w = &c->w;
    const int names = w->names;
    law_declare(w, "v", false);
    closure_fill(c, bodies[law_choose(w, depth > 0 ? sizeof bodies / sizeof *bodies : 3)]);
    w->names = names;
}

/* A text with
 *   ?  a condition that holds in few cells   $  an expression      !  an assignment
 *   &  what a function (v) does              F  a function         N  a name, the same in one text
 *   @+NAME;  a variable that is in sight from here on, @=NAME;  one that is not assigned to
 *   @-;      those of the text are no longer in sight
 */
static inline void closure_fill(closure_writer *c, const char *text) {
    law_writer *w = &c->w;
    const int number = ++w->made, names = w->names;
    for (; *text; text++) {
        char one[24] = {*text};
        if (*text == '?') {
            closure_rare(c);
        } else if (*text == '$') {
            closure_expression(c, 2);
        } else if (*text == '!') {
            closure_assignment(c);
        } else if (*text == '&') {
            closure_body(c, 1);
        } else if (*text == 'F') {
            closure_function(c);
        } else if (*text == 'N') {
            snprintf(one, sizeof one, "f%d", number);
            law_add(w, one);
        } else if (*text == '@' && text[1] == '-') {
            w->names = names;
            text += 2;
        } else if (*text == '@') {
            const size_t length = strcspn(text + 2, ";");
            snprintf(one, sizeof one, "%.*s", (int)length, text + 2);
            law_declare(w, one, text[1] == '=');
            text += length + 2;
        } else {
            law_add(w, one);
        }
    }
}

/* ---- statements ---- */

/* Declare a function N, of one number. */
static inline void closure_maker(closure_writer *c) {
    static const char *const texts[] = {
        /* makers */
        "local N = (function(p, q) @+p;@+q; return function(v) & end end)@-;($, $)\n",
        "local N do local s = $ @+s; N = function(v) & end end\n",
        "local function make(p) @+p; if ? then return function(v) & end end local s = $ @+s;\n"
        "return function(v) & end end @-;local N = make($)\n",
        "local function make(p) @+p; p = p or 2 if ? then p = $ end return function(v) & end end "
        "@-;\n"
        "local N = ? and make() or make($)\n",
        "local function make(p) @+p; if ? then return nil end return function(v) & end end @-;\n"
        "local N = make($) or function(v) & end\n",
        /* counters */
        "local N = (function() local n = 0 @+n; return function(v) n = n + 1 if ? then n = n * 2 "
        "end & end end)@-;()\n",
        "local function counter(n) @+n; return function(v) n = n + (v or 1) if ? then return n "
        "end\nreturn n * 2 end end @-;local N = counter($) if ? then N(1) end\n",
        /* currying */
        "local N = (function(p) @+p; return function(q) @+q; return function(v) & end end "
        "end)@-;($)($)\n",
        "local function curry(f, p) return function(v) return f(p, v) end end\n"
        "local N = curry(function(p, v) @+p; & end, @-;$)\n",
        /* composition */
        "local function compose(f, g) return function(...) return f(g(...)) end end\n"
        "local N = compose(F, compose(F, F)) if ? then N = compose(N, F) end\n",
        "local function pipe(...) local fs = { ... } if ? then fs[#fs + 1] = F end\n"
        "return function(v) for _, f in ipairs(fs) do v = f(v) end return v end end\n"
        "local N = pipe(F, function(v) & end)\n",
        "local N = function(v) & end do local before = N N = function(v) if ? then return "
        "before(v) end & end end\n",
        /* choices */
        "local N = ? and F or F\n",
        "local N = F if ? then N = function(v) & end end\n",
        "local N if ? then local s = $ @+s; N = function(v) & end else @-;local s = $ N = "
        "function(v) & end end\n",
        /* variable arguments */
        "local function part(f, ...) local p, q = ... local n = select('#', ...)\n"
        "return function(v) if ? then n = n + 1 end return f(v) + (p or 1) * (q or n) end end\n"
        "local N = ? and part(F) or part(F, $, $)\n",
        "local function all(...) local l = table.pack(...) if ? then l[1] = $ end\n"
        "return function(v) for i = 1, l.n do v = v * 0.5 + l[i] end return v end end\n"
        "local N = all($, $, $)\n",
        /* lists of closures */
        "local N do local fs = {} for i = 1, 3 do local j = $ @+j;@=i; fs[i] = function(v) & end\n"
        "if ? then break end ! end @-;\n"
        "N = function(v) for i = 1, 3 do v = fs[i] and fs[i](v) or v + i end return v end end\n",
        "local N do local fs, i = {}, 0 @=i; while i < 3 do i = i + 1 local j = $ @+j;\n"
        "fs[i] = function(v) & end if ? then j = $ break end j = j + 1 end @-;\n"
        "N = function(v) return fs[1](v) + (fs[3] or fs[2] or fs[1])(1) end end\n",
        "local N do local fs, i = {}, 0 @=i; ::again:: i = i + 1 local j = $ @+j;\n"
        "fs[i] = function(v) & end if i < 3 and ? then goto again end j = j + 2 if ? then j = $ "
        "end\n"
        "N = function(v) j = j + 1 return fs[1](v) + j end end\n",
        "local N do local fs, i = {}, 0 @=i; repeat i = i + 1 local j = $ @+j;\n"
        "fs[i] = function(v) & end if ? then goto on end ! ::on:: until i >= 2 or fs[i](1) > 1e3 "
        "@-;\n"
        "N = function(v) return fs[1](v) - (fs[2] or F)(v) end end\n",
        "local N do local fs = {} for k, p in pairs { a = $, b = $ } do @+p; fs[k] = function(v) & "
        "end end @-;\nif ? then fs.a = fs.b end N = function(v) return fs.a(fs.b(v)) end end\n",
        /* objects */
        "local N do local o = { s = $ } function o:add(v) self.s = self.s + v if ? then return "
        "self\nend self.s = self.s * 0.5 return self end function o.get(v) if ? then o = { s = v } "
        "end\nreturn o.s end N = function(v) if ? then return (o.get or F)(v) end return (o.add "
        "and "
        "o:add(v) or o).s end end\n",
        "local N do local class = {} class.__index = class function class.new(s) return "
        "setmetatable({ s = s }, class) end\nfunction class:step(v) if ? then self.s = v end "
        "self.s = self.s + v return self.s end\nlocal o, p = class.new($), class.new($)\n"
        "N = function(v) if ? then o, p = p, o end return o:step(v) - p.s end end\n",
        "local N do local n = $ @+n; local meta = { __call = function(_, v) & end,\n"
        "__index = function(_, k) n = n + 1 return k end }\nlocal o = setmetatable({}, meta) if ? "
        "then o[1] = $ end N = function(v) return o(v) + o[1] + o[2] end end\n",
        /* a shared variable */
        "local N do local get, set = (function(s) return function() return s end,\n"
        "function(v) if ? then return s end s = v return v end end)($)\n"
        "N = function(v) set(v + get()) if ? then set(1) end return get() end end\n",
        "local N do local s, f, g = $ @+s; f = function(v) s = s + 1 & end\n"
        "g = function(v) if ? then return f(v) end s = s * 0.5 & end\n"
        "N = function(v) return g(v) + f(v) + s end end\n",
        /* recursion */
        "local N do local function down(d, v) if d < 1 then return v end if ? then return $ end\n"
        "local function g() return v + d end return down(d - 1, g()) + g() end\n"
        "N = function(v) return down(3, v) end end\n",
        "local N do local memo = {} local function fib(n) if memo[n] then return memo[n] end\n"
        "local r = n < 2 and n or fib(n - 1) + fib(n - 2) if ? then r = r + 1 end memo[n] = r "
        "return r end\nN = function(v) return v * fib(6) end end\n",
        /* once */
        "local N do local done, value = false, $ @+value; N = function(v) if not done then done = "
        "?\nvalue = v ! end return value end end\n",
    };
    law_writer *w = &c->w;
    const int names = w->names;
    char name[16];
    if (c->functions == MOST_MADE || w->names > LAW_NAMES - 12) {
        return;
    }
    snprintf(name, sizeof name, "f%d", w->made + 1);
    c->made = 1;
    closure_fill(c, texts[law_choose(w, sizeof texts / sizeof *texts)]);
    w->names = names;
    snprintf(c->function[c->functions], sizeof name, "%s", name);
    c->calls[c->functions++] = 4 * c->made;
}

/* Uses functions. */
static inline void closure_use(closure_writer *c) {
    static const char *const texts[] = {
        "a = $ + b * 0.5\n",
        "b = F(a) if ? then b = F(b) + $ end\n",
        "if ? then a = F($) end\n",
        "if ? then F(1) else b = $ end\n",
        "do local function range(n) local i = 0 return function() i = i + 1 if i > n or (?) then "
        "return nil end return i, $ end end\n"
        "for i, v in range(3) do a = a * 0.5 + v * i if ? then break end end end\n",
        "do local function each(l, f) for i, v in ipairs(l) do if f(v, i) then return i end end "
        "return 0 end\nb = b + each({ a, $, $ }, function(v, i) a = a + F(v) * i return ? end) "
        "end\n",
        "do local function map(l, f) local r = {} for i, v in ipairs(l) do r[i] = f(v) end return "
        "r end\nlocal r = map({ a, b, 1 }, F) if ? then r = map(r, F) end a, b = r[1], r[2] + r[3] "
        "end\n",
        "do local at = function(o) if ? then return o.v end return o.u + o.k end\n"
        "local far = function(f, dx) return function(o) return f(o(dx, 0)) end end\n"
        "a = a + far(at, 1)(c) - (? and far(far(at, 1), -2) or at)(c) end\n",
        "for i = 1, 2 do local s = F(i) local g = function() s = s + i return s end\n"
        "if ? then a = a + g() goto on end b = b + g() ::on:: end\n",
        "if ? then return { u = $, v = F(a), n = 2 } end\n",
        "do local s, i = 0, 0 ::top:: i = i + 1 local k = $ local g = function() k = k + 1 return "
        "k "
        "end\nif i < 3 then if ? then s = s + g() goto top end if ? then goto top end end\n"
        "k = k * 0.5 a = s + g() + k end\n",
    };
    closure_fill(c, texts[law_choose(&c->w, sizeof texts / sizeof *texts)]);
}

static inline void closure_statement(closure_writer *c, int depth) {
    law_writer *w = &c->w;
    const int names = w->names, functions = c->functions;
    const unsigned kind = law_choose(w, 8);
    if (depth > 0 && kind == 0) {
        closure_fill(c, "if ? then\n");
        closure_statement(c, depth - 1);
        closure_statement(c, depth - 1);
        w->names = names;
        c->functions = functions;
        if (law_choose(w, 2)) {
            law_add(w, "else\n");
            closure_statement(c, depth - 1);
            w->names = names;
            c->functions = functions;
        }
        law_add(w, "end\n");
    } else if (kind < 4 || c->functions == 0) {
        closure_maker(c);
    } else {
        closure_use(c);
    }
}

/* function(c, x, y, t, gain) ... end, which gives u and v and n, for this seed. It finds
 * RULE_PRELUDE outside of it. */
static inline void closure_write(closure_writer *c, uint64_t seed) {
    static const char *const arguments[] = {"x", "y", "t", "gain"};
    law_writer *w = &c->w;
    memset(c, 0, sizeof *c);
    w->seed = seed * 0x9e3779b97f4a7c15u;
    w->cells = true;
    w->branches = 4;
    law_add(w, "function(c, x, y, t, gain)\nlocal a, b = c.v, c.u\n");
    for (int i = 0; i < 4; i++) {
        law_declare(w, arguments[i], true);
    }
    law_declare(w, "a", false);
    law_declare(w, "b", false);
    for (unsigned n = law_choose(w, 4) + 4; n > 0; n--) {
        closure_statement(c, 2);
    }
    closure_fill(c, "return { u = a, v = b + $, n = b ~= b and 0 or math.floor(b % 7) }\nend");
}

#endif
