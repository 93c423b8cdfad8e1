/* rule_graph.h -- simulations of sel.rule for tests: a scenario from a text whose functions are
 * replaced by graphs made here.
 */
#ifndef RULE_GRAPH_H
#define RULE_GRAPH_H

#include "tests/unit/script_case.h"
#include "engine/run/prepare.h"
#include "engine/solvers/rule/rule.h"

/* Before each scenario. */
#define RULE_BEGIN                                          \
    "local sel = require 'selenite'\n"                      \
    "local shape, law, out = sel.shape, sel.law, sel.out\n" \
    "local function none(c) return {} end\n"

/* ---- graphs ---- */

enum { GRAPH_NODES = 4096, GRAPH_OUTPUTS = 8 };

typedef struct graph {
    sel_rule_node node[GRAPH_NODES];
    sel_rule_output output[GRAPH_OUTPUTS];
    sel_rule rule;
    sel_rule_source source;
} graph;

static inline int graph_add(graph *g, sel_rule_node node) {
    assert_true(g->rule.nodes < GRAPH_NODES);
    node.depends = node.op == SEL_RULE_READ                             ? (unsigned)SEL_ON_CELL
                   : node.op == SEL_RULE_RANDOM                         ? (unsigned)SEL_ON_STEP
                   : node.op == SEL_OP_ARGUMENT && node.operand[0] >= 0 ? 1u << node.operand[0]
                                                                        : 0;
    for (int k = 0; k < sel_rule_operands(&node); k++) {
        node.depends |= g->node[node.operand[k]].depends;
    }
    g->node[g->rule.nodes] = node;
    return g->rule.nodes++;
}

static inline int graph_op(graph *g, int op, int a, int b) {
    return graph_add(
        g, (sel_rule_node){.op = op, .operand = {a, b}, .low = -HUGE_VAL, .high = HUGE_VAL});
}

/* A whole number between these bounds. */
static inline int graph_whole(graph *g, int op, int a, int b, double low, double high) {
    return graph_add(
        g, (sel_rule_node){.op = op, .operand = {a, b}, .whole = true, .low = low, .high = high});
}

static inline int graph_condition(graph *g, int op, int a, int b) {
    return graph_whole(g, op, a, b, 0, 1);
}

static inline int graph_number(graph *g, double value) {
    return graph_add(
        g, (sel_rule_node){.op = SEL_OP_CONSTANT, .value = value, .low = value, .high = value});
}

static inline int graph_integer(graph *g, double value) {
    const int n = graph_number(g, value);
    g->node[n].whole = true;
    return n;
}

static inline int graph_read(graph *g, int field, int dx, int dy, int dz) {
    const int away[3] = {abs(dx), abs(dy), abs(dz)};
    for (int a = 0; a < 3; a++) {
        g->rule.reach[a] = away[a] > g->rule.reach[a] ? away[a] : g->rule.reach[a];
    }
    return graph_add(g, (sel_rule_node){.op = SEL_RULE_READ,
                                        .field = field,
                                        .at = {(int8_t)dx, (int8_t)dy, (int8_t)dz},
                                        .low = -HUGE_VAL,
                                        .high = HUGE_VAL});
}

/* A read of an integer field. */
static inline int graph_read_whole(graph *g, int field, int dx, int dy, double low, double high) {
    const int n = graph_read(g, field, dx, dy, 0);
    g->node[n].whole = true;
    g->node[n].low = low;
    g->node[n].high = high;
    return n;
}

static inline int graph_select(graph *g, int condition, int a, int b) {
    const sel_rule_node *x = &g->node[a], *y = &g->node[b];
    return graph_add(g, (sel_rule_node){.op = SEL_OP_SELECT,
                                        .operand = {condition, a, b},
                                        .whole = x->whole && y->whole,
                                        .low = fmin(x->low, y->low),
                                        .high = fmax(x->high, y->high)});
}

static inline void graph_return(graph *g, int field, int node) {
    g->output[g->rule.outputs++] = (sel_rule_output){field, node};
}

static inline graph *graph_create(void) {
    graph *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->rule = (sel_rule){.name = "rule", .node = g->node, .output = g->output, .fails = -1};
    g->source = (sel_rule_source){.rule = &g->rule};
    return g;
}

/* ---- simulations ---- */

typedef struct rule_case {
    script_case script;
    sel_prepared prepared;
    sel_state *state;
    sel_error error;
} rule_case;

static inline rule_params *rule_params_of(rule_case *c) {
    return (rule_params *)c->script.scenario->simulations[0].params;
}

static inline void rule_load(rule_case *c, const char *text) {
    memset(c, 0, sizeof *c);
    script_accepts(&c->script, text);
}

static inline void rule_open_on(rule_case *c, const sel_settings *settings) {
    if (sel_prepare(c->script.scenario->simulations, settings, &c->prepared, &c->error)) {
        fail_msg("%s", c->error.text);
    }
    c->prepared.plan->wants_balance = true;
    if (c->prepared.backend->create(c->prepared.plan, &c->state, &c->error)) {
        fail_msg("%s", c->error.text);
    }
}

/* At step 0 on the CPU, with so many threads. */
static inline void rule_open(rule_case *c, int threads) {
    const sel_settings settings = {.precision = -1, .backend = SEL_BACKEND_CPU, .threads = threads};
    rule_open_on(c, &settings);
}

static inline void rule_close(rule_case *c) {
    c->prepared.backend->destroy(c->state);
    sel_prepared_release(&c->prepared);
    script_done(&c->script);
}

static inline void rule_steps(rule_case *c, int64_t steps) {
    if (c->prepared.backend->advance(c->state, steps, false, &c->error)) {
        fail_msg("%s", c->error.text);
    }
}

/* A field at all cells; freed by the caller. */
static inline double *rule_values(rule_case *c, const char *name) {
    const sel_grid *grid = &c->prepared.domain->grid;
    int component;
    const int field =
        sel_solver_field(c->prepared.simulation->solver, grid->dims, name, &component);
    assert_true(field >= 0);
    sel_request read = {.kind = SEL_READ,
                        .field = field,
                        .box = sel_grid_box(grid),
                        .precision = SEL_F64,
                        .components = 1,
                        .to = calloc((size_t)sel_grid_cells(grid), sizeof(double))};
    if (c->prepared.backend->start(c->state, &read, &c->error)) {
        fail_msg("%s", c->error.text);
    }
    return read.to;
}

#endif
