/* program_build.c -- build a program: share and fold operations, drop what is not needed, assign
 * registers.
 *
 * Nodes are numbered in the order in which they are made, so operands come before what uses them
 * and the list, stage by stage, is a schedule. Registers that no later instruction reads are
 * reused, except those that one stage leaves to a later one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/rule.h"

enum { MAX_REGISTERS = 4096 };

typedef sel_rule_node node;

struct sel_builder {
    node *nodes; /* [limit] */
    int count, limit;
    int *buckets; /* node + 1 by hash; a power of two of them */
    int bucket_count;
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

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* By bits: 0 and -0 differ, a NaN is itself. */
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

/* What is known of a node's value by its operation alone. */
static void note_whole(sel_builder *b, int at) {
    node *n = &b->nodes[at];
    const node *second = &b->nodes[n->operand[1]], *third = &b->nodes[n->operand[2]];
    n->low = (double)-INFINITY;
    n->high = (double)INFINITY;
    if (n->op >= SEL_OP_LT && n->op <= SEL_OP_OR) {
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
    n->whole = true;
    n->low = fmax(n->low, low);
    n->high = fmin(n->high, high);
}

/* The node equal to *n, made when there is none. */
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
    n.depends = argument < SEL_ARGUMENT_CONTROL ? 1u << argument : (unsigned)SEL_ON_CONTROLS;
    return intern(builder, &n);
}

int sel_build_lookup(sel_builder *builder, const sel_lookup *lookup, const int *arguments) {
    node n = {.op = SEL_OP_LOOKUP, .lookup = lookup};
    memcpy(n.operand, arguments, (size_t)lookup->arguments * sizeof *arguments);
    return intern(builder, &n);
}

int sel_build_read(sel_builder *builder, int field, const int at[3]) {
    node n = {.op = SEL_RULE_READ, .field = field};
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

/* An operand that equals the operation's value whatever the others are, or -1. Conditions, of AND
 * and OR, are 0 or 1. */
static int shortcut(const sel_builder *b, const node *n) {
    const int first = n->operand[0], second = n->operand[1];
    double one = 0, other = 0;
    const bool known = sel_builder_constant(b, first, &one);
    const bool other_known = sel_builder_constant(b, second, &other);
    switch (n->op) {
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
        return second == n->operand[2] ? second : -1;
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

int sel_build(sel_builder *builder, int op, int a, int b, int c) {
    node n = {.op = op, .operand = {a, b, c}};
    n.depends = op == SEL_RULE_DT ? SEL_ON_DT : op == SEL_RULE_RANDOM ? SEL_ON_STEP : 0;
    double value[3] = {0};
    int operands = sel_rule_operands(&n), constants = 0;
    int same = shortcut(builder, &n);
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

/* When a node is computed, by what it depends on. */
typedef enum stage { ONCE, OF_X, OF_YZ, OF_ALL, STAGES } stage;

/* Registers that stages may leave to later ones; where more were needed, all that depends on the
 * place is computed in one stage. */
enum { MOST_KEPT = 32 };

/* A node while it is laid out. */
typedef struct slot {
    bool needed;
    bool kept;    /* of x, or of y and z, and read in a later stage */
    int last_use; /* place in the schedule of its last use; results: after all */
    int place;    /* register */
} slot;

typedef struct layout {
    const sel_builder *b;
    sel_program *p;
    bool one_stage; /* for all that depends on the place */
    slot *at;       /* of each node */
    int *order;     /* nodes that are computed, stage by stage */
    int ordered;
    int *freed; /* stack of registers to use again */
    int freed_count;
} layout;

static bool once_per_call(const node *n) {
    return (n->depends & SEL_ON_PLACE) == 0;
}

static stage stage_of(const layout *l, const node *n) {
    if (once_per_call(n)) {
        return ONCE;
    }
    const unsigned place = n->depends & SEL_ON_PLACE;
    return l->one_stage ? OF_ALL : place == SEL_ON_X ? OF_X : place & SEL_ON_X ? OF_ALL : OF_YZ;
}

static bool is_input(const node *n) {
    return n->op == SEL_OP_CONSTANT || n->op == SEL_OP_ARGUMENT;
}

/* The place of a node in the schedule. */
static int time_of(const layout *l, int at) {
    return (int)stage_of(l, &l->b->nodes[at]) * l->b->count + at;
}

/* `at` is read at `when` in stage `by`. */
static void mark_use(layout *l, int at, int when, stage by) {
    const node *n = &l->b->nodes[at];
    l->at[at].needed = true;
    l->at[at].last_use = when > l->at[at].last_use ? when : l->at[at].last_use;
    l->at[at].kept = l->at[at].kept || (!is_input(n) && !once_per_call(n) && stage_of(l, n) != by);
}

/* Returns the number of nodes that stages leave to later ones. */
static int mark_needed(layout *l, const int *results, int count, int exact) {
    const int behind = STAGES * l->b->count;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        mark_use(l, results[i], behind, OF_ALL);
    }
    mark_use(l, exact, behind, OF_ALL);
    for (int i = l->b->count - 1; i >= 0; i--) {
        const node *n = &l->b->nodes[i];
        for (int k = 0; l->at[i].needed && k < sel_rule_operands(n); k++) {
            mark_use(l, n->operand[k], time_of(l, i), stage_of(l, n));
        }
        kept += l->at[i].kept;
    }
    return kept;
}

/* Lists what is computed, stage by stage, counts it, and gives fixed registers to all that keeps
 * its value from place to place. */
static void order_nodes(layout *l) {
    sel_program *p = l->p;
    int before[STAGES + 1] = {0};
    for (int i = 0; i < l->b->count; i++) {
        const node *n = &l->b->nodes[i];
        if (l->at[i].needed) {
            p->depends |= n->depends;
            p->layout.inputs += is_input(n) && once_per_call(n);
            p->layout.coordinates += is_input(n) && !once_per_call(n);
            p->calls += n->op == SEL_OP_LOOKUP;
            l->at[i].place = once_per_call(n) ? p->layout.fixed++ : 0;
        }
    }
    for (stage which = ONCE; which < STAGES; which++) {
        for (int i = 0; i < l->b->count; i++) {
            const node *n = &l->b->nodes[i];
            if (l->at[i].needed && !is_input(n) && stage_of(l, n) == which) {
                l->order[l->ordered++] = i;
            }
        }
        before[which + 1] = l->ordered;
    }
    p->layout.once = before[OF_X];
    p->layout.of_x = before[OF_YZ] - before[OF_X];
    p->layout.of_yz = before[OF_ALL] - before[OF_YZ];
    p->layout.each = before[STAGES] - before[OF_X];
    p->registers = p->layout.fixed;
}

/* Gives separate registers to what a stage leaves to a later one; returns their number. */
static int place_kept(layout *l, stage which) {
    const int before = l->p->registers;
    for (int i = 0; i < l->b->count; i++) {
        if (l->at[i].kept && stage_of(l, &l->b->nodes[i]) == which) {
            l->at[i].place = l->p->registers++;
        }
    }
    return l->p->registers - before;
}

/* Frees the registers of operands that are read here for the last time, but not for this
 * instruction itself: loops that write where they read are not vectorised. */
static void free_operands(layout *l, int at) {
    const node *n = &l->b->nodes[at];
    for (int k = 0; k < sel_rule_operands(n); k++) {
        int operand = n->operand[k];
        bool again = false;
        for (int j = 0; j < k; j++) {
            again = again || n->operand[j] == operand;
        }
        if (!again && l->at[operand].last_use == time_of(l, at) && !l->at[operand].kept &&
            !once_per_call(&l->b->nodes[operand])) {
            l->freed[l->freed_count++] = l->at[operand].place;
        }
    }
}

/* Coordinates are all filled first, so they cannot share registers with other values. */
static void place_coordinates(layout *l) {
    for (int i = 0; i < l->b->count; i++) {
        const node *n = &l->b->nodes[i];
        if (l->at[i].needed && !once_per_call(n) && n->op == SEL_OP_ARGUMENT) {
            l->at[i].place = l->p->registers++;
        }
    }
}

static void place_ordered(layout *l) {
    for (int k = l->p->layout.once; k < l->ordered; k++) {
        slot *s = &l->at[l->order[k]];
        if (!s->kept) {
            s->place = l->freed_count ? l->freed[--l->freed_count] : l->p->registers++;
        }
        free_operands(l, l->order[k]);
    }
}

static bool allocate(sel_program *p, sel_arena *arena) {
    const sel_packed_program *l = &p->layout;
    p->input = sel_arena_alloc(arena, (size_t)(l->inputs + l->coordinates) * sizeof *p->input);
    p->code = sel_arena_alloc(arena, (size_t)(l->once + l->each) * sizeof *p->code);
    p->call = sel_arena_alloc(arena, (size_t)p->calls * sizeof *p->call);
    return p->input && p->code && p->call;
}

static void emit_inputs(layout *l) {
    sel_packed_input *input = l->p->input, *coordinate = input + l->p->layout.inputs;
    for (int i = 0; i < l->b->count; i++) {
        const node *n = &l->b->nodes[i];
        if (l->at[i].needed && is_input(n)) {
            *(once_per_call(n) ? input++ : coordinate++) = (sel_packed_input){
                .to = l->at[i].place,
                .argument = n->op == SEL_OP_CONSTANT ? SEL_NO_ARGUMENT : n->operand[0],
                .value = n->value,
            };
        }
    }
}

static void emit(layout *l) {
    sel_program_call *call = l->p->call;
    for (int i = 0; i < l->ordered; i++) {
        const node *n = &l->b->nodes[l->order[i]];
        uint16_t operand[1 + SEL_LOOKUP_ARGUMENTS] = {(uint16_t)l->at[l->order[i]].place};
        for (int k = 0; k < sel_rule_operands(n); k++) {
            operand[1 + k] = (uint16_t)l->at[n->operand[k]].place;
        }
        if (n->op == SEL_OP_LOOKUP) {
            memcpy(call->arguments, operand + 1, sizeof call->arguments);
            memset(operand + 1, 0, sizeof call->arguments);
            operand[1] = (uint16_t)(call - l->p->call);
            call++->lookup = n->lookup;
        }
        l->p->code[i] = (uint64_t)n->op;
        for (int k = 0; k < 4; k++) {
            l->p->code[i] |= (uint64_t)operand[k] << (SEL_PACKED_OP_BITS + k * SEL_PACKED_BITS);
        }
    }
}

static bool lay_out(layout *l, const int *results, int count, int exact, sel_arena *arena) {
    sel_program *p = l->p;
    double sure;
    if (mark_needed(l, results, count, exact) > MOST_KEPT) {
        l->one_stage = true;
        for (int i = 0; i < l->b->count; i++) {
            l->at[i].kept = false;
        }
        mark_needed(l, results, count, exact);
    }
    order_nodes(l);
    p->layout.per_row = place_kept(l, OF_YZ);
    place_kept(l, OF_X);
    place_coordinates(l);
    place_ordered(l);
    if (p->registers > MAX_REGISTERS || !allocate(p, arena)) {
        return false;
    }
    emit_inputs(l);
    emit(l);
    p->results = count;
    for (int i = 0; i < SEL_PROGRAM_RESULTS; i++) {
        p->layout.result[i] = l->at[results[i < count ? i : 0]].place;
    }
    p->layout.own = p->registers - p->layout.fixed;
    p->layout.has_exact = !(sel_builder_constant(l->b, exact, &sure) && sure != 0);
    p->layout.exact = l->at[exact].place;
    return true;
}

const sel_program *sel_builder_finish(const sel_builder *builder, const int *results, int count,
                                      int exact, sel_arena *arena) {
    size_t nodes = (size_t)builder->count;
    layout l = {
        .b = builder,
        .p = sel_arena_alloc(arena, sizeof *l.p),
        .at = calloc(nodes, sizeof *l.at),
        .order = calloc(nodes, sizeof *l.order),
        .freed = calloc(nodes, sizeof *l.freed),
    };
    bool done = l.p && l.at && l.order && l.freed && lay_out(&l, results, count, exact, arena);
    free(l.at);
    free(l.order);
    free(l.freed);
    return done ? l.p : NULL;
}
