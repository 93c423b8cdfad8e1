/* test_program_compile.c -- random graphs as programs for rows of cells, by loops and as machine
 * code, against the same graphs node by node: not one bit may differ in f64.
 */
#include "tests/unit/rule_eval.h"
#include "tests/unit/rule_graph.h"

enum { NY = 3, FIELDS = 3 };

static uint64_t seed;

static int any(int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)(seed >> 33) % n;
}

/* ---- graphs ---- */

/* Nodes by what they hold, to be operands of others. */
typedef struct pool {
    int real[GRAPH_NODES], whole[GRAPH_NODES], condition[GRAPH_NODES];
    int reals, wholes, conditions;
} pool;

static int a_real(const pool *p) {
    return any(4) ? p->real[any(p->reals)] : p->whole[any(p->wholes)];
}

static int a_whole(const pool *p) {
    return p->whole[any(p->wholes)];
}

static void add_real(graph *g, pool *p) {
    static const int two[] = {SEL_OP_ADD, SEL_OP_SUB, SEL_OP_MUL, SEL_OP_DIV,
                              SEL_OP_MIN, SEL_OP_MAX, SEL_OP_MOD, SEL_OP_ATAN2};
    static const int one[] = {SEL_OP_UNM, SEL_OP_ABS, SEL_OP_EXP, SEL_OP_SIN, SEL_OP_TANH};
    int n;
    switch (any(4)) {
    case 0:
        n = graph_op(g, one[any(5)], p->real[any(p->reals)], 0);
        break;
    case 1:
        n = graph_select(g, p->condition[any(p->conditions)], p->real[any(p->reals)], a_real(p));
        break;
    default:
        n = graph_op(g, two[any(8)], p->real[any(p->reals)], a_real(p));
    }
    p->real[p->reals++] = n;
}

static int bounded(graph *g, int op, int a, int b) {
    const sel_rule_node *x = &g->node[a], *y = &g->node[b];
    const double sum[2] = {x->low + y->low, x->high + y->high};
    const double less[2] = {x->low - y->high, x->high - y->low};
    const double far = fmax(fabs(x->low), fabs(x->high)) * fmax(fabs(y->low), fabs(y->high));
    return op == SEL_OP_ADD   ? graph_whole(g, op, a, b, sum[0], sum[1])
           : op == SEL_OP_SUB ? graph_whole(g, op, a, b, less[0], less[1])
                              : graph_whole(g, op, a, b, -far, far);
}

/* Below 2^53, above which Lua's integers go on. */
static int held_small(graph *g, int n) {
    const int by = graph_integer(g, any(2) ? 64 : 1000003);
    const bool large = !(g->node[n].low > -0x1p40 && g->node[n].high < 0x1p40);
    n = large ? graph_whole(g, SEL_OP_MOD, n, by, 0, g->node[by].value - 1) : n;
    return graph_whole(g, SEL_OP_WHOLE, n, 0, g->node[n].low, g->node[n].high); /* no -0 */
}

static void add_whole(graph *g, pool *p) {
    static const int simple[] = {SEL_OP_ADD, SEL_OP_SUB, SEL_OP_MUL};
    static const int bits[] = {SEL_RULE_BAND, SEL_RULE_BOR, SEL_RULE_BXOR};
    const int a = a_whole(p), b = a_whole(p);
    const int by = graph_integer(g, (any(2) ? 1 : -1) * (any(2) ? 1 << any(12) : 1 + any(99)));
    const double d = g->node[by].value;
    int n;
    switch (any(7)) {
    case 0:
        n = graph_whole(g, SEL_OP_IDIV, a, by, -0x1p40, 0x1p40);
        if (fabs(g->node[a].low) < 0x1p31 && fabs(g->node[a].high) < 0x1p31) {
            g->node[n].low = -0x1p31 + 1;
            g->node[n].high = 0x1p31 - 1;
        }
        break;
    case 1:
        n = graph_whole(g, SEL_OP_MOD, a, by, fmin(d + 1, 0), fmax(d - 1, 0));
        break;
    case 2:
        n = graph_whole(g, bits[any(3)], a, b, -0x1p41, 0x1p41);
        break;
    case 3:
        n = graph_select(g, p->condition[any(p->conditions)], a, b);
        break;
    case 4: /* of a real that is read, and held between bounds */
        n = graph_op(g, SEL_OP_MAX, graph_op(g, SEL_OP_MIN, p->real[any(4)], by),
                     graph_number(g, -200));
        n = graph_whole(g, SEL_OP_FLOOR, n, 0, -200, fmax(d, -200));
        break;
    default:
        n = bounded(g, simple[any(3)], a, b);
    }
    p->whole[p->wholes++] = held_small(g, n);
}

static void add_condition(graph *g, pool *p) {
    static const int compare[] = {SEL_OP_LT, SEL_OP_LE, SEL_OP_EQ};
    static const int logic[] = {SEL_OP_AND, SEL_OP_OR, SEL_OP_NOT};
    const int op = compare[any(3)];
    const int n = any(3) == 0 ? graph_condition(g, logic[any(3)], p->condition[any(p->conditions)],
                                                p->condition[any(p->conditions)])
                              : graph_condition(g, op, any(2) ? a_real(p) : a_whole(p), a_real(p));
    p->condition[p->conditions++] = n;
}

static graph *random_graph(int size) {
    graph *g = graph_create();
    pool p = {.reals = 0};
    for (int k = 0; k < 4; k++) {
        p.real[p.reals++] = graph_read(g, 0, any(5) - 2, any(5) - 2, 0);
        p.whole[p.wholes++] = graph_read_whole(g, 1, any(5) - 2, any(5) - 2, INT32_MIN, INT32_MAX);
        p.whole[p.wholes++] = graph_read_whole(g, 2, any(3) - 1, any(3) - 1, 0, 255);
    }
    p.real[p.reals++] = graph_number(g, any(100) * 0.37 - 10);
    p.real[p.reals++] =
        graph_add(g, (sel_rule_node){.op = SEL_OP_ARGUMENT, .operand = {SEL_ARGUMENT_DT}});
    p.real[p.reals++] = graph_add(g, (sel_rule_node){.op = SEL_OP_ARGUMENT, .operand = {any(2)}});
    p.whole[p.wholes++] = graph_integer(g, any(20) - 10);
    p.real[p.reals++] =
        graph_add(g, (sel_rule_node){.op = SEL_RULE_RANDOM, .operand = {p.whole[8]}});
    p.condition[p.conditions++] = graph_condition(g, SEL_OP_LT, p.real[0], p.real[1]);
    for (int k = 0; k < size; k++) {
        const int kind = any(5);
        (kind < 2 ? add_real : kind < 4 ? add_whole : add_condition)(g, &p);
    }
    const int whole = p.whole[p.wholes - 1], small = p.whole[p.wholes - 2];
    graph_return(g, 0, p.real[p.reals - 1]);
    graph_return(g, 1, graph_whole(g, SEL_OP_MOD, whole, graph_integer(g, 1000), 0, 999));
    graph_return(g, 2, graph_whole(g, SEL_OP_MOD, small, graph_integer(g, 256), 0, 255));
    return g;
}

/* ---- node by node ---- */

typedef struct grid_place {
    double *field[FIELDS];
    int64_t x, y, nx;
    int fields;
    const rule_plan *plan;
} grid_place;

static double read_at(const sel_rule_place *self, int field, const int at[3]) {
    const grid_place *p = self->data;
    const int64_t x = (p->x + at[0] + p->nx) % p->nx, y = (p->y + at[1] + NY) % NY;
    return p->field[field][y * p->nx + x];
}

static double random_at(const sel_rule_place *self, int64_t k) {
    const grid_place *p = self->data;
    return rule_random(p->plan, p->y * p->nx + p->x, 0, k);
}

static void check_cell(const graph *g, grid_place *p, double *const after[FIELDS]) {
    static double scratch[GRAPH_NODES];
    const sel_rule_place at = {.place = {(double)p->x + 0.5, (double)p->y + 0.5},
                               .dt = 0.25,
                               .read = read_at,
                               .random = random_at,
                               .data = p};
    double out[GRAPH_OUTPUTS];
    bool fails;
    rule_eval(&g->rule, &at, scratch, out, &fails);
    for (int k = 0; k < p->fields; k++) {
        const double got = after[k][p->y * p->nx + p->x];
        if (got != out[k] && !(isnan(got) && isnan(out[k]))) {
            fail_msg("field %d at %d, %d: %.17g, not %.17g", k, (int)p->x, (int)p->y, got, out[k]);
        }
    }
}

/* A step of a scenario, cell by cell. */
static void check_step(rule_case *c, const graph *g, const char *const *names, int fields) {
    grid_place p = {.plan = (const rule_plan *)c->prepared.plan,
                    .nx = c->prepared.domain->grid.n[0],
                    .fields = fields};
    double *after[FIELDS];
    for (int k = 0; k < fields; k++) {
        p.field[k] = rule_values(c, names[k]);
    }
    rule_steps(c, 1);
    for (int k = 0; k < fields; k++) {
        after[k] = rule_values(c, names[k]);
    }
    for (p.y = 0; p.y < NY; p.y++) {
        for (p.x = 0; p.x < p.nx; p.x++) {
            check_cell(g, &p, after);
        }
    }
    for (int k = 0; k < fields; k++) {
        free(p.field[k]);
        free(after[k]);
    }
}

/* A few are translated by the compiler, which takes longer. */
static void choose_way(int round) {
    setenv("SELENITE_CC", round % 8 == 0 ? "cc" : "0", 1);
}

static void code_gives_the_values_of_the_graph(void **state) {
    (void)state;
    static const char *const names[] = {"u", "i", "b"};
    for (int round = 0; round < 200; round++) {
        rule_case c;
        seed = (uint64_t)round;
        choose_way(round);
        graph *g = random_graph(1 + round / 2);
        rule_load(&c, RULE_BEGIN
                  "return sel.rule { size = { 70, 3 }, periodic = { 'x', 'y' }, rule = none,\n"
                  "precision = 'f64', dt = 0.25, seed = 3, main = 'u', stop = { steps = 1 },\n"
                  "state = { u = 'real', i = 'i32', b = 'u8' }, initial = {\n"
                  "u = function(x, y) return 5 * sel.noise(1, x, y) end,\n"
                  "i = function(x, y) return math.floor(2e9 * sel.noise(2, x, y) ^ 5) end,\n"
                  "b = function(x, y) return math.floor(127 * sel.noise(3, x, y)) + 128 end } }");
        rule_params_of(&c)->rule.v[0].source = &g->source;
        rule_open(&c, 1);
        check_step(&c, g, names, FIELDS);
        free(g);
        rule_close(&c);
    }
}

/* ---- bytes ---- */

/* Sums of cells, compared with what is near 255, where bytes end. */
static graph *graph_of_bytes(int size) {
    static const int sums[] = {SEL_OP_ADD, SEL_OP_ADD, SEL_OP_MIN, SEL_OP_MAX};
    static const int compare[] = {SEL_OP_LT, SEL_OP_LE, SEL_OP_EQ};
    static const int logic[] = {SEL_OP_AND, SEL_OP_OR, SEL_OP_NOT};
    graph *g = graph_create();
    pool p = {.wholes = 0};
    for (int k = 0; k < 6; k++) {
        p.whole[p.wholes++] = graph_read_whole(g, 0, any(5) - 2, any(5) - 2, 0, 255);
    }
    p.condition[p.conditions++] = graph_condition(g, SEL_OP_LT, p.whole[0], p.whole[1]);
    for (int k = 0; k < size; k++) {
        const int a = a_whole(&p), b = a_whole(&p), op = sums[any(4)];
        const int c = p.condition[any(p.conditions)], d = p.condition[any(p.conditions)];
        const int near = graph_integer(g, any(3) ? any(4) : 250 + any(6));
        const double low = op == SEL_OP_ADD ? g->node[a].low + g->node[b].low : 0;
        const double high = op == SEL_OP_ADD ? fmin(g->node[a].high + g->node[b].high, 0x1p30)
                                             : fmax(g->node[a].high, g->node[b].high);
        p.whole[p.wholes++] =
            any(4) ? graph_whole(g, op, a, b, low, high) : graph_select(g, c, a, b);
        p.condition[p.conditions++] = any(3) ? graph_condition(g, compare[any(3)], a, near)
                                             : graph_condition(g, logic[any(3)], c, d);
    }
    const int last = p.whole[p.wholes - 1], most = graph_integer(g, 250 + any(6));
    const int chosen =
        graph_select(g, p.condition[p.conditions - 1], graph_integer(g, any(256)), p.whole[0]);
    graph_return(g, 0, any(2) ? graph_whole(g, SEL_OP_MIN, last, most, 0, 255) : chosen);
    return g;
}

static void bytes_that_end_at_255_give_the_values_of_the_graph(void **state) {
    (void)state;
    static const char *const names[] = {"b"};
    int of_bytes = 0;
    for (int round = 0; round < 200; round++) {
        rule_case c;
        seed = (uint64_t)round;
        choose_way(round);
        graph *g = graph_of_bytes(1 + round / 10);
        rule_load(&c, RULE_BEGIN /* rows of a stretch of pieces, one, and a part */
                  "return sel.rule { size = { 1400, 3 }, periodic = { 'x', 'y' }, rule = none,\n"
                  "stop = { steps = 1 }, state = { b = 'u8' }, initial = {\n"
                  "b = function(x, y) return math.floor(x * x * 37 + y * 101) % 256 end } }");
        rule_params_of(&c)->rule.v[0].source = &g->source;
        rule_open(&c, 1);
        of_bytes += ((const rule_plan *)c.prepared.plan)->model->function[0].code->bytes;
        check_step(&c, g, names, 1);
        free(g);
        rule_close(&c);
    }
    assert_true(of_bytes > 100 && of_bytes < 200);
}

int main(void) {
    setenv("XDG_CACHE_HOME", "compiled", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_gives_the_values_of_the_graph),
        cmocka_unit_test(bytes_that_end_at_255_give_the_values_of_the_graph),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
