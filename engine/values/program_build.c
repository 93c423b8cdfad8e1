/* program_build.c -- builds the graph of a function: shares equal nodes, folds constants, leaves
 * out what no output needs.
 *
 * Nodes are numbered in the order of their creation, so operands have lower numbers than their
 * users.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/rule.h"

typedef sel_rule_node node;

struct sel_builder {
    node *nodes; /* [limit] */
    int count, limit;
    int *buckets;     /* a hash table with linear probing: node + 1; 0: empty */
    int bucket_count; /* a power of two */
};

sel_builder *sel_builder_create(int limit) {
    sel_builder *b = calloc(1, sizeof *b);
    if (!b) {
        return NULL;
    }
    b->limit = limit;
    b->bucket_count = 256;
    while (b->bucket_count < 2 * limit) {
        b->bucket_count *= 2;
    }
    b->nodes = malloc((size_t)limit * sizeof *b->nodes);
    b->buckets = calloc((size_t)b->bucket_count, sizeof *b->buckets);
    if (!b->nodes || !b->buckets) {
        sel_builder_destroy(b);
        return NULL;
    }
    return b;
}

void sel_builder_destroy(sel_builder *builder) {
    if (builder) {
        free(builder->nodes);
        free(builder->buckets);
        free(builder);
    }
}

int sel_builder_count(const sel_builder *builder) {
    return builder->count;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Whether two nodes are equal. Constants are compared by bits: 0 and -0 differ, a NaN equals
 * itself. */
static bool same_node(const node *a, const node *b) {
    return a->op == b->op && a->lookup == b->lookup && bits_of(a->value) == bits_of(b->value) &&
           memcmp(a->operand, b->operand, sizeof a->operand) == 0 && a->field == b->field &&
           memcmp(a->at, b->at, sizeof a->at) == 0;
}

static uint64_t hash_node(const node *n) {
    uint64_t hash = (uint64_t)n->op ^ bits_of(n->value);
    hash ^= (uint64_t)(unsigned)n->field << 24 ^ (uint64_t)(n->at[0] * 25 + n->at[1] * 5 + n->at[2])
                                                     << 8;
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ (uint64_t)(unsigned)n->operand[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Sets whether a node is an integer, and its bounds, as far as its operation tells. */
static void note_whole(sel_builder *b, int at) {
    node *n = &b->nodes[at];
    const node *second = &b->nodes[n->operand[1]], *third = &b->nodes[n->operand[2]];
    n->low = (double)-INFINITY;
    n->high = (double)INFINITY;
    if (sel_op_is_condition(n->op)) {
        sel_builder_bounds(b, at, 0, 1);
    } else if (n->op == SEL_OP_CONSTANT && n->value == floor(n->value) && fabs(n->value) < 0x1p53 &&
               !(n->value == 0 && signbit(n->value))) {
        sel_builder_bounds(b, at, n->value, n->value);
    } else if (n->op == SEL_OP_SELECT && second->whole && third->whole) {
        sel_builder_bounds(b, at, fmin(second->low, third->low), fmax(second->high, third->high));
    }
}

void sel_builder_bounds(sel_builder *builder, int at, double low, double high) {
    node *n = &builder->nodes[at];
    const node *a = &builder->nodes[n->operand[0]], *b = &builder->nodes[n->operand[1]];
    n->whole = true;
    n->low = fmax(n->low, low);
    n->high = fmin(n->high, high);
    if (n->op == SEL_OP_ADD && a->whole && b->whole) { /* tighter if terms were cancelled */
        n->low = fmax(n->low, a->low + b->low);
        n->high = fmin(n->high, a->high + b->high);
    }
}

/* The node equal to *n, which is added if there is none; -1: the limit is reached. */
static int intern(sel_builder *b, node *n) {
    size_t mask = (size_t)b->bucket_count - 1, at = (size_t)hash_node(n) & mask;
    for (; b->buckets[at]; at = (at + 1) & mask) {
        if (same_node(&b->nodes[b->buckets[at] - 1], n)) {
            return b->buckets[at] - 1;
        }
    }
    if (b->count >= b->limit) {
        return -1;
    }
    for (int i = 0; i < sel_rule_operands(n); i++) {
        n->depends |= b->nodes[n->operand[i]].depends;
    }
    b->nodes[b->count] = *n;
    note_whole(b, b->count);
    b->buckets[at] = ++b->count;
    return b->count - 1;
}

int sel_build_constant(sel_builder *builder, double value) {
    node n = {.op = SEL_OP_CONSTANT, .value = value};
    return intern(builder, &n);
}

int sel_build_argument(sel_builder *builder, int argument) {
    node n = {.op = SEL_OP_ARGUMENT, .operand = {argument}};
    n.depends = argument == SEL_ARGUMENT_DT       ? (unsigned)SEL_ON_DT
                : argument < SEL_ARGUMENT_CONTROL ? 1u << argument
                                                  : (unsigned)SEL_ON_CONTROLS;
    return intern(builder, &n);
}

int sel_build_lookup(sel_builder *builder, const sel_lookup *lookup, const int *arguments) {
    node n = {.op = SEL_OP_LOOKUP, .lookup = lookup};
    memcpy(n.operand, arguments, (size_t)lookup->arguments * sizeof *arguments);
    return intern(builder, &n);
}

int sel_build_read(sel_builder *builder, int field, const int at[3]) {
    node n = {.op = SEL_RULE_READ, .field = field, .depends = SEL_ON_CELL};
    for (int axis = 0; axis < 3; axis++) {
        n.at[axis] = (int8_t)at[axis];
    }
    return intern(builder, &n);
}

const sel_rule_node *sel_builder_node(const sel_builder *builder, int at) {
    return &builder->nodes[at];
}

bool sel_builder_constant(const sel_builder *builder, int at, double *value) {
    *value = builder->nodes[at].value;
    return builder->nodes[at].op == SEL_OP_CONSTANT;
}

/* Whether a selection is `condition ? 1 : 0`, which equals its condition. */
static bool selects_its_condition(const sel_builder *b, const node *select) {
    const int op = b->nodes[select->operand[0]].op;
    double then = 0, otherwise = 0;
    return sel_op_is_condition(op) && sel_builder_constant(b, select->operand[1], &then) &&
           then == 1 && sel_builder_constant(b, select->operand[2], &otherwise) && otherwise == 0 &&
           !signbit(otherwise);
}

/* The operand that equals the result of the operation, as x in x * 1 or in `true and x`; -1: none.
 * Operands of AND and OR are 0 or 1. */
static int shortcut(const sel_builder *b, const node *n) {
    const int first = n->operand[0], second = n->operand[1];
    double one = 0, other = 0;
    const bool known = sel_builder_constant(b, first, &one);
    const bool other_known = sel_builder_constant(b, second, &other);
    switch (n->op) {
    case SEL_OP_ADD:
        return known && one == 0 && b->nodes[second].whole          ? second
               : other_known && other == 0 && b->nodes[first].whole ? first
                                                                    : -1;
    case SEL_OP_MUL:
        if (known && one == 1) {
            return second;
        }
        return other_known && other == 1 ? first : -1;
    case SEL_OP_DIV:
        return other_known && other == 1 ? first : -1;
    case SEL_OP_SELECT:
        if (known) {
            return one != 0 ? second : n->operand[2];
        }
        return second == n->operand[2] ? second : selects_its_condition(b, n) ? first : -1;
    case SEL_OP_AND:
    case SEL_OP_OR: {
        const bool either = n->op == SEL_OP_OR;
        if (known) {
            return (one != 0) == either ? first : second;
        }
        if (other_known) {
            return (other != 0) == either ? second : first;
        }
        return first == second ? first : -1;
    }
    default:
        return -1;
    }
}

/* Whether node `at` is the integer `term`; or, if `negative`, -term (with -0 turned into 0). */
static bool is_term(const sel_builder *b, int at, int term, bool negative) {
    const node *n = &b->nodes[at];
    const node *minus = n->op == SEL_OP_WHOLE ? &b->nodes[n->operand[0]] : n;
    return n->whole && b->nodes[term].whole &&
           (negative ? minus->op == SEL_OP_UNM && minus->operand[0] == term : at == term);
}

/* A sum of integers without one of its terms, or without -term if `negative`; -1: it has no such
 * term. The order of terms may change since sums below 2^52 are exact. */
static int sum_without(sel_builder *b, int sum, int term, bool negative) {
    const node n = b->nodes[sum];
    const int last = n.operand[1];
    if (is_term(b, sum, term, negative)) {
        return sel_build_constant(b, 0);
    }
    if (n.op != SEL_OP_ADD || !n.whole || !(fmax(-n.low, n.high) < 0x1p52)) {
        return -1;
    }
    if (is_term(b, last, term, negative)) {
        return n.operand[0];
    }
    const int rest = sum_without(b, n.operand[0], term, negative);
    const int to = rest < 0 ? -1 : sel_build(b, SEL_OP_ADD, rest, last, 0);
    if (to >= 0) {
        sel_builder_bounds(b, to, (double)-INFINITY, (double)INFINITY); /* by its terms alone */
    }
    return to;
}

int sel_build(sel_builder *builder, int op, int a, int b, int c) {
    node n = {.op = op, .operand = {a, b, c}};
    n.depends = op == SEL_RULE_RANDOM ? SEL_ON_STEP : 0;
    double value[3] = {0};
    int operands = sel_rule_operands(&n), constants = 0;
    int same = shortcut(builder, &n);
    if (same < 0 && (op == SEL_OP_ADD || op == SEL_OP_SUB)) {
        same = sum_without(builder, a, b, op == SEL_OP_ADD);
    }
    if (same >= 0) {
        return same;
    }
    for (int i = 0; i < operands; i++) {
        constants += sel_builder_constant(builder, n.operand[i], &value[i]);
    }
    if (op < SEL_OP_COUNT && constants == operands) {
        return sel_build_constant(builder, sel_program_value(op, value[0], value[1], value[2]));
    }
    return intern(builder, &n);
}

/* ---- the nodes that outputs need, as a rule ---- */

/* Marks the node `at` and all that it is computed from. */
static void mark(const sel_builder *builder, int at, bool *needed) {
    needed[at] = true;
    for (int i = at; i >= 0; i--) {
        const node *n = sel_builder_node(builder, i);
        for (int k = 0; needed[i] && k < sel_rule_operands(n); k++) {
            needed[n->operand[k]] = true;
        }
    }
}

static void note_reach(sel_rule *rule, const node *n) {
    for (int axis = 0; axis < 3; axis++) {
        const int far = abs(n->at[axis]);
        rule->reach[axis] = far > rule->reach[axis] ? far : rule->reach[axis];
    }
}

/* Copies the needed nodes into the rule; place[]: by node, its new number. */
static void copy_nodes(const sel_builder *builder, const bool *needed, int last, int *place,
                       sel_rule *rule, node *to) {
    for (int i = 0; i <= last; i++) {
        if (needed[i]) {
            node *n = &to[rule->nodes];
            *n = *sel_builder_node(builder, i);
            const int operands = sel_rule_operands(n);
            for (int k = 0; k < SEL_LOOKUP_ARGUMENTS; k++) { /* operand[0] of ARGUMENT stays */
                n->operand[k] = k < operands ? place[n->operand[k]] : k > 0 ? 0 : n->operand[k];
            }
            rule->depends |= n->depends;
            note_reach(rule, n);
            place[i] = rule->nodes++;
        }
    }
}

sel_rule *sel_builder_rule(const sel_builder *builder, const sel_rule_output *output, int outputs,
                           int fails, sel_arena *arena) {
    double known;
    const bool never = fails >= 0 && sel_builder_constant(builder, fails, &known) && known == 0;
    fails = never ? -1 : fails;
    int last = fails > 0 ? fails : 0, count = 0;
    for (int i = 0; i < outputs; i++) {
        last = output[i].node > last ? output[i].node : last;
    }
    bool *needed = calloc((size_t)last + 1, sizeof *needed);
    int *place = malloc(((size_t)last + 1) * sizeof *place);
    for (int i = 0; needed && i < outputs; i++) {
        mark(builder, output[i].node, needed);
    }
    if (needed && fails >= 0) {
        mark(builder, fails, needed);
    }
    for (int i = 0; needed && i <= last; i++) {
        count += needed[i];
    }
    sel_rule *rule = sel_arena_alloc(arena, sizeof *rule);
    node *copy = sel_arena_alloc(arena, (size_t)count * sizeof *copy);
    sel_rule_output *to = sel_arena_alloc(arena, ((size_t)outputs + 1) * sizeof *to);
    const bool enough = needed && place && rule && copy && to;
    if (enough) {
        copy_nodes(builder, needed, last, place, rule, copy);
        for (int i = 0; i < outputs; i++) {
            to[i] = (sel_rule_output){output[i].field, place[output[i].node]};
        }
        rule->node = copy;
        rule->output = to;
        rule->outputs = outputs;
        rule->fails = fails >= 0 ? place[fails] : -1;
    }
    free(needed);
    free(place);
    return enough ? rule : NULL;
}

const sel_program *sel_builder_finish(const sel_builder *builder, const int *results, int count,
                                      int fails, sel_arena *arena) {
    static const sel_program_form form = {.numbers = true, .stages = true};
    sel_rule_output output[SEL_PROGRAM_RESULTS];
    sel_arena *scratch = sel_arena_create();
    for (int k = 0; k < count; k++) {
        output[k] = (sel_rule_output){k, results[k]};
    }
    const sel_rule *rule =
        scratch ? sel_builder_rule(builder, output, count, fails, scratch) : NULL;
    const sel_program *program = rule ? sel_program_compile(rule, &form, arena) : NULL;
    sel_arena_destroy(scratch);
    return program;
}
