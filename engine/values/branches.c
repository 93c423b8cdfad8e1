/* branches.c -- the conditions of a function's graph: which sides were taken, and a search for the
 * others. */
#include "engine/values/branches.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MOST_WORK: nodes that are evaluated; some 50 ms. It is counted, so that runs repeat. */
enum { MOST_WORK = 2000000, LEAST_SHARE = 20000, MOST_VISITED = 512, STARTS = 3 };

/* Of a side that no number takes, and between numbers that cannot be subtracted. */
static const double never = 1e9, unknown = 1e4;

enum { FALSE_SIDE = 1, TRUE_SIDE = 2, BOTH = 3 };

struct sel_branches {
    const sel_rule *graph;
    const sel_cell_field *field;
    int inputs;
    int *input;                 /* [inputs]: nodes */
    int *number;                /* by node: of an input */
    double *value;              /* by node */
    double *to_true, *to_false; /* by node: how far a condition is from being so */
    double *cost;               /* by node: how far from being needed by a result; 0: it is */
    uint8_t *taken, *wanted;    /* by node: sides */
    bool *needs;                /* by node: scratch of the search */
    int visited;                /* points kept */
    double *visits;             /* [MOST_VISITED][inputs] */
    int next;                   /* the node and side to be looked for: 2 node + side */
    int64_t work;
};

static const sel_rule_node *node_of(const sel_branches *b, int n) {
    return &b->graph->node[n];
}

/* Those whose sides are told: comparisons, but for those that the reader of functions adds to
 * follow integers; and selections by a condition that is no comparison. */
static uint8_t sides_of(const sel_branches *b, int n) {
    const sel_rule_node *node = node_of(b, n);
    const sel_rule_node *x = node_of(b, node->operand[0]), *y = node_of(b, node->operand[1]);
    if (node->op == SEL_OP_SELECT) {
        return sel_op_is_condition(x->op) && !sel_op_compares(x->op) ? BOTH : 0;
    }
    const bool bound = (x->op == SEL_OP_CONSTANT && fabs(x->value) == 0x1p53) ||
                       (y->op == SEL_OP_CONSTANT && fabs(y->value) == 0x1p53);
    if (!sel_op_compares(node->op) || node->operand[0] == node->operand[1] || bound) {
        return 0;
    }
    uint8_t sides = BOTH; /* which bounds allow */
    if (x->whole && y->whole) {
        const bool below = x->high<y->low, above = x->low> y->high;
        const bool lt = node->op == SEL_OP_LT;
        if (node->op == SEL_OP_EQ) {
            sides &= below || above ? (uint8_t)~TRUE_SIDE : BOTH;
        } else {
            sides &= below || (!lt && x->high <= y->low) ? (uint8_t)~FALSE_SIDE : BOTH;
            sides &= above || (lt && x->low >= y->high) ? (uint8_t)~TRUE_SIDE : BOTH;
        }
    }
    return sides;
}

sel_branches *sel_branches_create(const sel_rule *graph, const sel_cell_field *field) {
    const size_t nodes = (size_t)graph->nodes + 1;
    sel_branches *b = calloc(1, sizeof *b);
    if (!b) {
        return NULL;
    }
    b->graph = graph;
    b->field = field;
    b->input = calloc(nodes, sizeof *b->input);
    b->number = calloc(nodes, sizeof *b->number);
    b->value = calloc(4 * nodes, sizeof *b->value);
    b->taken = calloc(nodes, 2);
    b->needs = calloc(nodes, sizeof *b->needs);
    if (!b->input || !b->number || !b->value || !b->taken || !b->needs) {
        sel_branches_destroy(b);
        return NULL;
    }
    b->to_true = b->value + nodes;
    b->to_false = b->to_true + nodes;
    b->cost = b->to_false + nodes;
    b->wanted = b->taken + nodes;
    for (int n = 0; n < graph->nodes; n++) {
        const int op = node_of(b, n)->op;
        b->wanted[n] = sides_of(b, n);
        if (op == SEL_OP_ARGUMENT || op == SEL_RULE_READ || op == SEL_RULE_RANDOM) {
            b->number[n] = b->inputs;
            b->input[b->inputs++] = n;
        }
    }
    b->visits = calloc((size_t)MOST_VISITED * (size_t)(b->inputs + 1), sizeof *b->visits);
    if (!b->visits) {
        sel_branches_destroy(b);
        return NULL;
    }
    return b;
}

void sel_branches_destroy(sel_branches *branches) {
    if (branches) {
        free(branches->input);
        free(branches->number);
        free(branches->value);
        free(branches->taken);
        free(branches->needs);
        free(branches->visits);
        free(branches);
    }
}

int sel_branches_inputs(const sel_branches *branches) {
    return branches->inputs;
}

const sel_rule_node *sel_branches_input(const sel_branches *branches, int k) {
    return node_of(branches, branches->input[k]);
}

double sel_branches_value(const sel_branches *branches, int node) {
    return branches->value[node];
}

/* ---- values and distances ---- */

static int64_t to_integer(double value) {
    return fabs(value) < 0x1p63 ? (int64_t)value : 0;
}

/* Draws of the same number are the same. */
static double random_value(const sel_branches *b, int n, const double *inputs) {
    for (int k = 0; k < b->number[n]; k++) {
        const sel_rule_node *other = sel_branches_input(b, k);
        if (other->op == SEL_RULE_RANDOM &&
            b->value[other->operand[0]] == b->value[node_of(b, n)->operand[0]]) {
            return b->value[b->input[k]];
        }
    }
    return inputs[b->number[n]];
}

static double look_up(const sel_branches *b, const sel_rule_node *node) {
    double operand[SEL_LOOKUP_ARGUMENTS] = {0}, out;
    const double *arguments[SEL_LOOKUP_ARGUMENTS];
    for (int k = 0; k < SEL_LOOKUP_ARGUMENTS; k++) {
        operand[k] = k < node->lookup->arguments ? b->value[node->operand[k]] : 0;
        arguments[k] = &operand[k];
    }
    sel_lookup_values(node->lookup, 1, arguments, &out);
    return out;
}

static double value_of(const sel_branches *b, int n, const double *inputs) {
    const sel_rule_node *node = node_of(b, n);
    const double *v = b->value;
    switch (node->op) {
    case SEL_OP_CONSTANT:
        return node->value;
    case SEL_OP_ARGUMENT:
    case SEL_RULE_READ:
        return inputs[b->number[n]];
    case SEL_RULE_RANDOM:
        return random_value(b, n, inputs);
    case SEL_OP_LOOKUP:
        return look_up(b, node);
    default:
        return node->op < SEL_OP_COUNT ? sel_program_value(node->op, v[node->operand[0]],
                                                           v[node->operand[1]], v[node->operand[2]])
                                       : sel_rule_bits(node->op, to_integer(v[node->operand[0]]),
                                                       to_integer(v[node->operand[1]]));
    }
}

/* A difference on a scale on which sums of several make sense. */
static double scaled(double difference) {
    const double size = fabs(difference);
    return isnan(size) ? unknown : size <= DBL_MAX ? log1p(size) : unknown / 2;
}

static void compare(sel_branches *b, int n) {
    const sel_rule_node *node = node_of(b, n);
    const double x = b->value[node->operand[0]], y = b->value[node->operand[1]];
    const double far = scaled(x - y), step = DBL_MIN; /* where only equality is in the way */
    const bool is = b->value[n] != 0;
    b->to_true[n] = is ? 0 : node->op == SEL_OP_LT ? far + step : far;
    b->to_false[n] = !is ? 0 : node->op == SEL_OP_LT ? far : node->op == SEL_OP_LE ? far + step : 1;
}

static void find_distances(sel_branches *b, int n) {
    const sel_rule_node *node = node_of(b, n);
    const int x = node->operand[0], y = node->operand[1], z = node->operand[2];
    double *t = b->to_true, *f = b->to_false;
    switch (node->op) {
    case SEL_OP_LT:
    case SEL_OP_LE:
    case SEL_OP_EQ:
        compare(b, n);
        return;
    case SEL_OP_NOT:
        t[n] = f[x];
        f[n] = t[x];
        return;
    case SEL_OP_AND:
        t[n] = t[x] + t[y];
        f[n] = fmin(f[x], f[y]);
        return;
    case SEL_OP_OR:
        t[n] = fmin(t[x], t[y]);
        f[n] = f[x] + f[y];
        return;
    case SEL_OP_SELECT:
        t[n] = fmin(t[x] + t[y], f[x] + t[z]);
        f[n] = fmin(t[x] + f[y], f[x] + f[z]);
        return;
    default:
        t[n] = b->value[n] != 0 ? 0 : node->op == SEL_OP_CONSTANT ? never : 1;
        f[n] = b->value[n] == 0 ? 0 : node->op == SEL_OP_CONSTANT ? never : scaled(b->value[n]);
    }
}

static void need(sel_branches *b, int n, double cost) {
    b->cost[n] = fmin(b->cost[n], cost);
}

/* From the results back. */
static void find_costs(sel_branches *b) {
    for (int n = 0; n < b->graph->nodes; n++) {
        b->cost[n] = never;
    }
    for (int k = 0; k < b->graph->outputs; k++) {
        b->cost[b->graph->output[k].node] = 0;
    }
    if (b->graph->fails >= 0) {
        b->cost[b->graph->fails] = 0;
    }
    for (int n = b->graph->nodes - 1; n >= 0; n--) {
        const sel_rule_node *node = node_of(b, n);
        const double cost = b->cost[n];
        const int x = node->operand[0], y = node->operand[1], z = node->operand[2];
        if (cost >= never) {
            continue;
        }
        if (node->op == SEL_OP_SELECT || node->op == SEL_OP_AND || node->op == SEL_OP_OR) {
            need(b, x, cost);
            need(b, y, cost + (node->op == SEL_OP_OR ? b->to_false[x] : b->to_true[x]));
            if (node->op == SEL_OP_SELECT) {
                need(b, z, cost + b->to_false[x]);
            }
            continue;
        }
        for (int k = 0; k < sel_rule_operands(node); k++) {
            need(b, node->operand[k], cost);
        }
    }
}

static void evaluate(sel_branches *b, const double *inputs) {
    for (int n = 0; n < b->graph->nodes; n++) {
        b->value[n] = value_of(b, n, inputs);
        find_distances(b, n);
    }
    find_costs(b);
    b->work += b->graph->nodes;
}

/* The node that decides: of a selection its condition. */
static int decider(const sel_branches *b, int n) {
    return node_of(b, n)->op == SEL_OP_SELECT ? node_of(b, n)->operand[0] : n;
}

/* What leads there comes first: what it is computed from may be changed by it. */
static double distance(const sel_branches *b, int n, bool side) {
    const int by = decider(b, n);
    return 16 * b->cost[n] + (side ? b->to_true[by] : b->to_false[by]);
}

void sel_branches_visit(sel_branches *b, const double *inputs) {
    evaluate(b, inputs);
    for (int n = 0; n < b->graph->nodes; n++) {
        if (b->wanted[n] && b->cost[n] == 0) {
            b->taken[n] |= b->value[decider(b, n)] != 0 ? TRUE_SIDE : FALSE_SIDE;
        }
    }
    if (b->visited < MOST_VISITED) {
        memcpy(b->visits + (size_t)b->visited++ * (size_t)b->inputs, inputs,
               (size_t)b->inputs * sizeof *inputs);
    }
}

/* ---- the search ---- */

typedef struct search {
    sel_branches *b;
    int node;
    bool side;
    double *at; /* [inputs] */
    double far;
    int64_t end; /* of the work */
} search;

static bool is_over(const search *s) {
    return s->far == 0 || s->b->work >= s->end;
}

/* A number as an input may have it. */
static double fit(const sel_branches *b, int k, double value) {
    const sel_rule_node *node = sel_branches_input(b, k);
    const sel_cell_type type =
        node->op == SEL_RULE_READ ? b->field[node->field].type : SEL_CELL_REAL;
    if (node->op == SEL_RULE_RANDOM) {
        return fmin(fmax(value, 0), 1 - 0x1p-32);
    }
    if (type == SEL_CELL_REAL) {
        return value;
    }
    return type == SEL_CELL_U8 ? fmin(fmax(floor(value), 0), UINT8_MAX)
                               : fmin(fmax(floor(value), INT32_MIN), INT32_MAX);
}

/* Keeps the value of input k where it brings the side nearer. */
static bool try_value(search *s, int k, double value) {
    const double before = s->at[k], other = fit(s->b, k, value);
    if (other == before || !isfinite(other)) {
        return false;
    }
    s->at[k] = other;
    evaluate(s->b, s->at);
    const double far = distance(s->b, s->node, s->side);
    if (far < s->far) {
        s->far = far;
        return true;
    }
    s->at[k] = before;
    return false;
}

/* Goes on in a direction as long as that helps, in steps that grow. */
static bool try_step(search *s, int k, double step) {
    bool helped = false;
    while (!is_over(s) && try_value(s, k, s->at[k] + step)) {
        helped = true;
        step *= 2;
    }
    return helped;
}

static bool change_input(search *s, int k, const double *value, int count) {
    const sel_rule_node *node = sel_branches_input(s->b, k);
    const bool whole = node->op == SEL_RULE_READ && s->b->field[node->field].type != SEL_CELL_REAL;
    const bool byte = whole && s->b->field[node->field].type == SEL_CELL_U8;
    bool helped = false;
    for (int i = 0; i < count && !is_over(s); i++) {
        helped = try_value(s, k, value[i]) || helped;
    }
    const double size = fmax(fabs(s->at[k]), 1e-12);
    double step = byte ? 64 : whole ? 0x1p29 : node->op == SEL_RULE_RANDOM ? 0.5 : 0x1p20;
    const double least = whole ? 1 : size * DBL_EPSILON / 2;
    while (step >= least && !is_over(s)) {
        const bool up = try_step(s, k, step), down = !up && try_step(s, k, -step);
        helped = helped || up || down;
        step /= up || down ? 2 : 8;
        step = whole && step > 0.1 && step < 1 ? 1 : step;
    }
    return helped;
}

/* Marks what the conditions of the side are computed from; all that leads there where that is not
 * reached. */
static void find_needs(const search *s) {
    const sel_branches *b = s->b;
    const bool reached = b->cost[s->node] == 0;
    for (int n = 0; n < b->graph->nodes; n++) {
        b->needs[n] = !reached;
    }
    b->needs[decider(b, s->node)] = true;
    for (int n = decider(b, s->node); n >= 0 && reached; n--) {
        const sel_rule_node *node = node_of(b, n);
        for (int k = 0; b->needs[n] && k < sel_rule_operands(node); k++) {
            b->needs[node->operand[k]] = true;
        }
    }
}

static void descend(search *s, const double *value, int count) {
    bool helped = true;
    while (helped && !is_over(s)) {
        helped = false;
        evaluate(s->b, s->at);
        find_needs(s);
        for (int k = 0; k < s->b->inputs && !is_over(s); k++) {
            if (s->b->needs[s->b->input[k]]) {
                helped = change_input(s, k, value, count) || helped;
            }
        }
    }
}

/* The nearest points visited: numbers of them, the nearest first. */
static int find_starts(search *s, int start[STARTS]) {
    sel_branches *b = s->b;
    double far[STARTS];
    int found = 0;
    for (int k = 0; k < b->visited && b->work < s->end; k++) {
        evaluate(b, b->visits + (size_t)k * (size_t)b->inputs);
        const double here = distance(b, s->node, s->side);
        int at = found < STARTS ? found++ : STARTS;
        for (; at > 0 && here < far[at - 1]; at--) {
            if (at < STARTS) {
                far[at] = far[at - 1];
                start[at] = start[at - 1];
            }
        }
        if (at < STARTS) {
            far[at] = here;
            start[at] = k;
        }
    }
    return found;
}

/* The next side that was not taken; -1: none. */
static int next_side(const sel_branches *b, int from) {
    for (int k = from; k < 2 * b->graph->nodes; k++) {
        const uint8_t side = k % 2 ? TRUE_SIDE : FALSE_SIDE;
        if (b->wanted[k / 2] & ~b->taken[k / 2] & side) {
            return k;
        }
    }
    return -1;
}

bool sel_branches_search(sel_branches *b, const double *value, int count, double *inputs,
                         bool *found) {
    const int which = next_side(b, b->next);
    int sides = 0, start[STARTS];
    *found = false;
    if (which < 0 || b->work >= MOST_WORK || b->inputs == 0 || b->visited == 0) {
        return false;
    }
    for (int k = which; k >= 0; k = next_side(b, k + 1)) {
        sides++;
    }
    b->next = which + 1;
    const int64_t share = (MOST_WORK - b->work) / sides;
    search s = {.b = b,
                .node = which / 2,
                .side = which % 2,
                .at = inputs,
                .end = b->work + (share > LEAST_SHARE ? share : LEAST_SHARE)};
    const int starts = find_starts(&s, start);
    for (int k = 0; k < starts && !*found && b->work < s.end; k++) {
        memcpy(inputs, b->visits + (size_t)start[k] * (size_t)b->inputs,
               (size_t)b->inputs * sizeof *inputs);
        evaluate(b, inputs);
        s.far = distance(b, s.node, s.side);
        descend(&s, value, count);
        *found = s.far == 0;
    }
    return true;
}

/* ---- texts ---- */

typedef struct words {
    const sel_branches *b;
    const char *const *control_names;
    char *text;
    size_t size, used;
} words;

static void say(words *w, const char *text) {
    const int more = snprintf(w->text + w->used, w->size - w->used, "%s", text);
    w->used += more > 0 && w->used + (size_t)more < w->size ? (size_t)more : 0;
}

static void say_number(words *w, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value) {
        snprintf(text, sizeof text, "%.17g", value);
    }
    say(w, text);
}

static void say_input(words *w, const sel_rule_node *node) {
    static const char *const names[] = {"x", "y", "z", "t"};
    char text[48];
    if (node->op == SEL_OP_ARGUMENT) {
        const int which = node->operand[0];
        say(w, which == SEL_ARGUMENT_DT       ? "dt"
               : which < SEL_ARGUMENT_CONTROL ? names[which]
                                              : w->control_names[which - SEL_ARGUMENT_CONTROL]);
        return;
    }
    if (node->at[0] || node->at[1] || node->at[2]) {
        if (node->at[2]) {
            snprintf(text, sizeof text, "c(%d, %d, %d).", node->at[0], node->at[1], node->at[2]);
        } else {
            snprintf(text, sizeof text, "c(%d, %d).", node->at[0], node->at[1]);
        }
        say(w, text);
    } else {
        say(w, "c.");
    }
    say(w, w->b->field[node->field].name);
}

static const char *infix_of(int op) {
    switch (op) {
    case SEL_OP_ADD:
        return "+";
    case SEL_OP_SUB:
        return "-";
    case SEL_OP_MUL:
        return "*";
    case SEL_OP_DIV:
        return "/";
    case SEL_OP_MOD:
        return "%";
    case SEL_OP_IDIV:
        return "//";
    case SEL_OP_POW:
        return "^";
    case SEL_OP_LT:
        return "<";
    case SEL_OP_LE:
        return "<=";
    case SEL_OP_EQ:
        return "==";
    case SEL_OP_AND:
        return "and";
    case SEL_OP_OR:
        return "or";
    default:
        return NULL;
    }
}

enum { DEEPEST = 4 };

static void say_node(words *w, int n, int depth) {
    const sel_rule_node *node = node_of(w->b, n);
    const char *infix = infix_of(node->op);
    if (node->op == SEL_OP_CONSTANT) {
        say_number(w, node->value);
    } else if (node->op == SEL_OP_ARGUMENT || node->op == SEL_RULE_READ) {
        say_input(w, node);
    } else if (node->op == SEL_OP_WHOLE) {
        say_node(w, node->operand[0], depth);
    } else if (depth == 0) {
        say(w, "...");
    } else if (infix) {
        say(w, depth == DEEPEST ? "" : "(");
        say_node(w, node->operand[0], depth - 1);
        say(w, " ");
        say(w, infix);
        say(w, " ");
        say_node(w, node->operand[1], depth - 1);
        say(w, depth == DEEPEST ? "" : ")");
    } else {
        char name[16] = "random";
        const char *given = node->op < SEL_OP_COUNT ? sel_op_texts[node->op].name : "";
        for (size_t k = 0; *given && k < sizeof name; k++) {
            name[k] = (char)(given[k] >= 'A' && given[k] <= 'Z' ? given[k] + 32 : given[k]);
        }
        say(w, node->op == SEL_OP_LOOKUP     ? node->lookup->name
               : node->op < SEL_OP_COUNT     ? name
               : node->op == SEL_RULE_RANDOM ? "sel.random"
                                             : "bits");
        say(w, "(");
        for (int k = 0; k < sel_rule_operands(node); k++) {
            say(w, k ? ", " : "");
            say_node(w, node->operand[k], depth - 1);
        }
        say(w, ")");
    }
}

void sel_branches_name(const sel_branches *b, int k, const char *const *control_names, char *text,
                       size_t size) {
    words w = {b, control_names, text, size, 0};
    *text = '\0';
    say_node(&w, b->input[k], DEEPEST);
}

bool sel_branches_untaken(const sel_branches *b, int *at, const char *const *control_names,
                          char *text, size_t size) {
    const int which = next_side(b, *at);
    words w = {b, control_names, text, size, 0};
    if (which < 0) {
        return false;
    }
    *at = which + 1;
    *text = '\0';
    say_node(&w, decider(b, which / 2), DEEPEST);
    say(&w, which % 2 ? " was never true" : " was never false");
    return true;
}
