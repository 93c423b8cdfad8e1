/* rule_code.c -- turn the graph of a rule into instructions for rows of cells.
 *
 * What is the same in all cells (constants, t, dt, controls and what follows from them) is computed
 * once per step, in f64. The rest becomes instructions, each a loop over a piece of a row: on reals
 * in the precision of the run, on whole numbers in int32_t where their bounds allow, else in
 * double, which is exact to 2^53. Registers are shared by values that are not needed at the same
 * time, so that all of them stay in the first-level cache.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/rule/rule.h"

enum { NO_SLOT = -1, TYPES = 3 };

typedef struct compiler {
    const sel_rule *rule;
    const sel_cell_field *field;
    rule_type real;
    int fails; /* the node; -1: a function that returns numbers never does */
    sel_arena *arena;
    rule_code code;
    bool *same, *used;
    int (*slot)[TYPES]; /* of a node in each type; first the numbers of values, then of slots */
    rule_instruction *v;
    rule_link **chain; /* of each instruction, while they are joined */
    rule_link *link;
    rule_shared *shared;
    rule_same *uniform;
    rule_read *read;
    int values; /* uniform ones, those read, and registers, each numbered from 0 */
    bool failed;
} compiler;

/* Numbers of values before there are slots: the kind in the upper bits. */
enum { UNIFORM = 0, READ = 1 << 14, REGISTER = 2 << 14 };

static const sel_rule_node *node_of(const compiler *c, int n) {
    return &c->rule->node[n];
}

static bool compares(int op) {
    return op == SEL_OP_LT || op == SEL_OP_LE || op == SEL_OP_EQ;
}

static bool is_condition(int op) {
    return compares(op) || op == SEL_OP_NOT || op == SEL_OP_AND || op == SEL_OP_OR;
}

/* The type in which a value comes by itself. */
static rule_type type_of(const compiler *c, int n) {
    const sel_rule_node *node = node_of(c, n);
    if (node->op == SEL_RULE_READ) {
        return c->field[node->field].type == SEL_CELL_REAL ? c->real : RULE_I;
    }
    if (node->op == SEL_RULE_RANDOM || node->op == SEL_OP_LOOKUP) {
        return RULE_D;
    }
    if (is_condition(node->op)) {
        return RULE_I;
    }
    const bool constant = node->op == SEL_OP_CONSTANT;
    const double low = constant ? node->value : node->low, high = constant ? low : node->high;
    return !node->whole ? c->real : low >= INT32_MIN && high <= INT32_MAX ? RULE_I : RULE_D;
}

/* The number of the whole number that node n is the negative of, with -0 made 0; -1: it is not. */
static int negated(const compiler *c, int n) {
    const sel_rule_node *node = node_of(c, n);
    const sel_rule_node *minus = node->op == SEL_OP_WHOLE ? node_of(c, node->operand[0]) : node;
    const bool is = minus != node && minus->op == SEL_OP_UNM && type_of(c, n) == RULE_I;
    return is && type_of(c, minus->operand[0]) == RULE_I ? minus->operand[0] : -1;
}

/* The type in which two values are computed together. */
static rule_type join(rule_type a, rule_type b) {
    return a == b ? a : a == RULE_D || b == RULE_D ? RULE_D : RULE_F;
}

/* Of values of which some are whole numbers as a float does not hold them. */
static rule_type compared(const compiler *c, int a, int b) {
    const rule_type of_a = type_of(c, a), of_b = type_of(c, b);
    const sel_rule_node *whole = of_a == RULE_I ? node_of(c, a) : node_of(c, b);
    const bool large = whole->whole && !(fabs(whole->low) <= 0x1p24 && fabs(whole->high) <= 0x1p24);
    return of_a != of_b && large ? RULE_D : join(of_a, of_b);
}

/* The type of an operation, whose result may then be converted. */
static rule_type computed(const compiler *c, const sel_rule_node *node, rule_type result) {
    const int op = node->op, count = sel_rule_operands(node);
    rule_type type = result;
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

static int new_register(compiler *c) {
    c->failed = c->failed || c->values >= RULE_MOST_SLOTS - 1;
    return REGISTER + (c->failed ? 0 : c->values++);
}

static int emit(compiler *c, int op, rule_type type, int operands, const int *from) {
    const int to = new_register(c);
    rule_instruction *v = &c->v[c->code.count++];
    *v = (rule_instruction){.op = (uint8_t)op,
                            .type = (uint8_t)type,
                            .operands = (uint8_t)operands,
                            .to = (uint16_t)to};
    for (int k = 0; k < operands; k++) {
        v->from[k] = (uint16_t)from[k];
    }
    return to;
}

/* A value of another type. */
static int convert(compiler *c, int slot, rule_type from, rule_type type) {
    const int to = emit(c, RULE_CONVERT, type, 1, &slot);
    c->v[c->code.count - 1].number = (int)from;
    return to;
}

/* The value of a node in a type. */
static int value_in(compiler *c, int n, rule_type type) {
    int *slot = &c->slot[n][type];
    if (*slot != NO_SLOT) {
        return *slot;
    }
    if (c->same[n]) {
        c->uniform[c->code.uniforms] = (rule_same){n, type};
        c->code.vary |= node_of(c, n)->depends;
        *slot = UNIFORM + c->code.uniforms++;
    } else {
        const rule_type from = type_of(c, n);
        *slot = convert(c, c->slot[n][from], from, type);
    }
    return *slot;
}

/* A quotient or remainder by a power of two as a shift or a mask; false: it is none. */
static bool by_power_of_two(compiler *c, const sel_rule_node *node, rule_type type, int *slot) {
    const sel_rule_node *by = node_of(c, node->operand[1]);
    const double value = by->value;
    int exponent;
    if (type != RULE_I || by->op != SEL_OP_CONSTANT || !(value >= 1 && value <= 0x1p30) ||
        frexp(value, &exponent) != 0.5 || (node->op != SEL_OP_IDIV && node->op != SEL_OP_MOD)) {
        return false;
    }
    const bool divides = node->op == SEL_OP_IDIV;
    const int from = value_in(c, node->operand[0], RULE_I);
    *slot = emit(c, divides ? RULE_SHIFT : RULE_MASK, RULE_I, 1, &from);
    c->v[c->code.count - 1].number = divides ? exponent - 1 : (1 << (exponent - 1)) - 1;
    return true;
}

static int look_up(compiler *c, const sel_rule_node *node) {
    int at[4] = {0};
    for (int k = 0; k < node->lookup->arguments; k++) {
        at[k] = value_in(c, node->operand[k], RULE_D);
    }
    const int to = emit(c, SEL_OP_LOOKUP, RULE_D, node->lookup->arguments, at);
    sel_program_call *call = c->shared->call;
    int which = 0, *count = &c->shared->lookups.calls;
    while (which < *count && (call[which].lookup->kind != node->lookup->kind ||
                              call[which].lookup->data != node->lookup->data)) {
        which++;
    }
    c->failed = c->failed || which == RULE_MOST_LOOKUPS;
    if (which == *count && !c->failed) {
        call[(*count)++].lookup = node->lookup;
    }
    c->v[c->code.count - 1].number = which;
    return to;
}

static int operate(compiler *c, const sel_rule_node *node, rule_type type) {
    const int count = sel_rule_operands(node), op = node->op;
    const bool logic = op == SEL_OP_NOT || op == SEL_OP_AND || op == SEL_OP_OR;
    int operand[3] = {0}, slot;
    if (by_power_of_two(c, node, type, &slot)) {
        return slot;
    }
    for (int k = 0; k < count; k++) {
        const bool condition = logic || (op == SEL_OP_SELECT && k == 0);
        const rule_type in = condition ? RULE_I : op == SEL_RULE_RANDOM ? RULE_D : type;
        operand[k] = value_in(c, node->operand[k], in);
    }
    const bool square = op == SEL_OP_POW && node_of(c, node->operand[1])->op == SEL_OP_CONSTANT &&
                        node_of(c, node->operand[1])->value == 2;
    operand[1] = square ? operand[0] : operand[1];
    return emit(c, square ? SEL_OP_MUL : op, type, count, operand);
}

static void compile_node(compiler *c, int n) {
    const sel_rule_node *node = node_of(c, n);
    const rule_type type = type_of(c, n), in = computed(c, node, type);
    const int positive = negated(c, n);
    int slot;
    if (positive >= 0) {
        const int from = value_in(c, positive, RULE_I);
        slot = emit(c, SEL_OP_UNM, RULE_I, 1, &from);
    } else if (node->op == SEL_RULE_READ) {
        c->read[c->code.reads] = (rule_read){node->field, {node->at[0], node->at[1], node->at[2]}};
        slot = READ + c->code.reads++;
    } else if (node->op == SEL_OP_LOOKUP) {
        slot = look_up(c, node);
    } else if (in == RULE_I && node->op != SEL_OP_ARGUMENT &&
               (node->op == SEL_OP_FLOOR || node->op == SEL_OP_CEIL || node->op == SEL_OP_WHOLE)) {
        slot = value_in(c, node->operand[0], RULE_I);
    } else if (node->op == SEL_OP_ARGUMENT) {
        slot = emit(c, SEL_OP_ARGUMENT, type, 0, NULL);
        c->v[c->code.count - 1].number = node->operand[0];
    } else {
        slot = operate(c, node, in);
        if (in != type && !compares(node->op)) {
            slot = convert(c, slot, in, type);
        }
    }
    c->slot[n][type] = slot;
}

/* Marks what the results need, and what is the same in all cells. */
static void survey(compiler *c) {
    const sel_rule *rule = c->rule;
    for (int k = 0; k < rule->outputs; k++) {
        c->used[rule->output[k].node] = true;
    }
    if (c->fails >= 0) {
        c->used[c->fails] = true;
    }
    for (int n = rule->nodes - 1; n >= 0; n--) {
        const int positive = c->used[n] ? negated(c, n) : -1;
        for (int k = 0; c->used[n] && k < sel_rule_operands(node_of(c, n)); k++) {
            c->used[positive < 0 ? node_of(c, n)->operand[k] : positive] = true;
        }
    }
    for (int n = 0; n < rule->nodes; n++) {
        const sel_rule_node *node = node_of(c, n);
        bool same = node->op != SEL_RULE_READ && node->op != SEL_RULE_RANDOM &&
                    !(node->op == SEL_OP_ARGUMENT && node->operand[0] <= SEL_ARGUMENT_Z);
        for (int k = 0; k < sel_rule_operands(node); k++) {
            same = same && c->same[node->operand[k]];
        }
        c->same[n] = same;
    }
}

/* ---- registers ---- */

static uint16_t final_slot(const compiler *c, int value, const int *place) {
    return (uint16_t)(value < READ ? value
                      : value < REGISTER
                          ? c->code.uniforms + value - READ
                          : c->code.uniforms + c->code.reads + place[value - REGISTER]);
}

static uint16_t *operand(const compiler *c, int i, int k) {
    rule_instruction *v = &c->v[i];
    return v->op == RULE_CHAIN ? &c->link[v->number + k].slot : &v->from[k];
}

/* The uses of values: how many, and the last one; results are used after all instructions. */
static void count_uses(const compiler *c, const rule_result *output, int *uses, int *last) {
    for (int i = 0; i < c->code.count; i++) {
        for (int k = 0; k < c->v[i].operands; k++) {
            const int value = *operand(c, i, k) - REGISTER;
            if (value >= 0) {
                uses[value]++;
                last[value] = i;
            }
        }
    }
    for (int k = -1; k < c->rule->outputs; k++) {
        const int slot = k < 0 ? c->code.fails : output[k].slot;
        if (slot >= REGISTER) {
            uses[slot - REGISTER]++;
            last[slot - REGISTER] = c->code.count;
        }
    }
}

/* Sums and products whose only use is the next one become one chain. */
static void join_chains(compiler *c, const int *uses, int *made_by) {
    int count = 0, links = 0;
    for (int i = 0; i < c->code.count; i++) {
        rule_instruction *v = &c->v[i];
        made_by[v->to - REGISTER] = i;
        const bool divides = v->op == SEL_OP_DIV && v->type != RULE_I;
        if (v->op != SEL_OP_ADD && v->op != SEL_OP_SUB && v->op != SEL_OP_MUL && !divides) {
            continue;
        }
        const rule_instruction *before = NULL;
        int at = 0;
        for (int k = 0; k < 2; k++) {
            const int value = v->from[k] - REGISTER;
            const rule_instruction *by =
                value >= 0 && uses[value] == 1 ? &c->v[made_by[value]] : NULL;
            const bool joins =
                by && by->op == RULE_CHAIN && by->type == v->type && by->operands < RULE_MOST_LINKS;
            if (joins && (!before || by->operands > before->operands)) {
                before = by;
                at = k;
            }
        }
        const int old = before ? before->operands : 1;
        rule_link *link = c->chain[i] = sel_arena_alloc(c->arena, (size_t)(old + 1) * sizeof *link);
        if (!link) {
            c->failed = true;
            return;
        }
        link[0] = (rule_link){RULE_ADD, v->from[0]};
        if (before) {
            memcpy(link, c->chain[before - c->v], (size_t)old * sizeof *link);
            c->v[before - c->v].operands = 0; /* is part of this one */
            links -= old;
        }
        links += old + 1;
        link[old] = (rule_link){v->op == SEL_OP_ADD   ? RULE_ADD
                                : v->op == SEL_OP_MUL ? RULE_MUL
                                : v->op == SEL_OP_SUB ? at ? RULE_FROM : RULE_SUB
                                : at                  ? RULE_UNDER
                                                      : RULE_DIV,
                                v->from[1 - at]};
        v->op = RULE_CHAIN;
        v->operands = (uint8_t)(old + 1);
    }
    c->link = sel_arena_alloc(c->arena, ((size_t)links + 1) * sizeof *c->link);
    c->failed = c->failed || !c->link;
    for (int i = 0; i < c->code.count && !c->failed; i++) {
        rule_instruction *v = &c->v[i];
        if (v->op == RULE_CHAIN && v->operands) {
            v->number = c->code.links;
            memcpy(c->link + c->code.links, c->chain[i], v->operands * sizeof *c->link);
            c->code.links += v->operands;
        }
        if (v->op != RULE_CHAIN || v->operands) {
            c->v[count++] = *v;
        }
    }
    c->code.count = count;
}

/* Reals that a chain makes for nothing but their field. */
static void mark_direct(compiler *c, rule_result *output, const int *uses) {
    for (int k = 0; k < c->rule->outputs; k++) {
        bool made = false;
        for (int i = 0; i < c->code.count && output[k].direct; i++) {
            rule_instruction *v = &c->v[i];
            if (v->op == RULE_CHAIN && v->to == output[k].slot && uses[v->to - REGISTER] == 1) {
                v->placed = 1 + k;
                made = true;
            }
        }
        output[k].direct = made;
    }
}

/* Gives the values registers: those of values that are no longer needed are used again. */
static void assign(compiler *c, rule_result *output) {
    const size_t values = (size_t)c->values + 1;
    int *uses = calloc(values * 4, sizeof *uses), *last = uses + values, *place = last + values;
    int *unused = place + values, unused_count = 0, registers = 0;
    if (!uses) {
        c->failed = true;
        return;
    }
    count_uses(c, output, uses, last);
    join_chains(c, uses, place);
    mark_direct(c, output, uses);
    count_uses(c, output, uses, last);
    for (int i = 0; i < c->code.count; i++) {
        rule_instruction *v = &c->v[i];
        /* Not that of an operand, whose numbers may be of another size. */
        const int to = unused_count ? unused[--unused_count] : registers++;
        for (int k = 0; k < v->operands; k++) {
            uint16_t *slot = operand(c, i, k);
            int *ends = *slot >= REGISTER ? &last[*slot - REGISTER] : NULL;
            if (ends && *ends == i) {
                unused[unused_count++] = place[*slot - REGISTER];
                *ends = -1;
            }
            *slot = final_slot(c, *slot, place);
        }
        for (int k = v->operands; k < 4; k++) {
            v->from[k] = v->operands ? v->from[0] : 0; /* what is not used can be read */
        }
        place[v->to - REGISTER] = to;
        v->to = final_slot(c, v->to, place);
    }
    for (int k = 0; k < c->rule->outputs; k++) {
        output[k].slot = final_slot(c, output[k].slot, place);
    }
    c->code.fails = c->code.fails >= 0 ? final_slot(c, c->code.fails, place) : -1;
    c->code.slots = c->code.uniforms + c->code.reads + registers;
    free(uses);
}

/* ---- results ---- */

/* The type in which a result is stored in its field; numbers of derived fields are doubles. */
static void compile_output(compiler *c, int k, const sel_rule_output *from, bool fields,
                           rule_result *to) {
    const sel_rule_node *node = node_of(c, from->node);
    const sel_cell_type type = fields ? c->field[from->field].type : SEL_CELL_REAL;
    const rule_type own = type_of(c, from->node);
    const bool real = type == SEL_CELL_REAL;
    const rule_type in = !fields ? RULE_D : real ? c->real : own == RULE_F ? RULE_D : own;
    const bool constant = node->op == SEL_OP_CONSTANT;
    const double low = constant ? node->value : node->low, high = constant ? low : node->high;
    const bool fits =
        type == SEL_CELL_U8 ? low >= 0 && high <= UINT8_MAX : low >= INT32_MIN && high <= INT32_MAX;
    to[k] = (rule_result){from->field, value_in(c, from->node, in), in,
                          !real && !(fits && (node->whole || constant)), fields && real};
}

const rule_code *rule_compile(const sel_rule *rule, const sel_cell_field *field, bool numbers,
                              int precision, rule_shared *shared, sel_arena *arena) {
    const size_t nodes = (size_t)rule->nodes + 1, outputs = (size_t)rule->outputs + 1;
    compiler c = {.rule = rule,
                  .field = field,
                  .real = precision == SEL_F32 ? RULE_F : RULE_D,
                  .fails = numbers ? -1 : rule->fails,
                  .code.numbers = numbers,
                  .shared = shared,
                  .arena = arena};
    rule_result *output = sel_arena_alloc(arena, outputs * sizeof *output);
    rule_code *made = sel_arena_alloc(arena, sizeof *made);
    c.same = sel_arena_alloc(arena, nodes);
    c.used = sel_arena_alloc(arena, nodes);
    c.slot = sel_arena_alloc(arena, nodes * sizeof *c.slot);
    c.v = sel_arena_alloc(arena, 4 * nodes * sizeof *c.v);
    c.chain = sel_arena_alloc(arena, 4 * nodes * sizeof(rule_link *));
    c.uniform = sel_arena_alloc(arena, TYPES * nodes * sizeof *c.uniform);
    c.read = sel_arena_alloc(arena, nodes * sizeof *c.read);
    if (!output || !made || !c.same || !c.used || !c.slot || !c.v || !c.chain || !c.uniform ||
        !c.read || nodes > RULE_MOST_SLOTS / 4) {
        return NULL;
    }
    memset(c.slot, 0xff, nodes * sizeof *c.slot); /* NO_SLOT */
    survey(&c);
    for (int n = 0; n < rule->nodes; n++) {
        if (c.used[n] && !c.same[n]) {
            compile_node(&c, n);
        }
    }
    for (int k = 0; k < rule->outputs; k++) {
        compile_output(&c, k, &rule->output[k], !numbers, output);
        c.code.reports = c.code.reports || output[k].checked;
    }
    c.code.reports = c.code.reports || c.fails >= 0;
    c.code.fails = c.fails >= 0 ? value_in(&c, c.fails, RULE_I) : -1;
    assign(&c, output);
    c.code.v = c.v;
    c.code.link = c.link;
    c.code.call = shared->call;
    c.code.uniform = c.uniform;
    c.code.read = c.read;
    c.code.output = output;
    c.code.outputs = rule->outputs;
    c.code.same = c.same;
    c.code.first = shared->uniforms[precision];
    shared->uniforms[precision] += c.code.uniforms;
    *made = c.code;
    return c.failed ? NULL : made;
}

const rule_code *rule_code_of_lua(const sel_cell_field *field, int fields, bool numbers,
                                  sel_arena *arena) {
    rule_result *output = sel_arena_alloc(arena, ((size_t)fields + 1) * sizeof *output);
    rule_code *code = sel_arena_alloc(arena, sizeof *code);
    if (!output || !code) {
        return NULL;
    }
    *code = (rule_code){.output = output, .outputs = numbers, .fails = -1};
    output[0] = (rule_result){.type = RULE_D};
    for (int f = 0; f < fields && !numbers; f++) {
        if (field[f].state) {
            output[code->outputs] =
                (rule_result){f, code->outputs, RULE_D, field[f].type != SEL_CELL_REAL, false};
            code->outputs++;
        }
    }
    code->slots = code->outputs;
    return code;
}

/* ---- what is the same in all cells ---- */

void rule_uniforms(const rule_code *code, const sel_rule *rule, double t, double dt,
                   const double *controls, double *value, double *to) {
    const sel_rule_place at = {.t = t, .dt = dt, .controls = controls};
    for (int n = 0; n < rule->nodes; n++) {
        value[n] = 0; /* an operand that is not used is node 0 */
        value[n] = code->same[n] ? sel_rule_value(&rule->node[n], &at, value) : 0;
    }
    for (int k = 0; k < code->uniforms; k++) {
        to[k] = value[code->uniform[k].node];
    }
}
