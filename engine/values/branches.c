/* branches.c -- branch coverage of a function's graph: which sides of its conditions were taken,
 * and a search for inputs that take the others. */
#include "engine/values/branches.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MOST_WORK: the limit on evaluated nodes, some 50 ms; LEAST_SHARE: nodes per side at least. Work
 * is counted rather than timed, so that runs are reproducible. STARTS: visited inputs from which
 * one search starts. */
enum { MOST_WORK = 2000000, LEAST_SHARE = 20000, MOST_VISITED = 512, STARTS = 3 };

/* The distance from a side that no number takes, and the distance if a number is NaN. */
static const double never = 1e9, unknown = 1e4;

enum { FALSE_SIDE = 1, TRUE_SIDE = 2, BOTH = 3 };

struct sel_branches {
    const sel_rule *graph;
    const sel_cell_field *field;
    int inputs;
    int *input;                 /* [inputs]: their nodes */
    int *number;                /* by node: the index of an input */
    double *value;              /* by node: value in the latest evaluation */
    double *to_true, *to_false; /* by node: the distance of a condition from being true, false */
    double *cost;               /* by node: the distance from being needed by a result; 0: needed */
    uint8_t *taken, *wanted;    /* by node: sides, as a mask */
    bool *needs;                /* by node: the search changes this input */
    int visited;                /* inputs kept in `visits` */
    double *visits;             /* [MOST_VISITED][inputs] */
    int next;                   /* the next node and side to search for: 2 node + side */
    int64_t work;               /* nodes evaluated so far */
};

static const sel_rule_node *branch_node(const sel_branches *b, int n) {
    return &b->graph->node[n];
}

/* The sides that a node should take: those of comparisons, as far as bounds allow them, except
 * comparisons with 2^53, which the reader of functions adds for integers; and both sides of a
 * selection by a condition that is no comparison. */
static uint8_t branch_sides(const sel_branches *b, int n) {
    const sel_rule_node *node = branch_node(b, n);
    const sel_rule_node *x = branch_node(b, node->operand[0]),
                        *y = branch_node(b, node->operand[1]);
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
        const int op = branch_node(b, n)->op;
        b->wanted[n] = branch_sides(b, n);
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
    return branch_node(branches, branches->input[k]);
}

double sel_branches_value(const sel_branches *branches, int node) {
    return branches->value[node];
}

/* ---- values and distances ---- */

static int64_t to_integer(double value) {
    return fabs(value) < 0x1p63 ? (int64_t)value : 0;
}

/* The value of a draw of sel.random(k): that of an earlier draw of the same k, else its input. */
static double random_value(const sel_branches *b, int n, const double *inputs) {
    for (int k = 0; k < b->number[n]; k++) {
        const sel_rule_node *other = sel_branches_input(b, k);
        if (other->op == SEL_RULE_RANDOM &&
            b->value[other->operand[0]] == b->value[branch_node(b, n)->operand[0]]) {
            return b->value[b->input[k]];
        }
    }
    return inputs[b->number[n]];
}

static double branch_look_up(const sel_branches *b, const sel_rule_node *node) {
    double operand[SEL_LOOKUP_ARGUMENTS] = {0}, out;
    const double *arguments[SEL_LOOKUP_ARGUMENTS];
    for (int k = 0; k < SEL_LOOKUP_ARGUMENTS; k++) {
        operand[k] = k < node->lookup->arguments ? b->value[node->operand[k]] : 0;
        arguments[k] = &operand[k];
    }
    sel_lookup_values(node->lookup, 1, arguments, &out);
    return out;
}

static double branch_value(const sel_branches *b, int n, const double *inputs) {
    const sel_rule_node *node = branch_node(b, n);
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
        return branch_look_up(b, node);
    default:
        return node->op < SEL_OP_COUNT ? sel_program_value(node->op, v[node->operand[0]],
                                                           v[node->operand[1]], v[node->operand[2]])
                                       : sel_rule_bits(node->op, to_integer(v[node->operand[0]]),
                                                       to_integer(v[node->operand[1]]));
    }
}

/* The size of a difference on a logarithmic scale, so that large ones do not dominate a sum. */
static double scaled(double difference) {
    const double size = fabs(difference);
    return isnan(size) ? unknown : size <= DBL_MAX ? log1p(size) : unknown / 2;
}

static void branch_compare(sel_branches *b, int n) {
    const sel_rule_node *node = branch_node(b, n);
    const double x = b->value[node->operand[0]], y = b->value[node->operand[1]];
    const double far = scaled(x - y), step = DBL_MIN; /* step: for equal numbers, where far is 0 */
    const bool is = b->value[n] != 0;
    b->to_true[n] = is ? 0 : node->op == SEL_OP_LT ? far + step : far;
    b->to_false[n] = !is ? 0 : node->op == SEL_OP_LT ? far : node->op == SEL_OP_LE ? far + step : 1;
}

static void find_distances(sel_branches *b, int n) {
    const sel_rule_node *node = branch_node(b, n);
    const int x = node->operand[0], y = node->operand[1], z = node->operand[2];
    double *t = b->to_true, *f = b->to_false;
    switch (node->op) {
    case SEL_OP_LT:
    case SEL_OP_LE:
    case SEL_OP_EQ:
        branch_compare(b, n);
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

static void branch_need(sel_branches *b, int n, double cost) {
    b->cost[n] = fmin(b->cost[n], cost);
}

/* Sets `cost` of all nodes, from the results back to their operands. */
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
        const sel_rule_node *node = branch_node(b, n);
        const double cost = b->cost[n];
        const int x = node->operand[0], y = node->operand[1], z = node->operand[2];
        if (cost >= never) {
            continue;
        }
        if (node->op == SEL_OP_SELECT || node->op == SEL_OP_AND || node->op == SEL_OP_OR) {
            branch_need(b, x, cost);
            branch_need(b, y, cost + (node->op == SEL_OP_OR ? b->to_false[x] : b->to_true[x]));
            if (node->op == SEL_OP_SELECT) {
                branch_need(b, z, cost + b->to_false[x]);
            }
            continue;
        }
        for (int k = 0; k < sel_rule_operands(node); k++) {
            branch_need(b, node->operand[k], cost);
        }
    }
}

static void branch_evaluate(sel_branches *b, const double *inputs) {
    for (int n = 0; n < b->graph->nodes; n++) {
        b->value[n] = branch_value(b, n, inputs);
        find_distances(b, n);
    }
    find_costs(b);
    b->work += b->graph->nodes;
}

/* The node whose value decides which side is taken: the condition of a selection, else n itself. */
static int branch_decider(const sel_branches *b, int n) {
    return branch_node(b, n)->op == SEL_OP_SELECT ? branch_node(b, n)->operand[0] : n;
}

/* The distance of the latest inputs from a side. The conditions that lead to the node weigh more,
 * since its own operands may change when they do. */
static double branch_distance(const sel_branches *b, int n, bool side) {
    const int by = branch_decider(b, n);
    return 16 * b->cost[n] + (side ? b->to_true[by] : b->to_false[by]);
}

void sel_branches_visit(sel_branches *b, const double *inputs) {
    branch_evaluate(b, inputs);
    for (int n = 0; n < b->graph->nodes; n++) {
        if (b->wanted[n] && b->cost[n] == 0) {
            b->taken[n] |= b->value[branch_decider(b, n)] != 0 ? TRUE_SIDE : FALSE_SIDE;
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
    double *at;  /* [inputs]: the best ones so far */
    double far;  /* their distance */
    int64_t end; /* the search stops when `work` of b reaches it */
} search;

static bool is_over(const search *s) {
    return s->far == 0 || s->b->work >= s->end;
}

/* The number closest to `value` that input k can have. */
static double branch_fit(const sel_branches *b, int k, double value) {
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

/* Sets input k to `value` if that reduces the distance; returns whether it does. */
static bool try_value(search *s, int k, double value) {
    const double before = s->at[k], other = branch_fit(s->b, k, value);
    if (other == before || !isfinite(other)) {
        return false;
    }
    s->at[k] = other;
    branch_evaluate(s->b, s->at);
    const double far = branch_distance(s->b, s->node, s->side);
    if (far < s->far) {
        s->far = far;
        return true;
    }
    s->at[k] = before;
    return false;
}

/* Moves input k in steps that double, as long as the distance decreases. */
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

/* Marks the nodes that the condition is computed from; all nodes if the condition itself is not yet
 * reached. */
static void find_needs(const search *s) {
    const sel_branches *b = s->b;
    const bool reached = b->cost[s->node] == 0;
    for (int n = 0; n < b->graph->nodes; n++) {
        b->needs[n] = !reached;
    }
    b->needs[branch_decider(b, s->node)] = true;
    for (int n = branch_decider(b, s->node); n >= 0 && reached; n--) {
        const sel_rule_node *node = branch_node(b, n);
        for (int k = 0; b->needs[n] && k < sel_rule_operands(node); k++) {
            b->needs[node->operand[k]] = true;
        }
    }
}

static void descend(search *s, const double *value, int count) {
    bool helped = true;
    while (helped && !is_over(s)) {
        helped = false;
        branch_evaluate(s->b, s->at);
        find_needs(s);
        for (int k = 0; k < s->b->inputs && !is_over(s); k++) {
            if (s->b->needs[s->b->input[k]]) {
                helped = change_input(s, k, value, count) || helped;
            }
        }
    }
}

/* Finds the visited inputs closest to the side, the closest first; returns their count. */
static int find_starts(search *s, int start[STARTS]) {
    sel_branches *b = s->b;
    double far[STARTS];
    int found = 0;
    for (int k = 0; k < b->visited && b->work < s->end; k++) {
        branch_evaluate(b, b->visits + (size_t)k * (size_t)b->inputs);
        const double here = branch_distance(b, s->node, s->side);
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

/* The next side from `from` on that was not taken, as 2 node + side; -1: none. */
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
        branch_evaluate(b, inputs);
        s.far = branch_distance(b, s.node, s.side);
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
    const sel_rule_node *node = branch_node(w->b, n);
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
    say_node(&w, branch_decider(b, which / 2), DEEPEST);
    say(&w, which % 2 ? " was never true" : " was never false");
    return true;
}
