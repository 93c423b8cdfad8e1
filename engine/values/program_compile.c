/* program_compile.c -- turn the graph of a function into instructions.
 *
 * What is the same at all places (constants, t, dt, controls and what follows from them) is
 * computed once per call or step, in f64. The rest becomes instructions for rows of places: on
 * reals in the precision of the run, on whole numbers in int32_t where their bounds allow, else in
 * double, which is exact to 2^53. Those of functions of place come by stages: what depends on x
 * alone, on y and z alone, on both. Sums and products whose only use is the next one follow each
 * other. Registers are shared by values that are not needed at the same time, so that all of them
 * stay in the first-level cache.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/rule.h"

enum { NO_SLOT = -1, TYPES = 3, MOST_SLOTS = 1 << 14, MOST_LINKS = 64 };

/* Numbers of values before there are slots: the kind in the upper bits. */
enum { UNIFORM = 0, READ = 1 << 20, REGISTER = 2 << 20 };

typedef enum stage { OF_X, OF_YZ, OF_ALL, STAGES } stage;

/* Registers that stages may leave to later ones; where more were needed, there is one stage. */
enum { MOST_KEPT = 32 };

/* An instruction until its operands have slots. */
typedef struct draft {
    sel_instruction v;
    int to, from[4];
    int before; /* the instruction that it follows as the next link of a chain; -1: none */
    int length; /* of the chain up to here */
    uint8_t stage, side;
    bool absorbed; /* another one follows it */
} draft;

typedef struct compiler {
    const sel_rule *rule;
    const sel_program_form *form;
    sel_arena *arena, *scratch;
    sel_number real;
    sel_program *p;
    bool stages;
    stage stage;        /* of what is compiled */
    bool *used;         /* by node */
    int (*slot)[TYPES]; /* of a node in each type */
    draft *d;
    int count, values;
    int *node_of_uniform;
    sel_uniform *uniform;
    sel_read *read;
    const sel_lookup **lookup;
    sel_program_output *output;
} compiler;

static const sel_rule_node *node_of(const compiler *c, int n) {
    return &c->rule->node[n];
}

static bool compares(int op) {
    return op == SEL_OP_LT || op == SEL_OP_LE || op == SEL_OP_EQ;
}

static bool is_condition(int op) {
    return compares(op) || op == SEL_OP_NOT || op == SEL_OP_AND || op == SEL_OP_OR;
}

static bool is_input(const sel_rule_node *node) {
    return node->op == SEL_OP_CONSTANT || node->op == SEL_OP_ARGUMENT || node->op == SEL_RULE_DT;
}

/* The same at all places. */
static bool is_same(const compiler *c, int n) {
    return !(node_of(c, n)->depends & (SEL_ON_PLACE | SEL_ON_CELL | SEL_ON_STEP));
}

static stage stage_of(const compiler *c, int n) {
    const unsigned on = node_of(c, n)->depends;
    return !c->stages || on & (SEL_ON_CELL | SEL_ON_STEP) ? OF_ALL
           : (on & SEL_ON_PLACE) == SEL_ON_X              ? OF_X
           : on & SEL_ON_X                                ? OF_ALL
                                                          : OF_YZ;
}

/* ---- types ---- */

/* The type in which a value comes by itself. */
static sel_number type_of(const compiler *c, int n) {
    const sel_rule_node *node = node_of(c, n);
    if (node->op == SEL_RULE_READ) {
        return c->form->field[node->field].type == SEL_CELL_REAL ? c->real : SEL_NUMBER_I;
    }
    if (node->op == SEL_RULE_RANDOM || node->op == SEL_OP_LOOKUP) {
        return SEL_NUMBER_D;
    }
    if (is_condition(node->op)) {
        return SEL_NUMBER_I;
    }
    const bool constant = node->op == SEL_OP_CONSTANT;
    const double low = constant ? node->value : node->low, high = constant ? low : node->high;
    return !node->whole                            ? c->real
           : low >= INT32_MIN && high <= INT32_MAX ? SEL_NUMBER_I
                                                   : SEL_NUMBER_D;
}

/* The number of the whole number that node n is the negative of, with -0 made 0; -1: it is not. */
static int negated(const compiler *c, int n) {
    const sel_rule_node *node = node_of(c, n);
    const sel_rule_node *minus = node->op == SEL_OP_WHOLE ? node_of(c, node->operand[0]) : node;
    const bool is = minus != node && minus->op == SEL_OP_UNM && type_of(c, n) == SEL_NUMBER_I;
    return is && type_of(c, minus->operand[0]) == SEL_NUMBER_I ? minus->operand[0] : -1;
}

/* The type in which two values are computed together. */
static sel_number join(sel_number a, sel_number b) {
    return a == b ? a : a == SEL_NUMBER_D || b == SEL_NUMBER_D ? SEL_NUMBER_D : SEL_NUMBER_F;
}

/* Of values of which some are whole numbers as a float does not hold them. */
static sel_number compared(const compiler *c, int a, int b) {
    const sel_number of_a = type_of(c, a), of_b = type_of(c, b);
    const sel_rule_node *whole = of_a == SEL_NUMBER_I ? node_of(c, a) : node_of(c, b);
    const bool large = whole->whole && !(fabs(whole->low) <= 0x1p24 && fabs(whole->high) <= 0x1p24);
    return of_a != of_b && large ? SEL_NUMBER_D : join(of_a, of_b);
}

/* The type of an operation, whose result may then be converted. */
static sel_number computed(const compiler *c, const sel_rule_node *node, sel_number result) {
    const int op = node->op, count = sel_rule_operands(node);
    sel_number type = result;
    if (compares(op)) {
        return compared(c, node->operand[0], node->operand[1]);
    }
    if (op == SEL_OP_FLOOR || op == SEL_OP_CEIL || op == SEL_OP_WHOLE) {
        return type_of(c, node->operand[0]);
    }
    if (!node->whole || is_condition(op)) {
        return result;
    }
    for (int k = op == SEL_OP_SELECT; k < count; k++) {
        type = join(type, type_of(c, node->operand[k]));
    }
    return type;
}

/* ---- drafts ---- */

static int emit(compiler *c, int op, sel_number type, int operands, const int *from) {
    draft *d = &c->d[c->count++];
    *d = (draft){.v = {.op = (uint8_t)op, .type = (uint8_t)type, .operands = (uint8_t)operands},
                 .to = REGISTER + c->values++,
                 .before = -1,
                 .stage = (uint8_t)c->stage};
    memcpy(d->from, from, (size_t)operands * sizeof *from);
    return d->to;
}

static int emit_with(compiler *c, int op, sel_number type, int from, int64_t number) {
    const int to = emit(c, op, type, op != SEL_OP_ARGUMENT, &from);
    c->d[c->count - 1].v.number = number;
    return to;
}

/* The value of a node in a type. */
static int value_in(compiler *c, int n, sel_number type) {
    int *slot = &c->slot[n][type], *count = &c->p->layout.uniforms;
    if (*slot != NO_SLOT) {
        return *slot;
    }
    if (is_same(c, n)) {
        c->uniform[*count] = (sel_uniform){type, node_of(c, n)->depends};
        c->node_of_uniform[*count] = n;
        c->p->vary |= node_of(c, n)->depends;
        *slot = UNIFORM + (*count)++;
    } else {
        const sel_number from = type_of(c, n);
        *slot = emit_with(c, SEL_OP_CONVERT, type, c->slot[n][from], (int)from);
    }
    return *slot;
}

/* A quotient or remainder by a power of two as a shift or a mask; false: it is none. */
static bool by_power_of_two(compiler *c, const sel_rule_node *node, sel_number type, int *slot) {
    const sel_rule_node *by = node_of(c, node->operand[1]);
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

/* The number of a look-up among those of the program. */
static int number_of(compiler *c, const sel_lookup *lookup) {
    int which = 0, *count = &c->p->layout.lookups;
    while (which < *count && c->lookup[which] != lookup) {
        which++;
    }
    *count += which == *count;
    c->lookup[which] = lookup;
    return which;
}

static int operate(compiler *c, const sel_rule_node *node, sel_number type) {
    const int count = sel_rule_operands(node), op = node->op;
    const bool logic = op == SEL_OP_NOT || op == SEL_OP_AND || op == SEL_OP_OR;
    int operand[SEL_LOOKUP_ARGUMENTS] = {0}, slot;
    if (by_power_of_two(c, node, type, &slot)) {
        return slot;
    }
    for (int k = 0; k < count; k++) {
        const bool condition = logic || (op == SEL_OP_SELECT && k == 0);
        operand[k] = value_in(c, node->operand[k],
                              condition                                          ? SEL_NUMBER_I
                              : op == SEL_RULE_RANDOM || op == SEL_OP_LOOKUP ? SEL_NUMBER_D
                                                                                 : type);
    }
    const bool square = op == SEL_OP_POW && node_of(c, node->operand[1])->op == SEL_OP_CONSTANT &&
                        node_of(c, node->operand[1])->value == 2;
    operand[1] = square ? operand[0] : operand[1];
    slot = emit(c, square ? SEL_OP_MUL : op, type, count, operand);
    c->d[c->count - 1].v.number = op == SEL_OP_LOOKUP ? number_of(c, node->lookup) : 0;
    return slot;
}

static void compile_node(compiler *c, int n) {
    const sel_rule_node *node = node_of(c, n);
    const sel_number type = type_of(c, n), in = computed(c, node, type);
    const int positive = negated(c, n);
    int slot;
    if (positive >= 0) {
        slot = emit_with(c, SEL_OP_UNM, SEL_NUMBER_I, value_in(c, positive, SEL_NUMBER_I), 0);
    } else if (node->op == SEL_RULE_READ) {
        c->read[c->p->layout.reads] =
            (sel_read){node->field, {node->at[0], node->at[1], node->at[2]}};
        slot = READ + c->p->layout.reads++;
    } else if (node->op == SEL_OP_ARGUMENT) {
        slot = emit_with(c, SEL_OP_ARGUMENT, type, 0, node->operand[0]);
    } else {
        const bool stays = in == SEL_NUMBER_I && (node->op == SEL_OP_FLOOR ||
                                                  node->op == SEL_OP_CEIL ||
                                                  node->op == SEL_OP_WHOLE);
        slot = stays ? value_in(c, node->operand[0], in) : operate(c, node, in);
        if (in != type && !compares(node->op)) {
            slot = emit_with(c, SEL_OP_CONVERT, type, slot, (int)in);
        }
    }
    c->slot[n][type] = slot;
}

/* Marks what the results need. */
static void survey(compiler *c) {
    const sel_rule *rule = c->rule;
    for (int k = 0; k < rule->outputs; k++) {
        c->used[rule->output[k].node] = true;
    }
    if (c->p->layout.fails >= 0) {
        c->used[c->p->layout.fails] = true;
    }
    for (int n = rule->nodes - 1; n >= 0; n--) {
        const int positive = c->used[n] ? negated(c, n) : -1;
        for (int k = 0; c->used[n] && k < sel_rule_operands(node_of(c, n)); k++) {
            c->used[positive < 0 ? node_of(c, n)->operand[k] : positive] = true;
        }
    }
}

/* The type in which a result is stored in its field; numbers are doubles. */
static void compile_output(compiler *c, int k) {
    const sel_rule_output *from = &c->rule->output[k];
    const sel_rule_node *node = node_of(c, from->node);
    const bool fields = !c->form->numbers;
    const sel_cell_type type = fields ? c->form->field[from->field].type : SEL_CELL_REAL;
    const sel_number own = type_of(c, from->node);
    const bool real = type == SEL_CELL_REAL, constant = node->op == SEL_OP_CONSTANT;
    const sel_number in = !fields                ? SEL_NUMBER_D
                          : real                 ? c->real
                          : own == SEL_NUMBER_F ? SEL_NUMBER_D
                                                 : own;
    const double low = constant ? node->value : node->low, high = constant ? low : node->high;
    const bool fits =
        type == SEL_CELL_U8 ? low >= 0 && high <= UINT8_MAX : low >= INT32_MIN && high <= INT32_MAX;
    c->output[k] = (sel_program_output){from->field, value_in(c, from->node, in), (int)in,
                                !real && !(fits && (node->whole || constant)), fields && real};
    c->p->reports = c->p->reports || c->output[k].checked;
}

/* ---- chains ---- */

/* The uses of registers: how many, and the last one; results are used after all instructions. */
static void count_uses(const compiler *c, int *uses, int *last) {
    for (int i = 0; i < c->count; i++) {
        for (int k = 0; k < c->d[i].v.operands; k++) {
            const int value = c->d[i].from[k] - REGISTER;
            if (value >= 0) {
                uses[value]++;
                last[value] = i;
            }
        }
    }
    for (int k = -1; k < c->rule->outputs; k++) {
        const int slot = k < 0 ? c->p->layout.fails : c->output[k].slot;
        if (slot >= REGISTER) {
            uses[slot - REGISTER]++;
            last[slot - REGISTER] = c->count;
        }
    }
}

static bool is_link(const sel_instruction *v) {
    return v->op == SEL_OP_ADD || v->op == SEL_OP_SUB || v->op == SEL_OP_MUL ||
           (v->op == SEL_OP_DIV && v->type != SEL_NUMBER_I);
}

/* Puts each value that only the next sum or product needs in front of that; functions of place keep
 * their order, so that they need few registers. */
static void join_chains(compiler *c, draft *ordered, const int *uses, int *made_by) {
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        draft *d = &c->d[i];
        made_by[d->to - REGISTER] = i;
        d->length = 1;
        for (int k = 0; k < 2 && is_link(&d->v); k++) {
            const int value = d->from[k] - REGISTER;
            const draft *by = value >= 0 && uses[value] == 1 ? &c->d[made_by[value]] : NULL;
            if (by && is_link(&by->v) && by->v.type == d->v.type && by->stage == d->stage &&
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

/* Of a sum or product, what it does with the value before, and with which slot. */
static void set_link(const compiler *c, draft *d) {
    static const sel_link_op links[] = {[SEL_OP_ADD] = SEL_LINK_ADD,
                                     [SEL_OP_SUB] = SEL_LINK_SUB,
                                     [SEL_OP_MUL] = SEL_LINK_MUL,
                                     [SEL_OP_DIV] = SEL_LINK_DIV};
    sel_link_op link = links[d->v.op];
    if (d->side) {
        link = link == SEL_LINK_SUB ? SEL_LINK_FROM : link == SEL_LINK_DIV ? SEL_LINK_UNDER : link;
    }
    d->v.linked = d->before >= 0;
    d->v.number = d->v.from[1 - d->side];
    d->v.link = (uint8_t)(1 + 2 * (int)link + (d->v.number < c->p->layout.uniforms));
}

/* ---- slots ---- */

static int final_slot(const compiler *c, int value, const int *place) {
    const sel_packed_program *l = &c->p->layout;
    return value < READ       ? value
           : value < REGISTER ? l->fixed + value - READ
                              : l->fixed + l->reads + place[value - REGISTER];
}

/* Gives registers of their own to what a stage leaves to later ones, those of y and z first.
 * Returns their number. */
static int keep(compiler *c, const int *last, int *place) {
    int kept = 0;
    for (int s = OF_YZ; s >= OF_X; s--) {
        for (int i = 0; i < c->count; i++) {
            const draft *d = &c->d[i];
            const int end = last[d->to - REGISTER];
            const stage used = end == c->count ? OF_ALL : (stage)c->d[end].stage;
            if (d->stage == s && used > d->stage) {
                place[d->to - REGISTER] = kept++;
            }
        }
        c->p->layout.per_row = s == OF_YZ ? kept : c->p->layout.per_row;
    }
    return kept;
}

/* Gives the values registers: those of values that are no longer needed are used again. False:
 * stages leave too much to later ones. */
static bool assign(compiler *c, const int *uses, const int *last, int *place, int *unused) {
    sel_packed_program *l = &c->p->layout;
    for (int i = 0; i < c->values; i++) {
        place[i] = -1;
    }
    const int kept = keep(c, last, place);
    int unused_count = 0, registers = kept;
    for (int i = 0; i < c->count && kept <= MOST_KEPT; i++) {
        draft *d = &c->d[i];
        sel_instruction *v = &d->v;
        int *to = &place[d->to - REGISTER];
        /* Not that of an operand, whose numbers may be of another size. */
        *to = *to >= 0 ? *to : unused_count ? unused[--unused_count] : registers++;
        for (int k = 0; k < v->operands; k++) {
            const int value = d->from[k] - REGISTER;
            bool ends = value >= 0 && last[value] == i && place[value] >= kept;
            for (int j = 0; j < k; j++) {
                ends = ends && d->from[j] != d->from[k];
            }
            if (ends) {
                unused[unused_count++] = place[value];
            }
            v->from[k] = (uint16_t)final_slot(c, d->from[k], place);
        }
        v->to = (uint16_t)final_slot(c, d->to, place);
        if (is_link(v)) {
            set_link(c, d);
        }
        for (int k = 0; k < c->rule->outputs && is_link(v) && !d->absorbed; k++) {
            const sel_program_output *output = &c->output[k];
            const bool alone = output->slot == d->to && uses[d->to - REGISTER] == 1;
            v->placed = alone && output->direct ? (uint8_t)(1 + k) : v->placed;
        }
    }
    l->own = l->reads + registers;
    return kept <= MOST_KEPT;
}

/* ---- what is the same at all places ---- */

/* Gives slots to all that the uniform values are computed from: [nodes]. */
static void find_homes(compiler *c, int *home) {
    sel_packed_program *l = &c->p->layout;
    bool *needed = c->used;
    memset(needed, 0, (size_t)c->rule->nodes);
    memset(home, 0xff, (size_t)c->rule->nodes * sizeof *home); /* NO_SLOT */
    for (int k = l->uniforms - 1; k >= 0; k--) {
        needed[c->node_of_uniform[k]] = true;
        home[c->node_of_uniform[k]] = k;
    }
    for (int n = c->rule->nodes - 1; n >= 0; n--) {
        for (int k = 0; needed[n] && k < sel_rule_operands(node_of(c, n)); k++) {
            needed[node_of(c, n)->operand[k]] = true;
        }
    }
    l->fixed = l->uniforms;
    for (int n = 0; n < c->rule->nodes; n++) {
        home[n] = needed[n] && home[n] == NO_SLOT ? l->fixed++ : home[n];
        l->inputs += needed[n] && is_input(node_of(c, n));
        l->once += needed[n] && !is_input(node_of(c, n));
    }
    for (int k = 0; k < l->uniforms; k++) { /* in another type: a copy */
        l->once += home[c->node_of_uniform[k]] != k;
    }
}

static void compile_once(compiler *c, const int *home, sel_packed_input *input,
                         sel_instruction *code) {
    for (int n = 0; n < c->rule->nodes; n++) {
        const sel_rule_node *node = node_of(c, n);
        if (home[n] == NO_SLOT) {
            continue;
        }
        if (is_input(node)) {
            *input++ = (sel_packed_input){.value = node->value,
                                          .to = home[n],
                                          .argument = node->op == SEL_OP_CONSTANT ? SEL_NO_ARGUMENT
                                                      : node->op == SEL_RULE_DT ? SEL_ARGUMENT_DT
                                                                                : node->operand[0]};
            continue;
        }
        *code = (sel_instruction){.op = (uint8_t)node->op,
                                  .type = SEL_NUMBER_D,
                                  .operands = (uint8_t)sel_rule_operands(node),
                                  .to = (uint16_t)home[n],
                                  .number =
                                      node->op == SEL_OP_LOOKUP ? number_of(c, node->lookup) : 0};
        for (int k = 0; k < code->operands; k++) {
            code->from[k] = (uint16_t)home[node->operand[k]];
        }
        code++;
    }
    for (int k = 0; k < c->p->layout.uniforms; k++) {
        const int from = home[c->node_of_uniform[k]];
        if (from != k) {
            *code++ = (sel_instruction){.op = SEL_OP_CONVERT,
                                        .type = SEL_NUMBER_D,
                                        .operands = 1,
                                        .to = (uint16_t)k,
                                        .from = {(uint16_t)from}};
        }
    }
}

/* ---- the program ---- */

static void *keep_copy(const compiler *c, const void *from, int count, size_t size) {
    void *to = sel_arena_alloc(c->arena, (size_t)count * size + 1);
    if (to && count) {
        memcpy(to, from, (size_t)count * size);
    }
    return to;
}

/* False: no memory, or too many slots. */
static bool finish(compiler *c, const int *home, const int *place) {
    sel_program *p = c->p;
    sel_packed_program *l = &p->layout;
    sel_packed_input *input = sel_arena_alloc(c->arena, (size_t)l->inputs * sizeof *input + 1);
    sel_instruction *code =
        sel_arena_alloc(c->arena, (size_t)(l->once + c->count) * sizeof *code + 1);
    if (!input || !code || l->fixed + l->own > MOST_SLOTS) {
        return false;
    }
    compile_once(c, home, input, code);
    l->each = c->count;
    for (int i = 0; i < c->count; i++) {
        const draft *d = &c->d[i];
        code[l->once + i] = d->v;
        l->of_x += d->stage == OF_X;
        l->of_yz += d->stage == OF_YZ;
        p->operations += d->v.op != SEL_OP_ARGUMENT;
        p->chains += !d->v.linked;
    }
    for (int k = 0; k < c->rule->outputs; k++) {
        sel_program_output *output = &c->output[k];
        bool placed = false;
        for (int i = 0; i < c->count; i++) {
            placed = placed || c->d[i].v.placed == 1 + k;
        }
        output->direct = placed;
        output->slot = final_slot(c, output->slot, place);
    }
    l->fails = l->fails >= 0 ? final_slot(c, l->fails, place) : -1;
    p->input = input;
    p->code = code;
    p->lookup = keep_copy(c, c->lookup, l->lookups, sizeof(sel_lookup *));
    p->uniform = keep_copy(c, c->uniform, l->uniforms, sizeof *c->uniform);
    p->read = keep_copy(c, c->read, l->reads, sizeof *c->read);
    return p->lookup && p->uniform && p->read;
}

static void draft_program(compiler *c) {
    const sel_rule *rule = c->rule;
    sel_program *p = c->p;
    const int fails = p->layout.fails;
    survey(c);
    for (int s = OF_X; s < STAGES; s++) {
        c->stage = (stage)s;
        for (int n = 0; n < rule->nodes; n++) {
            if (c->used[n] && !is_same(c, n) && stage_of(c, n) == c->stage) {
                compile_node(c, n);
            }
        }
    }
    c->stage = OF_ALL;
    for (int k = 0; k < rule->outputs; k++) {
        compile_output(c, k);
    }
    p->layout.fails = fails >= 0 ? value_in(c, fails, SEL_NUMBER_I) : -1;
    p->reports = p->reports || fails >= 0;
}

/* NULL: no memory, or too many slots; *kept is false if stages leave too much to later ones. */
static sel_program *compile(compiler *c, bool *fits) {
    const size_t nodes = (size_t)c->rule->nodes + 1, most = 4 * nodes;
    sel_program *p = c->p = sel_arena_alloc(c->arena, sizeof *p);
    c->output = sel_arena_alloc(c->arena, ((size_t)c->rule->outputs + 1) * sizeof *c->output);
    c->used = sel_arena_alloc(c->scratch, nodes);
    c->slot = sel_arena_alloc(c->scratch, nodes * sizeof *c->slot);
    c->d = sel_arena_alloc(c->scratch, most * sizeof *c->d);
    c->uniform = sel_arena_alloc(c->scratch, TYPES * nodes * sizeof *c->uniform);
    c->node_of_uniform = sel_arena_alloc(c->scratch, TYPES * nodes * sizeof(int));
    c->read = sel_arena_alloc(c->scratch, nodes * sizeof *c->read);
    c->lookup = sel_arena_alloc(c->scratch, nodes * sizeof(sel_lookup *));
    draft *ordered = sel_arena_alloc(c->scratch, most * sizeof *ordered);
    int *uses = sel_arena_alloc(c->scratch, most * sizeof *uses);
    int *last = sel_arena_alloc(c->scratch, most * sizeof *last);
    int *place = sel_arena_alloc(c->scratch, most * sizeof *place);
    int *unused = sel_arena_alloc(c->scratch, most * sizeof *unused);
    int *home = sel_arena_alloc(c->scratch, nodes * sizeof *home);
    if (!p || !c->output || !c->used || !c->slot || !c->d || !c->uniform || !c->node_of_uniform ||
        !c->read || !c->lookup || !ordered || !uses || !last || !place || !unused || !home) {
        return NULL;
    }
    memset(c->slot, 0xff, nodes * sizeof *c->slot); /* NO_SLOT */
    p->output = c->output;
    p->depends = c->rule->depends & ~(unsigned)SEL_ON_CELL;
    p->layout.numbers = c->form->numbers;
    p->layout.outputs = c->rule->outputs;
    p->layout.fails = c->form->never_fails ? -1 : c->rule->fails;
    draft_program(c);
    count_uses(c, uses, last);
    join_chains(c, ordered, uses, place);
    memset(uses, 0, most * sizeof *uses);
    count_uses(c, uses, last);
    find_homes(c, home);
    *fits = assign(c, uses, last, place, unused);
    return *fits && finish(c, home, place) ? p : NULL;
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
                      .real = form->single ? SEL_NUMBER_F : SEL_NUMBER_D,
                      .stages = stages};
        program = c.scratch ? compile(&c, &fits) : NULL;
        sel_arena_destroy(c.scratch);
    }
    return program;
}
