/* random_law.h -- writes random Lua functions of x, y, t and a control, and rules of cells: every
 * choice from one seed.
 *
 * They use what laws may use and symbols can follow: arithmetic, comparisons, branches, loops with
 * constant bounds, math, locals with attributes, `and` and `or`, closures, tables of their own,
 * sel.step, sel.noise and a series. Rules also read cells, compare by == and ~=, use bits, return
 * early, and have conditions in loops.
 */
#ifndef RANDOM_LAW_H
#define RANDOM_LAW_H

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LAW_TEXT = 1 << 15, LAW_NAMES = 32 };

/* What the functions find outside of them. */
#define LAW_PRELUDE                                                                \
    "local sel = require 'selenite'\n"                                             \
    "local list = { 1, -0.5, 3, 0.25 }\n"                                          \
    "local one <const>, half <const> = 1, 0.5\n"                                   \
    "local series = sel.series { t = { -1, 0, 0.5, 3 }, value = { 2, -1, 4, 0 }, " \
    "outside = 'hold' }\n"                                                         \
    "local function square(v) return v * v end\n"                                  \
    "local function clamp(v, low, high) if v < low then return low end\n"          \
    "return math.min(v, high) end\n"                                               \
    "local function both(v) return v + 1, v * 2 end\n"

typedef struct law_writer {
    uint64_t seed;
    char text[LAW_TEXT];
    size_t used;
    bool cells;   /* it writes rules */
    bool alike;   /* of functions of math only those that are the same bits on every processor */
    int branches; /* left: each doubles the paths */
    int names;    /* that can be read */
    char name[LAW_NAMES][16];
    bool fixed[LAW_NAMES]; /* cannot be assigned */
    int made;              /* names so far */
} law_writer;

static inline unsigned law_choose(law_writer *w, unsigned n) {
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(w->seed >> 33) % n;
}

static inline void law_add(law_writer *w, const char *text) {
    w->used += (size_t)snprintf(w->text + w->used, LAW_TEXT - w->used, "%s", text);
    assert(w->used < LAW_TEXT - 1);
}

static inline bool law_branch(law_writer *w) {
    return w->branches > 0 && w->branches-- > 0;
}

static inline const char *law_declare(law_writer *w, const char *name, bool fixed) {
    assert(w->names < LAW_NAMES);
    if (name)
        snprintf(w->name[w->names], sizeof w->name[0], "%s", name);
    else
        snprintf(w->name[w->names], sizeof w->name[0], "v%d", ++w->made);
    w->fixed[w->names] = fixed;
    return w->name[w->names++];
}

static inline void law_expression(law_writer *w, int depth);

static inline void law_leaf(law_writer *w) {
    static const char *const leaves[] = {
        "0",          "1",     "2",       "3",    "-7",    "10",      "0.5",     "-1.5",
        "3.7e-3",     "1e3",   "math.pi", "-0.0", "2.0",   "0.0",     "1e-300",  "1e10",
        "1000000007", "0x10",  "one",     "half", "-half", "list[2]", "(#list)", "list[one + 2]",
        "-1",         "1 / 0", "2^53"};
    unsigned kind = law_choose(w, 5);
    if (w->cells && law_choose(w, 4) == 0) {
        static const char *const reads[] = {
            "c.u",        "c.v",       "c.n",          "c.k",        "c(1, 0).u",
            "c(-1, 2).v", "c(0, 1).n", "c(2, -2).k",   "c(0, -1).k", "c(1, 0)(1, 0).n",
            "sum(c, 1)",  "side(c).v", "sel.random(3)"};
        law_add(w, reads[law_choose(w, sizeof reads / sizeof *reads)]);
    } else if (kind < 3 && w->names > 0)
        law_add(w, w->name[law_choose(w, (unsigned)w->names)]);
    else
        law_add(w, leaves[law_choose(w, sizeof leaves / sizeof *leaves)]);
}

static inline void law_comparison(law_writer *w, int depth) {
    static const char *const comparisons[] = {" < ", " <= ", " > ", " >= ", " == ", " ~= "};
    law_add(w, law_choose(w, 6) == 0 ? "not (" : "(");
    law_expression(w, depth - 1);
    law_add(w, comparisons[law_choose(w, w->cells ? 6 : 4)]);
    law_expression(w, depth - 1);
    law_add(w, ")");
}

static inline void law_condition(law_writer *w, int depth) {
    bool two = law_choose(w, 4) == 0 && law_branch(w);
    law_add(w, two ? "(" : "");
    law_comparison(w, depth);
    if (two) {
        law_add(w, law_choose(w, 2) ? " and " : " or ");
        law_comparison(w, depth);
        law_add(w, ")");
    }
}

static inline void law_binary(law_writer *w, int depth) {
    static const char *const operators[] = {" + ", " - ", " * ", " / ", " // ", " % ", " ^ "};
    law_add(w, "(");
    law_expression(w, depth - 1);
    law_add(w, operators[law_choose(w, w->alike ? 6 : 7)]);
    law_expression(w, depth - 1);
    law_add(w, ")");
}

static inline void law_call(law_writer *w, int depth) {
    static const struct {
        const char *name;
        unsigned arguments;
    } functions[] = {{"math.sqrt", 1},  {"math.exp", 1},  {"math.sin", 1},  {"math.cos", 1},
                     {"math.tan", 1},   {"math.asin", 1}, {"math.acos", 1}, {"math.atan", 1},
                     {"math.atan", 2},  {"math.log", 1},  {"math.log", 2},  {"math.floor", 1},
                     {"math.ceil", 1},  {"math.abs", 1},  {"math.min", 2},  {"math.max", 2},
                     {"math.min", 3},   {"math.max", 3},  {"math.fmod", 2}, {"math.deg", 1},
                     {"math.rad", 1},   {"sel.step", 1},  {"math.modf", 1}, {"-", 1},
                     {"math.floor", 1}, {"sel.noise", 2}, {"sel.noise", 4}, {"series", 1},
                     {"square", 1},     {"both", 1},      {"math.ceil", 1}, {"math.abs", 1}};
    static const uint8_t alike[] = {0,  11, 12, 13, 14, 15, 16, 17, 21,
                                    22, 23, 25, 26, 27, 28, 29, 30, 31};
    unsigned k = w->alike ? alike[law_choose(w, sizeof alike)]
                          : law_choose(w, sizeof functions / sizeof *functions);
    law_add(w, "("); /* one result */
    law_add(w, functions[k].name);
    for (unsigned i = 0; i < functions[k].arguments; i++) {
        law_add(w, i ? ", " : "(");
        if (strcmp(functions[k].name, "sel.noise") == 0 && i == 0)
            law_add(w, "7"); /* the seed */
        else if (strcmp(functions[k].name, "math.log") == 0 && i == 1)
            law_add(w, law_choose(w, 2) ? "2" : "10.0"); /* bases are constant */
        else
            law_expression(w, depth - 1);
    }
    law_add(w, "))");
}

static inline void law_expression(law_writer *w, int depth) {
    unsigned kind = law_choose(w, 12);
    if (depth <= 0 || kind == 0) {
        law_leaf(w);
    } else if (kind < 6) {
        law_binary(w, depth);
    } else if (kind == 6 && law_branch(w)) {
        law_add(w, "(");
        law_condition(w, depth - 1);
        law_add(w, " and ");
        law_expression(w, depth - 1);
        law_add(w, " or ");
        law_expression(w, depth - 1);
        law_add(w, ")");
    } else if (kind == 7 && law_branch(w)) {
        law_add(w, "clamp(");
        law_expression(w, depth - 1);
        law_add(w, ", -3, 40.5)");
    } else {
        law_call(w, depth);
    }
}

static inline void law_statement(law_writer *w, int depth);

static inline void law_block(law_writer *w, int depth, unsigned most) {
    int names = w->names;
    for (unsigned n = law_choose(w, most) + 1; n > 0; n--)
        law_statement(w, depth);
    w->names = names;
}

static inline void law_assignment(law_writer *w) {
    int at = (int)law_choose(w, (unsigned)w->names);
    for (int i = 0; i < w->names && w->fixed[at]; i++)
        at = (at + 1) % w->names;
    if (w->fixed[at])
        return;
    law_add(w, w->name[at]);
    law_add(w, " = ");
    law_expression(w, 3);
    law_add(w, "\n");
}

static inline void law_local(law_writer *w) {
    char name[16];
    bool constant = law_choose(w, 2);
    if (w->names > LAW_NAMES - 4)
        return;
    snprintf(name, sizeof name, "v%d", w->made + 1);
    law_add(w, "local ");
    law_add(w, name);
    law_add(w, constant ? " <const> = " : " = ");
    law_expression(w, 3);
    law_add(w, "\n");
    law_declare(w, NULL, constant);
}

static inline void law_branches(law_writer *w, int depth) {
    if (!law_branch(w))
        return;
    law_add(w, "if ");
    law_condition(w, 2);
    law_add(w, " then\n");
    law_block(w, depth - 1, 2);
    if (law_choose(w, 3) == 0 && law_branch(w)) {
        law_add(w, "elseif ");
        law_condition(w, 2);
        law_add(w, " then\n");
        law_block(w, depth - 1, 2);
    }
    if (law_choose(w, 2)) {
        law_add(w, "else\n");
        law_block(w, depth - 1, 2);
    }
    law_add(w, "end\n");
}

static inline void law_loop(law_writer *w, int depth) {
    static const char *const heads[] = {"for %s = 1, 3 do\n",
                                        "for %s = 4, 1, -2 do\n",
                                        "for %s = 0, 1, 0.5 do\n",
                                        "for %s, _ in ipairs(list) do\n",
                                        "for _, %s in ipairs(list) do\n",
                                        "for _, %s in pairs { a = 2, b = half } do\n",
                                        "for %s = 2, 1 do\n"};
    char head[96], name[16];
    int names = w->names, branches = w->branches;
    if (w->names > LAW_NAMES - 4)
        return;
    snprintf(name, sizeof name, "v%d", w->made + 1);
    snprintf(head, sizeof head, heads[law_choose(w, sizeof heads / sizeof *heads)], name);
    law_add(w, head);
    law_declare(w, NULL, true);
    w->branches = w->cells ? branches : 0; /* each turn would take its own */
    law_block(w, depth - 1, 2);
    if (w->cells && law_choose(w, 3) == 0) {
        law_add(w, "if ");
        law_condition(w, 1);
        law_add(w,
                law_choose(w, 2) ? " then break end\n" : " then goto on end\na = a + 1 ::on::\n");
    }
    w->branches = branches;
    w->names = names;
    law_add(w, "end\n");
}

/* A text with a condition for each ? and an expression for each @. */
static inline void law_fill(law_writer *w, const char *text) {
    char one[2] = "";
    for (; *text; text++) {
        one[0] = *text;
        if (*text == '?')
            law_condition(w, 1);
        else if (*text == '@')
            law_expression(w, 2);
        else
            law_add(w, one);
    }
}

/* Tables, functions and variables that conditions choose and change. */
static inline void law_of_ways(law_writer *w) {
    static const char *const texts[] = {
        "do local tab = { u = a, list = { b, @ } }\nif ? then tab.list[1] = @ tab.u = tab.list[2]\n"
        "else tab = { u = b, list = { a, 1 } } end\na = tab.u + tab.list[1] b = tab.list[2] end\n",
        "do local function f(pp) for i = 1, 3 do if pp > i then return pp - i elseif ? then break "
        "end\n"
        "pp = pp + @ end return pp * 2 end\na = f(b) b = f(@) end\n",
        "do local f = ? and square or math.floor\na = f(@) + (? and math.abs or both)(b) end\n",
        "do local m if ? then m = @ end\nb = m or a\nif m then a = m end end\n",
        "do local o = ? and c(1, 0) or side(c)\nb = o.u + o.n if ? then o = c end a = o.v end\n",
        "do local n = 0 local function add(v) n = n + v if n > 2 then return n end n = n * 2 end\n"
        "if ? then add(a) end add(@) a = n end\n",
        "do local l = {} if ? then l[1] = @ l[2] = 2 else l[1] = 1 l[2] = a end\n"
        "for i, v in ipairs(l) do b = b + i * v end\nfor k, v in pairs { x = a, y = l[1] } do\n"
        "if ? then a = a + v goto done end b = b - v ::done:: end end\n",
        "do local function f(d) if d < 1 then return a end if ? then return f(d - 1) + 1 end\n"
        "return f(d - 2) end\nb = f(3) end\n",
        "while ? do a = @ b = b + 1 if true then break end end\n",
        "do local pp, qq = @ if ? then pp, qq = qq or 2, pp end a = pp b = qq or b end\n",
        "do local fs = {} for i = 1, 3 do local j = @ fs[i] = function(v) j = j + v return j end\n"
        "j = j - 1 if ? then break end if ? then fs[i](a) end end\n"
        "for i = 1, 3 do a = a + (fs[i] and fs[i](b) or i) end end\n",
        "do local i = 0 ::again:: i = i + 1 if ? then a = @ elseif ? then goto out end\n"
        "if i < 3 then goto again end ::out:: b = b + i end\n",
    };
    law_fill(w, texts[law_choose(w, sizeof texts / sizeof *texts)]);
}

/* An early return, or what is done with bits. */
static inline void law_of_cells(law_writer *w) {
    if (law_choose(w, 3) == 0) {
        law_add(w, "if ");
        law_condition(w, 2);
        law_add(w, law_choose(w, 2) ? " then return { u = b, v = a, n = 3 } end\n"
                                    : " then return give(a, c.n) end\n");
    } else if (law_choose(w, 2)) {
        static const char *const bits[] = {
            "c.n & 255",  "c.k | c(0, 1).k << 3",  "(c.n ~ c.k) >> 12",
            "~c.k & c.n", "(c.n % 16) << c.k % 8", "c.n // 3 & -4"};
        law_add(w, "a = ");
        law_add(w, bits[law_choose(w, sizeof bits / sizeof *bits)]);
        law_add(w, "\n");
    } else {
        law_add(w, "for dy = -1, 1 do for dx = -1, 1 do\nif ");
        law_comparison(w, 1);
        law_add(w, law_choose(w, 2) ? " and c(dx, dy).k ~= 0 then b = b + c(dx, dy).u end\n"
                                    : " then b = b + 1 elseif dx ~= 0 then b = -b end\n");
        law_add(w, "end end\n");
    }
}

static inline void law_while(law_writer *w, int depth) {
    char text[96];
    int counter = ++w->made, branches = w->branches;
    bool repeats = law_choose(w, 2);
    snprintf(text, sizeof text, "local v%d = 0\n%s\nv%d = v%d + 1\n", counter,
             repeats ? "repeat" : "while true do", counter, counter);
    law_add(w, text);
    w->branches = w->cells ? branches : 0;
    law_block(w, depth - 1, 2);
    w->branches = branches;
    snprintf(text, sizeof text, repeats ? "until v%d >= 2\n" : "if v%d > 2 then break end end\n",
             counter);
    law_add(w, text);
}

/* A function that sees the locals, called at once or twice. */
static inline void law_closure(law_writer *w) {
    char name[16];
    int names = w->names;
    if (w->names > LAW_NAMES - 4)
        return;
    snprintf(name, sizeof name, "v%d", ++w->made);
    law_add(w, "local function ");
    law_add(w, name);
    law_add(w, "(p, q)\n");
    law_declare(w, "p", false);
    law_declare(w, "q", false);
    law_assignment(w);
    law_add(w, "return p * q + ");
    law_expression(w, 2);
    law_add(w, " end\n");
    w->names = names;
    law_add(w, "local ");
    law_add(w, law_declare(w, NULL, false));
    w->names--; /* not in its own value */
    law_add(w, " = ");
    law_add(w, name);
    law_add(w, "(x, ");
    law_add(w, name);
    law_add(w, "(2, y))\n");
    w->names++;
}

static inline void law_table(law_writer *w) {
    char text[64];
    if (w->names > LAW_NAMES - 4)
        return;
    snprintf(text, sizeof text, "local t%d = { a = ", ++w->made);
    law_add(w, text);
    law_expression(w, 2);
    law_add(w, ", ");
    law_expression(w, 2);
    law_add(w, " }\n");
    snprintf(text, sizeof text, "t%d.a = t%d[1] - ", w->made, w->made);
    law_add(w, text);
    law_expression(w, 2);
    snprintf(text, sizeof text, "\nlocal v%d, v%d = both(t%d.a)\n", w->made + 1, w->made + 2,
             w->made);
    law_add(w, text);
    law_declare(w, NULL, false);
    law_declare(w, NULL, false);
}

static inline void law_statement(law_writer *w, int depth) {
    unsigned kind = depth > 0 ? law_choose(w, 12) : law_choose(w, 5);
    if (w->cells && law_choose(w, 4) == 0)
        law_choose(w, 2) ? law_of_cells(w) : law_of_ways(w);
    else if (kind < 3)
        law_assignment(w);
    else if (kind < 5)
        law_local(w);
    else if (kind < 8)
        law_branches(w, depth);
    else if (kind == 8)
        law_loop(w, depth);
    else if (kind == 9)
        law_while(w, depth);
    else if (kind == 10)
        law_closure(w);
    else
        law_table(w);
}

/* function(x, y, t, gain) ... end with two results, for this seed. */
static inline void law_write(law_writer *w, uint64_t seed) {
    static const char *const arguments[] = {"x", "y", "t", "gain"};
    memset(w, 0, sizeof *w);
    w->seed = seed * 0x9e3779b97f4a7c15u;
    w->branches = 6;
    law_add(w, "function(x, y, t, gain)\nlocal a, b = 1, x\n");
    for (int i = 0; i < 4; i++)
        law_declare(w, arguments[i], false);
    law_declare(w, "a", false);
    law_declare(w, "b", false);
    for (unsigned n = law_choose(w, 5) + 2; n > 0; n--)
        law_statement(w, 2);
    if (law_choose(w, 4) == 0 && law_branch(w)) {
        law_add(w, "if ");
        law_condition(w, 2);
        law_add(w, " then return b, a end\n");
    }
    law_add(w, "return a, ");
    law_expression(w, 4);
    law_add(w, "\nend");
}

/* What rules find outside of them. */
#define RULE_PRELUDE                                                                          \
    LAW_PRELUDE                                                                               \
    "local function sum(c, d) local s = 0 for _, o in ipairs { c(d, 0), c(-d, 0), c(0, d) } " \
    "do\nif o.k ~= 0 then s = s + o.u else s = s + o.n end end return s end\n"                \
    "local function side(c) if c.u > 0 then return c(1, 0) end return c(0, -1) end\n"         \
    "local function give(u, n) return { u = u, v = 0.5, n = n } end\n"

/* function(c, x, y, t, gain) ... end, which gives u and v and n. */
static inline void rule_write(law_writer *w, uint64_t seed, bool alike) {
    static const char *const arguments[] = {"x", "y", "t", "gain"};
    memset(w, 0, sizeof *w);
    w->alike = alike;
    w->seed = seed * 0x9e3779b97f4a7c15u;
    w->cells = true;
    w->branches = 12;
    law_add(w, "function(c, x, y, t, gain)\nlocal a, b = c.n, c.u\n");
    for (int i = 0; i < 4; i++)
        law_declare(w, arguments[i], false);
    law_declare(w, "a", false);
    law_declare(w, "b", false);
    for (unsigned n = law_choose(w, 5) + 2; n > 0; n--)
        law_statement(w, 2);
    law_add(w, "return { u = a, v = ");
    law_expression(w, 3);
    law_add(w, ", n = ");
    law_add(w, law_choose(w, 2) ? "c.n // 2 + c.k" : "b ~= b and 0 or math.floor(b % 7)");
    law_add(w, " }\nend");
}

#endif
