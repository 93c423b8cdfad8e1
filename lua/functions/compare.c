/* compare.c -- compares the program of a function with Lua, bit by bit, before it is trusted.
 *
 * A point is a set of values for everything that the function may depend on. Points are
 *   1. values of the script: the numbers that the function sees (read.lua) with their
 *      neighbours, bounds of types, ranges of the domain, of time and of initial fields;
 *   2. for a function of place: thousands of random places;
 *   3. for each side of a condition that was not yet taken: values that take it, found by a search
 *      (engine/values/branches.c).
 * Lua records the lines that it runs. `selenite check --laws` lists the lines that never ran and
 * the sides that were never taken.
 *
 * All limits count work, not time: the same programs are trusted on every machine.
 */
#include "lua/functions/functions.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/branches.h"

enum {
    LEAST_POINTS = 64,
    MOST_POINTS = 256,
    MOST_NUMBERS = 40,
    NEIGHBOURS = 5, /* n, n - 1, n + 1 and the next numbers in f64 */
    PLAIN = 6,      /* 0, 1, -1, ... */
    OTHERS = 4,     /* points per result of the search */
    POOL = MOST_NUMBERS * NEIGHBOURS + PLAIN,
    EXTRA = 4,          /* numbers of one argument or field: its bounds */
    MOMENTS = 64,       /* random times ... */
    PLACES = 64,        /* ... and places at each */
    MOST_COMPARED = 300 /* thousands of instructions in Lua */
};

typedef struct comparison {
    sel_script *script;
    const sel_common *common; /* NULL: not known */
    const sel_numbers *controls;
    const sel_rule *graph;
    const sel_cell_field *field;
    sel_branches *branches; /* NULL: no memory; the search is left out */
    sel_lines *lines;
    double pool[POOL]; /* `count` numbers of the script */
    int count;
    uint64_t point;      /* number of the present point */
    const double *input; /* of the graph at this point; NULL: being drawn */
    double *inputs;      /* storage of `input` */
    double *control;     /* values of the controls at this point */
} comparison;

/* ---- values ---- */

/* A random 56-bit number by a hash of the seed. */
static uint64_t compare_draw(uint64_t seed) {
    seed = (seed + 1) * 0x9e3779b97f4a7c15u;
    seed = (seed ^ seed >> 31) * 0xbf58476d1ce4e5b9u;
    return (seed ^ seed >> 29) >> 8;
}

/* The number of compare_draw in [0, 1). */
static double unit_of(uint64_t drawn) {
    return (double)drawn * 0x1p-56;
}

/* Fills the pool with the numbers that the function sees and their neighbours. */
static void compare_find_pool(comparison *c, int reference) {
    static const double plain[PLAIN] = {0, 1, -1, 0.5, 2, 3};
    double number[MOST_NUMBERS];
    const int numbers = sel_read_numbers(c->script, reference, number, MOST_NUMBERS);
    for (int i = 0; i < numbers; i++) {
        const double n = number[i];
        const double near[NEIGHBOURS] = {n, n - 1, n + 1, nextafter(n, -HUGE_VAL),
                                         nextafter(n, HUGE_VAL)};
        for (int k = 0; k < NEIGHBOURS; k++)
            if (isfinite(near[k]))
                c->pool[c->count++] = near[k];
    }
    memcpy(c->pool + c->count, plain, sizeof plain);
    c->count += PLAIN;
}

/* A value to be drawn. */
typedef struct wanted {
    uint64_t key;   /* distinct for each value of a point */
    uint64_t group; /* distinct for each argument and field; shared by all cells of a field */
    sel_cell_type type;
    double low, high;    /* its range; NaN: not known */
    double extra[EXTRA]; /* candidates beside those of the pool */
} wanted;

static double as_type(sel_cell_type type, double value) {
    return type == SEL_CELL_REAL ? value
           : type == SEL_CELL_U8 ? fmin(fmax(floor(value), 0), UINT8_MAX)
                                 : fmin(fmax(floor(value), INT32_MIN), INT32_MAX);
}

static double from_pool(const comparison *c, const wanted *w, uint64_t number) {
    const uint64_t at = number % (uint64_t)(c->count + EXTRA);
    const double value = at < (uint64_t)c->count ? c->pool[at] : w->extra[at - (uint64_t)c->count];
    return as_type(w->type, value);
}

/* Draws a value. Of four successive points, two take numbers of the pool, one takes the same number
 * of the pool in all cells, and one takes random numbers in the range. */
static double compare_value(const comparison *c, const wanted *w) {
    const uint64_t turn = c->point / 4, drawn = compare_draw(c->point * 100000 + w->key);
    if (c->point % 4 < 2)
        return from_pool(c, w, 2 * turn + c->point % 4 + compare_draw(w->key) % 1000);
    if (c->point % 4 == 2)
        return from_pool(c, w, turn + 5 * w->group);
    if (w->low < w->high && drawn % 4)
        return as_type(w->type, w->low + unit_of(drawn) * (w->high - w->low));
    if (w->type == SEL_CELL_REAL)
        return drawn % 4 == 0 ? (double)(drawn / 4 % 5) - 1 : 4 * unit_of(drawn) - 1;
    return (double)(drawn % (drawn & 1024 ? 3 : 256)) - (w->type == SEL_CELL_I32 ? 2 : 0);
}

/* ---- what functions depend on ---- */

/* The cell size along an axis; 1 where it is not known. */
static double spacing(const sel_common *s, int axis) {
    const double side = s && s->sides.n ? s->sides.v[s->sides.n > axis ? axis : 0] : s ? s->dx : 1;
    return isfinite(side) && side > 0 ? side : 1;
}

static double last_time(const sel_common *s, double dt) {
    return s && isfinite(s->stop.time)                                  ? s->stop.time
           : s && s->stop.steps > 0 && s->stop.steps < (int64_t)1 << 40 ? (double)s->stop.steps * dt
                                                                        : 100 * dt;
}

static double compare_argument(const comparison *c, int which) {
    const sel_common *s = c->common;
    const double dt = s && isfinite(s->dt) && s->dt > 0 ? s->dt : 0.25;
    wanted w = {.key = 60000 + (uint64_t)which, .group = 100 + (uint64_t)which};
    for (int k = 0; c->input && k < sel_branches_inputs(c->branches); k++) {
        const sel_rule_node *node = sel_branches_input(c->branches, k);
        if (node->op == SEL_OP_ARGUMENT && node->operand[0] == which)
            return c->input[k];
    }
    if (which >= SEL_ARGUMENT_X && which < SEL_ARGUMENT_T) {
        const double side = spacing(s, which),
                     cells = s && which < s->size.n ? (double)s->size.v[which] : 8;
        w.low = s && which < s->origin.n ? s->origin.v[which] : 0;
        w.high = w.low + side * cells;
        const double extra[] = {w.low, w.high, w.low + side / 2, w.high - side / 2};
        memcpy(w.extra, extra, sizeof extra);
    } else if (which >= SEL_ARGUMENT_CONTROL) {
        const double value = c->controls->v[which - SEL_ARGUMENT_CONTROL].value;
        const double extra[] = {value, value, value + 1, 2 * value};
        if (c->point % 8 == 7) /* the default, unchanged */
            return value;
        w.low = fmin(0, 2 * value);
        w.high = fmax(1, 2 * value);
        memcpy(w.extra, extra, sizeof extra);
    } else {
        const double end = which == SEL_ARGUMENT_T ? last_time(s, dt) : dt;
        const double extra[] = {0, dt, end, end / 2};
        w.high = end;
        memcpy(w.extra, extra, sizeof extra);
    }
    const double value = compare_value(c, &w);
    return which == SEL_ARGUMENT_T || which == SEL_ARGUMENT_DT ? fabs(value) : value;
}

static double compare_field(const comparison *c, int field, const int at[3]) {
    const sel_cell_field *f = &c->field[field];
    const uint64_t place = (uint64_t)(at[0] * 25 + at[1] * 5 + at[2] + 200);
    wanted w = {.key = (uint64_t)field * 500 + place,
                .group = (uint64_t)field,
                .type = f->type,
                .low = f->low,
                .high = f->high};
    for (int k = 0; c->input && k < sel_branches_inputs(c->branches); k++) {
        const sel_rule_node *node = sel_branches_input(c->branches, k);
        if (node->op == SEL_RULE_READ && node->field == field && node->at[0] == at[0] &&
            node->at[1] == at[1] && node->at[2] == at[2])
            return c->input[k];
    }
    const double bounds[][EXTRA] = {{f->low, f->high, f->high + 1, -0.5},
                                    {INT32_MIN, -1, INT32_MAX - 1, INT32_MAX},
                                    {254, 255, f->low, f->high}};
    memcpy(w.extra, bounds[f->type], sizeof w.extra);
    return compare_value(c, &w);
}

/* What sel.random(number) gives. */
static double compare_random(const comparison *c, int64_t number) {
    for (int k = 0; c->input && k < sel_branches_inputs(c->branches); k++) {
        const sel_rule_node *node = sel_branches_input(c->branches, k);
        if (node->op == SEL_RULE_RANDOM &&
            sel_branches_value(c->branches, node->operand[0]) == (double)number)
            return c->input[k];
    }
    return unit_of(compare_draw(c->point + 77 * (uint64_t)number));
}

/* Draws the inputs of the graph at the present point, and records which sides are taken. */
static void compare_visit(comparison *c) {
    c->input = NULL;
    for (int k = 0; c->branches && k < sel_branches_inputs(c->branches); k++) {
        const sel_rule_node *node = sel_branches_input(c->branches, k);
        const int at[3] = {node->at[0], node->at[1], node->at[2]};
        c->inputs[k] = node->op == SEL_OP_ARGUMENT ? compare_argument(c, node->operand[0])
                       : node->op == SEL_RULE_READ
                           ? compare_field(c, node->field, at)
                           : unit_of(compare_draw(c->point + 77 * (uint64_t)k));
    }
    if (c->branches) {
        sel_branches_visit(c->branches, c->inputs);
        c->input = c->inputs;
    }
}

/* ---- all comparisons ---- */

static bool compare_open(comparison *c, int reference) {
    const int controls = c->controls ? c->controls->n : 0;
    c->branches = c->graph ? sel_branches_create(c->graph, c->field) : NULL;
    const int inputs = c->branches ? sel_branches_inputs(c->branches) : 0;
    c->inputs = calloc((size_t)(inputs + controls + 1), sizeof *c->inputs);
    c->lines = sel_lines_create();
    if (!c->inputs || !c->lines)
        return false;
    c->control = c->inputs + inputs;
    compare_find_pool(c, reference);
    sel_limits_note_lines(c->script, c->lines);
    return true;
}

typedef struct list {
    char text[1024];
    size_t used;
    int entries, more;
} list;

enum { MOST_LISTED = 8 };

static void list_add(list *l, const char *text) {
    if (l->entries == MOST_LISTED || l->used + strlen(text) + 40 > sizeof l->text) {
        l->more++;
        return;
    }
    l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s",
                                l->entries++ ? "; " : "", text);
}

/* The names of the controls, in the arena. NULL: no memory. */
static const char **compare_controls(const comparison *c) {
    const int controls = c->controls ? c->controls->n : 0;
    const char **names = sel_arena_alloc(c->script->arena, ((size_t)controls + 1) * sizeof *names);
    for (int k = 0; names && k < controls; k++)
        names[k] = c->controls->v[k].name;
    return names;
}

/* The lines of chunk `source` and the sides that were not reached, as a text in the arena; NULL:
 * none. */
static const char *compare_text(const comparison *c, const char *source) {
    list l = {.used = 0};
    char text[160];
    const char **names = compare_controls(c);
    for (int line = 0; (line = sel_lines_missed(c->lines, source, line)) > 0;) {
        snprintf(text, sizeof text, "line %d never ran", line);
        list_add(&l, text);
    }
    for (int at = 0;
         names && c->branches && sel_branches_untaken(c->branches, &at, names, text, sizeof text);)
        list_add(&l, text);
    if (l.more)
        snprintf(l.text + l.used, sizeof l.text - l.used, "; and %d more", l.more);
    return l.entries ? sel_arena_copy(c->script->arena, l.text) : NULL;
}

/* Ends the comparison; returns what compare_text gives, NULL after a difference. */
static const char *compare_close(comparison *c, int reference, bool same) {
    lua_State *L = c->script->L;
    lua_Debug info;
    sel_limits_note_lines(c->script, NULL);
    lua_rawgeti(L, LUA_REGISTRYINDEX, reference);
    lua_getinfo(L, ">S", &info);
    const char *text = same && c->lines && c->inputs ? compare_text(c, info.source) : NULL;
    sel_branches_destroy(c->branches);
    sel_lines_destroy(c->lines);
    free(c->inputs);
    return text;
}

/* Whether program and Lua agree at the present point. */
typedef bool compare_agrees(comparison *c, void *data);

/* Compares at points with values of the script. */
static bool compare_points(comparison *c, compare_agrees *agrees, void *data) {
    const int64_t before = c->script->ticks;
    const uint64_t all = 2 * (uint64_t)(c->count + EXTRA);
    const uint64_t most = all < LEAST_POINTS ? LEAST_POINTS : all < MOST_POINTS ? all : MOST_POINTS;
    bool same = true;
    for (c->point = 0; same && c->point < most; c->point++) {
        if (c->point >= LEAST_POINTS && c->script->ticks - before > MOST_COMPARED)
            break;
        compare_visit(c);
        same = agrees(c, data);
    }
    return same;
}

/* Compares at points that the search finds, each with OTHERS values of what the graph does not
 * read. */
static bool compare_search(comparison *c, compare_agrees *agrees, void *data) {
    bool same = true, found;
    while (same && c->branches &&
           sel_branches_search(c->branches, c->pool, c->count, c->inputs, &found)) {
        if (found) {
            sel_branches_visit(c->branches, c->inputs);
            c->input = c->inputs;
            for (int k = 0; same && k < OTHERS; k++, c->point++)
                same = agrees(c, data);
        }
    }
    return same;
}

/* ---- functions of place and time ---- */

/* A random number of any magnitude; the sequence is the same in every run. */
static double compare_sample(uint64_t *seed) {
    static const double scales[] = {1, 1, 10, 100, 1000, 1e-3, 1e5, 1e9};
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    double unit = (double)(*seed >> 11) / 4503599627370496.0 - 1;
    double value = unit * scales[*seed >> 61];
    return (*seed >> 50 & 3u) == 0 ? floor(value) + 0.5 : fabs(value);
}

/* Whether Lua gives the program's results `out` at place i, bit by bit. An error is a difference,
 * unless a limit ended the script. */
static bool same_at(const sel_lua_function *f, const sel_places *at, size_t i, const double *out) {
    double lua[SEL_PROGRAM_RESULTS * PLACES];
    if (sel_function_call_at(f, at, i, lua, NULL) != SEL_OK)
        return f->script->broken;
    for (int r = 0; r < f->base.results; r++)
        if (memcmp(&lua[(size_t)r * at->n + i], &out[(size_t)r * at->n + i], sizeof *lua) != 0)
            return false;
    return true;
}

/* The first place at which the program differs from Lua; at->n: none. */
static size_t find_difference(const sel_lua_function *f, const sel_places *at) {
    double out[SEL_PROGRAM_RESULTS * PLACES];
    uint8_t settled[PLACES];
    size_t i = 0;
    if (sel_program_eval(f->program, at, at->controls, out, settled, NULL) != SEL_OK)
        return at->n;
    while (i < at->n &&
           (!settled[i] || !sel_function_finite(f, at->n, i, out) || same_at(f, at, i, out)))
        i++;
    return i;
}

/* Whether the program differs somewhere; f->why says where. */
static bool differs(sel_lua_function *f, const sel_places *at) {
    const size_t i = find_difference(f, at);
    char place[160];
    if (i == at->n)
        return false;
    sel_place_text(at, i, place, sizeof place);
    snprintf(f->why, sizeof f->why,
             "its program gave another value at %s: it depends on more than its arguments, or it "
             "was misread",
             place);
    return true;
}

static bool law_agrees(comparison *c, void *data) {
    const double x = compare_argument(c, SEL_ARGUMENT_X), y = compare_argument(c, SEL_ARGUMENT_Y);
    const double z = compare_argument(c, SEL_ARGUMENT_Z), t = compare_argument(c, SEL_ARGUMENT_T);
    for (int k = 0; c->controls && k < c->controls->n; k++)
        c->control[k] = compare_argument(c, SEL_ARGUMENT_CONTROL + k);
    return !differs(data, &(sel_places){1, &x, &y, &z, t, c->control, NULL});
}

/* Compares PLACES random places at once, as rows of cells are evaluated, at MOMENTS times. */
static bool rows_agree(sel_lua_function *f) {
    double x[PLACES], y[PLACES], z[PLACES];
    const int64_t before = f->script->ticks;
    uint64_t seed = 1;
    for (int m = 0; m < MOMENTS && f->script->ticks - before <= MOST_COMPARED; m++) {
        for (int i = 0; i < PLACES; i++) {
            x[i] = compare_sample(&seed);
            y[i] = compare_sample(&seed);
            z[i] = compare_sample(&seed);
        }
        const sel_places at = {PLACES,      x,   y, z, m ? fabs(compare_sample(&seed)) : 0,
                               f->defaults, NULL};
        if (differs(f, &at))
            return false;
    }
    return true;
}

void sel_function_compare(sel_lua_function *f) {
    comparison c = {.script = f->script,
                    .common = f->needs.common,
                    .controls = f->needs.controls,
                    .graph = f->graph};
    bool same = compare_open(&c, f->reference) && compare_points(&c, law_agrees, f);
    if (same && sel_lines_missed(c.lines, NULL, 0) == 0)
        sel_limits_note_lines(f->script, NULL);
    same = same && rows_agree(f);
    if (same)
        sel_limits_note_lines(f->script, c.lines);
    same = same && compare_search(&c, law_agrees, f);
    f->unseen = compare_close(&c, f->reference, same);
    if (!same)
        f->program = f->base.program = NULL;
}

/* ---- functions of cells ---- */

typedef struct rule_comparison {
    sel_lua_rule *rule;
    const sel_program *program;
    double *slot, *lua;
    sel_rule_place at;
    comparison *c;
} rule_comparison;

static double read_sample(const sel_rule_place *self, int field, const int at[3]) {
    return compare_field(((const rule_comparison *)self->data)->c, field, at);
}

static double random_sample(const sel_rule_place *self, int64_t k) {
    return compare_random(((const rule_comparison *)self->data)->c, k);
}

/* At a point where the program fails: decides whether rule->doubt is a mistake. It is one if Lua
 * fails, too: on the doubted line, or because of the value that the function returns. Integers that
 * are too large or divided by 0 are no mistake. */
static void compare_note_mistake(rule_comparison *r) {
    sel_lua_rule *rule = r->rule;
    sel_error told = {.status = SEL_OK};
    char line[300];
    if (!rule->doubt || rule->mistaken || rule->script->broken ||
        rule->base.call(&rule->base, &r->at, r->lua, &told) == SEL_OK)
        return;
    const int length =
        snprintf(line, sizeof line, "%.250s:%d: ", rule->doubted.file, rule->doubted.line);
    const bool there = strncmp(told.text, line, (size_t)length) == 0 ||
                       strstr(told.text, ": function returned") ||
                       strstr(told.text, ": function must return");
    rule->mistaken = there && !strstr(told.text, "integer representation") &&
                     !strstr(told.text, "divide by zero") && !strstr(told.text, "'n%") &&
                     !strstr(told.text, "'n/");
}

/* Whether Lua gives the program's results in the cell of the present point. True as well where the
 * program fails, and where a limit ended the script. */
static bool rule_agrees(comparison *c, void *data) {
    rule_comparison *r = data;
    const sel_program *p = r->program;
    const sel_packed_program *l = &p->layout;
    const sel_packed_slots slots = {r->slot, r->slot, 0, 1};
    sel_rule_place *at = &r->at;
    r->c = c;
    for (int axis = 0; axis < 3; axis++)
        at->place[axis] = compare_argument(c, axis);
    at->t = compare_argument(c, SEL_ARGUMENT_T);
    at->dt = compare_argument(c, SEL_ARGUMENT_DT);
    for (int k = 0; k < c->controls->n; k++)
        c->control[k] = compare_argument(c, SEL_ARGUMENT_CONTROL + k);
    sel_packed_once(&p->tables, 0, at->t, at->dt, at->controls, r->slot);
    for (int k = 0; k < l->reads; k++) {
        const sel_read *read = &p->tables.read[k];
        const int place[3] = {read->at[0], read->at[1], read->at[2]};
        r->slot[l->fixed + k] = read_sample(at, read->field, place);
    }
    for (int k = l->once; k < l->once + l->each; k++) {
        const sel_instruction *v = &p->tables.code[k];
        if (v->op == SEL_RULE_RANDOM)
            r->slot[v->to] = random_sample(at, (int64_t)r->slot[v->from[0]]);
        else
            sel_packed_step(&p->tables, l, k, at->place, &slots);
    }
    if (l->fails >= 0 && r->slot[l->fails] != 0) {
        compare_note_mistake(r);
        return true;
    }
    if (r->rule->base.call(&r->rule->base, at, r->lua, NULL) != SEL_OK)
        return r->rule->script->broken;
    const bool numbers = r->rule->returns == SEL_RETURNS_NUMBERS; /* too many are refused later */
    const int outputs = numbers && l->outputs > SEL_MOST_NUMBERS ? SEL_MOST_NUMBERS : l->outputs;
    for (int k = 0; k < outputs; k++) {
        const double a = r->slot[p->tables.output[k].slot], b = r->lua[p->tables.output[k].field];
        if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b)))
            return false;
    }
    return true;
}

enum { MOST_TOLD = 4 };

/* Writes where a graph differs: the values of its first inputs. */
static void rule_differs(const comparison *c, char why[SEL_RULE_WHY]) {
    const char **names = compare_controls(c);
    const int inputs = c->branches && c->inputs && names ? sel_branches_inputs(c->branches) : 0;
    size_t used = (size_t)snprintf(why, SEL_RULE_WHY, "its graph gave another value than Lua");
    for (int k = 0; k < inputs && k < MOST_TOLD && used < SEL_RULE_WHY - 110; k++) {
        char name[48];
        sel_branches_name(c->branches, k, names, name, sizeof name);
        used += (size_t)snprintf(why + used, SEL_RULE_WHY - used, "%s%s = %.9g",
                                 k ? ", " : " where ", name, c->inputs[k]);
    }
    snprintf(why + used, SEL_RULE_WHY - used,
             ": it depends on more than its cell, or it was misread");
}

bool sel_rule_compare(sel_lua_rule *rule, const sel_rule *graph, char *why) {
    const sel_program_form form = {.field = rule->cells->field, .numbers = true};
    comparison c = {.script = rule->script,
                    .common = rule->simulation ? rule->simulation->params : NULL,
                    .controls = rule->controls,
                    .graph = graph,
                    .field = rule->cells->field};
    sel_arena *arena = sel_arena_create();
    const sel_program *p = arena ? sel_program_compile(graph, &form, arena) : NULL;
    const size_t slots = p ? (size_t)(p->layout.fixed + p->layout.own) + 1 : 0;
    double *lua = p ? sel_arena_alloc(arena, (SEL_MOST_CELL_FIELDS + slots) * sizeof *lua) : NULL;
    bool same = compare_open(&c, rule->reference) && arena;
    if (same && lua) {
        rule_comparison r = {rule, p, lua + SEL_MOST_CELL_FIELDS, lua, {.controls = c.control}, &c};
        r.at.read = read_sample;
        r.at.random = random_sample;
        r.at.data = &r;
        same = compare_points(&c, rule_agrees, &r) && compare_search(&c, rule_agrees, &r);
    }
    if (!same)
        rule_differs(&c, why);
    rule->unseen = compare_close(&c, rule->reference, same);
    sel_arena_destroy(arena);
    return same;
}
