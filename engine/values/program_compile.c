/* program_compile.c -- compiles the graph of a function into instructions.
 *
 *     graph -> drafts (typed instructions without slots) -> stages -> chains -> slots -> program
 *
 * Types: program_types.h.
 *
 * Stages. Instructions of functions of place are ordered: those that depend on x alone, on y and z
 * alone, on both.
 *
 * Chains. A sum or product whose value only the next sum or product needs stands directly before it
 * ("linked"), as the printers expect.
 *
 * Slots. Registers are shared by values that are not needed at the same time, so that all slots
 * stay in the first-level cache.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/program_types.h"

enum { NO_SLOT = -1, TYPES = 3, MOST_SLOTS = 1 << 14, MOST_LINKS = 64 };

/* The numbers of values before they have slots: READ + k for the k-th value read from a cell,
 * REGISTER + k for the result of the k-th draft. */
enum { READ = 0, REGISTER = 1 << 20 };

typedef enum stage { ONCE, OF_X, OF_YZ, OF_ALL, STAGES } stage;

/* The most registers for values that stages leave to later ones. A program that needs more is
 * compiled without stages. */
enum { MOST_KEPT = 32 };

/* An instruction, or an input, whose values have no slots yet. */
typedef struct draft {
    sel_instruction v;                  /* without `to` and `from` */
    int node;                           /* the node that it computes */
    int to, from[SEL_LOOKUP_ARGUMENTS]; /* values: READ + k, REGISTER + k */
    int before;                         /* the draft before it in its chain; -1: none */
    int length;                         /* of the chain up to here */
    uint8_t stage;
    uint8_t side;  /* the operand that is the value of `before` */
    bool absorbed; /* another draft follows it in its chain */
} draft;

typedef struct compiler {
    const sel_rule *rule;
    const sel_program_form *form;
    sel_arena *arena, *scratch;
    sel_types types;
    sel_program *p;     /* the result */
    bool stages;        /* orders instructions by stages */
    int node;           /* the node that is being compiled */
    bool *used;         /* by node: a result needs it */
    int (*slot)[TYPES]; /* by node and type: its value, or NO_SLOT */
    draft *d;           /* the drafts, */
    int count;          /* and their number */
    int *uses, *last; /* by value of a draft: the number of its uses, and the last draft using it */
    int *place;       /* by value of a draft: its slot */
    /* Tables of the program. */
    sel_uniform *uniform;
    sel_read *read;
    sel_packed_lookup *lookup;
    sel_program_output *output;
} compiler;

static const sel_rule_node *compile_node_at(const compiler *c, int n) {
    return &c->rule->node[n];
}

static stage stage_of(const compiler *c, int n) {
    const unsigned place = compile_node_at(c, n)->depends & SEL_ON_PLACE;
    return sel_is_uniform(c->rule, n) ? ONCE
           : !c->stages               ? OF_ALL
           : place == SEL_ON_X        ? OF_X
           : place & SEL_ON_X         ? OF_ALL
                                      : OF_YZ;
}

/* ---- drafts ---- */

/* Adds a draft for the present node; returns its value. */
static int emit(compiler *c, int op, sel_number type, int operands, const int *from) {
    draft *d = &c->d[c->count];
    *d = (draft){.v = {.op = (uint8_t)op, .type = (uint8_t)type, .operands = (uint8_t)operands},
                 .node = c->node,
                 .to = REGISTER + c->count++,
                 .before = -1,
                 .stage = (uint8_t)stage_of(c, c->node)};
    memcpy(d->from, from, (size_t)operands * sizeof *from);
    return d->to;
}

/* Adds a draft with its `number`: CONVERT, SHIFT or MASK of the value `from`, or CONSTANT. */
static int emit_with(compiler *c, int op, sel_number type, int from, int64_t number) {
    const int to = emit(c, op, type, op >= SEL_OP_CONVERT, &from);
    c->d[c->count - 1].v.number = number;
    return to;
}

/* The value of a node in a type, converted if necessary. Uniform values are computed in double. */
static int value_in(compiler *c, int n, sel_number type) {
    int *slot = &c->slot[n][type];
    if (*slot == NO_SLOT) {
        const sel_number from = stage_of(c, n) == ONCE ? SEL_NUMBER_D : sel_type_of(&c->types, n);
        const bool constant = compile_node_at(c, n)->op == SEL_OP_CONSTANT;
        const int outer = c->node;
        c->node = n;
        *slot = emit_with(c, constant ? SEL_OP_CONSTANT : SEL_OP_CONVERT, type,
                          constant ? 0 : c->slot[n][from], (int)from);
        c->node = outer;
    }
    return *slot;
}

/* Compiles a quotient or remainder by a power of two as a shift or a mask. False: it is none. */
static bool by_power_of_two(compiler *c, const sel_rule_node *node, sel_number type, int *slot) {
    const sel_rule_node *by = compile_node_at(c, node->operand[1]);
    const double value = by->value;
    int exponent;
    if (type != SEL_NUMBER_I || by->op != SEL_OP_CONSTANT || !(value >= 1 && value <= 0x1p30) ||
        frexp(value, &exponent) != 0.5 || (node->op != SEL_OP_IDIV && node->op != SEL_OP_MOD)) {
        return false;
    }
    const bool divides = node->op == SEL_OP_IDIV;
    *slot = emit_with(c, divides ? SEL_OP_SHIFT : SEL_OP_MASK, SEL_NUMBER_I,
                      value_in(c, node->operand[0], SEL_NUMBER_I),
                      divides ? exponent - 1 : (1 << (exponent - 1)) - 1);
    return true;
}

/* sel_packed_lookup.call */
static double compile_look_up(const void *lookup, const double *at) {
    const double *const arguments[SEL_LOOKUP_ARGUMENTS] = {at, at + 1, at + 2, at + 3};
    double value;
    sel_lookup_values(lookup, 1, arguments, &value);
    return value;
}

/* The index of a lookup in the program, which is added if it is new. */
static int lookup_number(compiler *c, const sel_lookup *lookup) {
    int which = 0, *count = &c->p->layout.lookups;
    while (which < *count && c->lookup[which].host != lookup) {
        which++;
    }
    *count += which == *count;
    c->lookup[which] =
        (sel_packed_lookup){.kind = lookup->kind, .host = lookup, .call = compile_look_up};
    return which;
}

/* Compiles the operation of a node in `type`, with its operands converted; returns its value. */
static int compile_operation(compiler *c, const sel_rule_node *node, sel_number type) {
    const int count = sel_rule_operands(node), op = node->op;
    const bool logic = op == SEL_OP_NOT || op == SEL_OP_AND || op == SEL_OP_OR;
    const bool once = stage_of(c, c->node) == ONCE;
    int operand[SEL_LOOKUP_ARGUMENTS] = {0}, slot;
    if (!once && by_power_of_two(c, node, type, &slot)) {
        return slot;
    }
    for (int k = 0; k < count; k++) {
        const bool condition = logic || (op == SEL_OP_SELECT && k == 0);
        const bool wide = once || op == SEL_RULE_RANDOM || op == SEL_OP_LOOKUP;
        operand[k] = value_in(c, node->operand[k],
                              wide        ? SEL_NUMBER_D
                              : condition ? SEL_NUMBER_I
                                          : type);
    }
    const bool square = op == SEL_OP_POW &&
                        compile_node_at(c, node->operand[1])->op == SEL_OP_CONSTANT &&
                        compile_node_at(c, node->operand[1])->value == 2;
    operand[1] = square ? operand[0] : operand[1];
    slot = emit(c, square ? SEL_OP_MUL : op, type, count, operand);
    c->d[c->count - 1].v.number = op == SEL_OP_LOOKUP     ? lookup_number(c, node->lookup)
                                  : op == SEL_RULE_RANDOM ? c->form->single
                                  : op == SEL_OP_ARGUMENT ? node->operand[0]
                                                          : 0;
    return slot;
}

/* The operation on integers whose value node n is, to be computed in the type of integers; -1: it
 * is none. */
static int integers_of(const compiler *c, int n) {
    return stage_of(c, n) == ONCE ? -1 : sel_rule_of_integers(c->rule->node, n);
}

/* Compiles the operation `of` on integers, without the -0 that doubles may give. */
static int compile_integers(compiler *c, int n, int of) {
    const sel_rule_node *node = compile_node_at(c, of);
    const sel_number type = sel_type_of(&c->types, n);
    sel_number in = type;
    for (int k = 0; k < sel_rule_operands(node); k++) {
        in = sel_common_type(in, sel_type_of(&c->types, node->operand[k]));
    }
    const int slot = compile_operation(c, node, in);
    return in != type             ? emit_with(c, SEL_OP_CONVERT, type, slot, (int)in)
           : type == SEL_NUMBER_D ? emit(c, SEL_OP_WHOLE, type, 1, &slot)
                                  : slot;
}

/* Compiles a node, and sets its value in its natural type. */
static void compile_node(compiler *c, int n) {
    const sel_rule_node *node = compile_node_at(c, n);
    const bool once = stage_of(c, n) == ONCE;
    const sel_number type = once ? SEL_NUMBER_D : sel_type_of(&c->types, n);
    const sel_number in = once ? type : sel_operation_type(&c->types, node, type);
    const int of = integers_of(c, n);
    const bool stays = in == SEL_NUMBER_I && (node->op == SEL_OP_FLOOR || node->op == SEL_OP_CEIL ||
                                              node->op == SEL_OP_WHOLE);
    int *slot = &c->slot[n][type];
    c->node = n;
    if (of >= 0) {
        *slot = compile_integers(c, n, of);
    } else if (node->op == SEL_RULE_READ) {
        c->read[c->p->layout.reads] =
            (sel_read){node->field, {node->at[0], node->at[1], node->at[2]}};
        *slot = READ + c->p->layout.reads++;
    } else if (node->op != SEL_OP_CONSTANT) {
        *slot = stays ? value_in(c, node->operand[0], in) : compile_operation(c, node, in);
        if (in != type && !sel_op_compares(node->op)) {
            *slot = emit_with(c, SEL_OP_CONVERT, type, *slot, (int)in);
        }
    }
}

/* Marks the nodes that the results need. */
static void mark_used(compiler *c) {
    const sel_rule *rule = c->rule;
    for (int k = 0; k < rule->outputs; k++) {
        c->used[rule->output[k].node] = true;
    }
    if (c->p->layout.fails >= 0) {
        c->used[c->p->layout.fails] = true;
    }
    for (int n = rule->nodes - 1; n >= 0; n--) {
        const int of = integers_of(c, n);
        const sel_rule_node *node = compile_node_at(c, of >= 0 ? of : n);
        for (int k = 0; c->used[n] && k < sel_rule_operands(node); k++) {
            c->used[node->operand[k]] = true;
        }
    }
}

/* Compiles output k: converts it to the type from which it is stored in its field (plain numbers:
 * double), and finds whether it may exceed the field's range. */
static void compile_output(compiler *c, int k) {
    const sel_rule_output *from = &c->rule->output[k];
    const sel_rule_node *node = compile_node_at(c, from->node);
    const bool fields = !c->form->numbers;
    const sel_cell_type type = fields ? c->form->field[from->field].type : SEL_CELL_REAL;
    const sel_number own = sel_type_of(&c->types, from->node);
    const bool real = type == SEL_CELL_REAL, constant = node->op == SEL_OP_CONSTANT;
    const sel_number in = !fields               ? SEL_NUMBER_D
                          : real                ? sel_real_type(c->form)
                          : own == SEL_NUMBER_F ? SEL_NUMBER_D
                                                : own;
    const double low = constant ? node->value : node->low, high = constant ? low : node->high;
    const bool fits =
        type == SEL_CELL_U8 ? low >= 0 && high <= UINT8_MAX : low >= INT32_MIN && high <= INT32_MAX;
    c->output[k] =
        (sel_program_output){from->field, value_in(c, from->node, in), (int)in,
                             !real && !(fits && (node->whole || constant)), fields && real};
    c->p->reports = c->p->reports || c->output[k].checked;
}

/* Whether a node can be computed in uint8_t arithmetic that saturates at 255. */
static bool fits_byte(const compiler *c, int n) {
    const sel_rule_node *node = compile_node_at(c, n);
    const sel_rule_node *a = compile_node_at(c, node->operand[0]),
                        *b = compile_node_at(c, node->operand[1]);
    const bool fits = node->whole && node->low >= 0 && node->high <= INT32_MAX;
    switch (node->op) {
    case SEL_OP_CONSTANT:
        return fits && node->value <= UINT8_MAX;
    case SEL_RULE_READ:
        return c->form->field[node->field].type == SEL_CELL_U8;
    case SEL_OP_LT:
    case SEL_OP_LE:
    case SEL_OP_EQ: /* two saturated operands could not be compared */
        return fmax(a->high, b->high) <= UINT8_MAX || fmin(a->high, b->high) < UINT8_MAX;
    case SEL_OP_ADD:
    case SEL_OP_MIN:
    case SEL_OP_MAX:
    case SEL_OP_SELECT:
        return fits;
    default:
        return sel_op_is_condition(node->op);
    }
}

static bool all_are_bytes(const compiler *c) {
    bool are = !c->form->numbers && c->p->layout.fails < 0;
    for (int n = 0; n < c->rule->nodes && are; n++) {
        are = !c->used[n] || fits_byte(c, n);
    }
    for (int k = 0; k < c->rule->outputs && are; k++) {
        const sel_rule_output *output = &c->rule->output[k];
        are = c->form->field[output->field].type == SEL_CELL_U8 &&
              compile_node_at(c, output->node)->high <= UINT8_MAX;
    }
    return are;
}

/* Orders drafts by stages. */
static void order_stages(compiler *c, draft *ordered) {
    int count = 0;
    for (int s = ONCE; s < STAGES; s++) {
        for (int i = 0; i < c->count; i++) {
            if (c->d[i].stage == s) {
                ordered[count++] = c->d[i];
            }
        }
    }
    c->d = ordered;
}

static void compile_drafts(compiler *c, draft *ordered) {
    sel_program *p = c->p;
    const int fails = p->layout.fails;
    sel_types_find(&c->types);
    mark_used(c);
    p->bytes = all_are_bytes(c);
    for (int n = 0; n < c->rule->nodes; n++) {
        if (c->used[n]) {
            compile_node(c, n);
        }
    }
    for (int k = 0; k < c->rule->outputs; k++) {
        compile_output(c, k);
    }
    p->layout.fails = fails >= 0 ? value_in(c, fails, SEL_NUMBER_I) : -1;
    p->reports = p->reports || fails >= 0;
    order_stages(c, ordered);
}

/* ---- chains ---- */

/* Counts the uses of values, and finds the last use of each; results are used after all drafts. */
static void count_uses(const compiler *c) {
    memset(c->uses, 0, (size_t)c->count * sizeof *c->uses);
    for (int i = 0; i < c->count; i++) {
        for (int k = 0; k < c->d[i].v.operands; k++) {
            const int value = c->d[i].from[k] - REGISTER;
            if (value >= 0) {
                c->uses[value]++;
                c->last[value] = i;
            }
        }
    }
    for (int k = -1; k < c->rule->outputs; k++) {
        const int slot = k < 0 ? c->p->layout.fails : c->output[k].slot;
        if (slot >= REGISTER) {
            c->uses[slot - REGISTER]++;
            c->last[slot - REGISTER] = c->count;
        }
    }
}

/* Whether a draft can be a link of a chain: a sum, product or quotient per place. */
static bool is_link(const draft *d) {
    const int op = d->v.op;
    return d->stage != ONCE && (op == SEL_OP_ADD || op == SEL_OP_SUB || op == SEL_OP_MUL ||
                                (op == SEL_OP_DIV && d->v.type != SEL_NUMBER_I));
}

/* Joins sums and products into chains, and orders drafts so that each link stands directly before
 * the next. Functions of place keep their order, which needs few registers: there only neighbours
 * are joined. */
static void join_chains(compiler *c, draft *ordered) {
    int count = 0, *made_by = c->place;
    for (int i = 0; i < c->count; i++) {
        draft *d = &c->d[i];
        made_by[d->to - REGISTER] = i;
        d->length = 1;
        for (int k = 0; k < 2 && is_link(d); k++) {
            const int value = d->from[k] - REGISTER;
            const draft *by = value >= 0 && c->uses[value] == 1 ? &c->d[made_by[value]] : NULL;
            if (by && is_link(by) && by->v.type == d->v.type && by->stage == d->stage &&
                by->length >= d->length && by->length < MOST_LINKS &&
                (!c->form->stages || by == d - 1)) {
                d->before = (int)(by - c->d);
                d->length = by->length + 1;
                d->side = (uint8_t)k;
            }
        }
        if (d->before >= 0) {
            c->d[d->before].absorbed = true;
        }
    }
    for (int i = 0; i < c->count; i++) {
        if (!c->d[i].absorbed) {
            count += c->d[i].length;
            for (int j = i, at = count; j >= 0; j = c->d[j].before) {
                ordered[--at] = c->d[j];
            }
        }
    }
    c->d = ordered;
}

/* Sets `linked` and `placed` of a sum or product. */
static void set_link(const compiler *c, draft *d) {
    d->v.linked = d->before < 0 ? 0 : (uint8_t)(1 + d->side);
    for (int k = 0; k < c->rule->outputs && !d->absorbed; k++) {
        sel_program_output *output = &c->output[k];
        if (output->direct && output->slot == d->to && c->uses[d->to - REGISTER] == 1) {
            d->v.placed = (uint8_t)(1 + k);
        }
    }
}

/* ---- slots ---- */

static int final_slot(const compiler *c, int value) {
    return value < REGISTER ? c->p->layout.fixed + value - READ : c->place[value - REGISTER];
}

/* Assigns the slots that no other value shares, in the order of the diagram in program_eval.h:
 * pass 0: uniform values that places need; 1: the other uniform values; 2: values of y and z that
 * later stages need; 3: values of x that later stages need. Returns the number of slots of passes 2
 * and 3. */
static int assign_kept_slots(compiler *c) {
    sel_packed_program *l = &c->p->layout;
    int slots = 0;
    for (int pass = 0; pass < 4; pass++) {
        const stage of = pass < 2 ? ONCE : pass == 2 ? OF_YZ : OF_X;
        for (int i = 0; i < c->count; i++) {
            const draft *d = &c->d[i];
            const int value = d->to - REGISTER, end = c->last[value];
            const bool later = end == c->count ? d->stage < OF_ALL : c->d[end].stage > d->stage;
            if (d->stage != of || later != (pass != 1)) {
                continue;
            }
            if (pass == 0) {
                const unsigned depends = compile_node_at(c, d->node)->depends;
                c->uniform[slots] = (sel_uniform){(sel_number)d->v.type, depends};
                c->p->vary |= depends;
            }
            c->place[value] = slots++;
        }
        l->uniforms = pass == 0 ? slots : l->uniforms;
        l->fixed = pass == 1 ? slots : l->fixed;
        slots += pass == 1 ? l->reads : 0;
        l->per_row = pass == 2 ? slots - l->fixed - l->reads : l->per_row;
    }
    return slots - l->fixed - l->reads;
}

/* Assigns slots to all values; a register is reused after the last use of its value. unused[]:
 * scratch, a stack of free registers. False: stages leave more than MOST_KEPT values to later
 * ones. */
static bool assign_slots(compiler *c, int *unused) {
    memset(c->place, 0xff, (size_t)c->count * sizeof *c->place); /* NO_SLOT */
    const int kept = assign_kept_slots(c), own = c->p->layout.fixed + c->p->layout.reads + kept;
    int unused_count = 0, slots = own;
    for (int i = 0; i < c->count; i++) {
        draft *d = &c->d[i];
        int *to = &c->place[d->to - REGISTER];
        /* Before operands are released: the result must not overwrite an operand, whose numbers may
         * have another size. */
        *to = *to >= 0 ? *to : unused_count ? unused[--unused_count] : slots++;
        for (int k = 0; k < d->v.operands; k++) {
            const int value = d->from[k] - REGISTER;
            bool ends = value >= 0 && c->last[value] == i && c->place[value] >= own;
            for (int j = 0; j < k; j++) {
                ends = ends && d->from[j] != d->from[k];
            }
            if (ends) {
                unused[unused_count++] = c->place[value];
            }
            d->v.from[k] = (uint16_t)final_slot(c, d->from[k]);
        }
        d->v.to = (uint16_t)*to;
        if (is_link(d)) {
            set_link(c, d);
        }
    }
    c->p->layout.own = slots - c->p->layout.fixed;
    return kept <= MOST_KEPT;
}

/* ---- the program ---- */

static void add_input(const compiler *c, const draft *d, sel_packed_input *to) {
    const sel_rule_node *node = compile_node_at(c, d->node);
    *to = (sel_packed_input){.value = sel_number_as(d->v.type, node->value),
                             .to = d->v.to,
                             .argument =
                                 d->v.op == SEL_OP_CONSTANT ? SEL_NO_ARGUMENT : node->operand[0]};
}

/* Makes the tables of the program from the drafts. False: no memory, or too many slots. */
static bool compile_finish(compiler *c) {
    sel_program *p = c->p;
    sel_packed_program *l = &p->layout;
    sel_packed_input *input = sel_arena_alloc(c->arena, (size_t)c->count * sizeof *input);
    sel_instruction *code = sel_arena_alloc(c->arena, (size_t)c->count * sizeof *code);
    int32_t *data = sel_arena_alloc(c->arena, (size_t)l->lookups * sizeof *data);
    uint64_t placed = 0;
    if (!input || !code || !data || l->fixed + l->own > MOST_SLOTS) {
        return false;
    }
    for (int i = 0; i < c->count; i++) {
        const draft *d = &c->d[i];
        const int op = d->v.op;
        if (d->stage == ONCE && (op == SEL_OP_CONSTANT || op == SEL_OP_ARGUMENT)) {
            add_input(c, d, &input[l->inputs++]);
            continue;
        }
        *code++ = d->v;
        *(d->stage == ONCE ? &l->once : &l->each) += 1;
        l->of_x += d->stage == OF_X;
        l->of_yz += d->stage == OF_YZ;
        p->operations += d->stage != ONCE && op != SEL_OP_ARGUMENT;
        p->chains += d->stage != ONCE && !d->v.linked;
        placed |= d->v.placed ? UINT64_C(1) << (d->v.placed - 1) : 0;
    }
    for (int k = 0; k < c->rule->outputs; k++) {
        c->output[k].direct = placed >> k & 1;
        c->output[k].slot = final_slot(c, c->output[k].slot);
    }
    for (int k = 0; k < l->lookups; k++) {
        data[k] = k;
    }
    l->fails = l->fails >= 0 ? final_slot(c, l->fails) : -1;
    p->uniform = c->uniform;
    p->tables = (sel_packed){.program = l,
                             .input = input,
                             .code = code - l->once - l->each,
                             .data = data,
                             .lookup = c->lookup,
                             .read = c->read,
                             .output = c->output};
    return true;
}

/* Compiles the rule with or without stages, by c->stages. NULL: no memory, or too many slots.
 * *fits: stages leave at most MOST_KEPT values to later ones. */
static sel_program *compile_with_stages(compiler *c, bool *fits) {
    const size_t nodes = (size_t)c->rule->nodes + 1, most = 4 * nodes;
    size_t lookups = 0;
    for (int n = 0; n < c->rule->nodes; n++) {
        lookups += compile_node_at(c, n)->op == SEL_OP_LOOKUP;
    }
    sel_program *p = c->p = sel_arena_alloc(c->arena, sizeof *p);
    int *numbers = sel_arena_alloc(c->scratch, 4 * most * sizeof *numbers);
    draft *drafts = sel_arena_alloc(c->scratch, 2 * most * sizeof *drafts);
    c->used = sel_arena_alloc(c->scratch, 2 * nodes);
    c->slot = sel_arena_alloc(c->scratch, nodes * sizeof *c->slot);
    c->uniform = sel_arena_alloc(c->arena, most * sizeof *c->uniform);
    c->read = sel_arena_alloc(c->arena, nodes * sizeof *c->read);
    c->lookup = sel_arena_alloc(c->arena, lookups * sizeof *c->lookup);
    c->output = sel_arena_alloc(c->arena, ((size_t)c->rule->outputs + 1) * sizeof *c->output);
    if (!p || !numbers || !drafts || !c->used || !c->slot || !c->uniform || !c->read ||
        !c->lookup || !c->output) {
        return NULL;
    }
    c->types = (sel_types){c->rule, c->form, c->used + nodes};
    memset(c->slot, 0xff, nodes * sizeof *c->slot); /* NO_SLOT */
    c->d = drafts;
    c->uses = numbers;
    c->last = numbers + most;
    c->place = numbers + 2 * most;
    p->depends = c->rule->depends & ~(unsigned)SEL_ON_CELL;
    p->layout.numbers = c->form->numbers;
    p->layout.outputs = c->rule->outputs;
    p->layout.fails = c->form->never_fails ? -1 : c->rule->fails;
    compile_drafts(c, drafts + most);
    count_uses(c);
    join_chains(c, drafts);
    count_uses(c);
    *fits = assign_slots(c, numbers + 3 * most);
    return *fits && compile_finish(c) ? p : NULL;
}

const sel_program *sel_program_compile(const sel_rule *rule, const sel_program_form *form,
                                       sel_arena *arena) {
    const sel_program *program = NULL;
    bool fits = false;
    for (int stages = form->stages; stages >= 0 && !fits; stages--) {
        compiler c = {.rule = rule,
                      .form = form,
                      .arena = arena,
                      .scratch = sel_arena_create(),
                      .stages = stages};
        program = c.scratch ? compile_with_stages(&c, &fits) : NULL;
        sel_arena_destroy(c.scratch);
    }
    return program;
}
