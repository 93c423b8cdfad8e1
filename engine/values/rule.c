/* rule.c -- graphs of cells: made by a builder, and evaluated node by node. */
#include "engine/values/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int sel_rule_operands(const sel_rule_node *node) {
    if (node->op < SEL_OP_COUNT) {
        return sel_op_texts[node->op].operands;
    }
    switch (node->op) {
    case SEL_OP_LOOKUP:
        return node->lookup->arguments;
    case SEL_RULE_RANDOM:
    case SEL_RULE_BNOT:
        return 1;
    default:
        return node->op >= SEL_RULE_BAND ? 2 : 0;
    }
}

/* Marks what the node `at` needs. */
static void mark(const sel_builder *builder, int at, bool *needed) {
    needed[at] = true;
    for (int i = at; i >= 0; i--) {
        const sel_rule_node *n = sel_builder_node(builder, i);
        for (int k = 0; needed[i] && k < sel_rule_operands(n); k++) {
            needed[n->operand[k]] = true;
        }
    }
}

static void note_reach(sel_rule *rule, const sel_rule_node *node) {
    for (int axis = 0; axis < 3; axis++) {
        const int far = abs(node->at[axis]);
        rule->reach[axis] = far > rule->reach[axis] ? far : rule->reach[axis];
    }
}

/* Copies the nodes that are needed; place[]: the new number of each. */
static void copy_nodes(const sel_builder *builder, const bool *needed, int last, int *place,
                       sel_rule *rule, sel_rule_node *to) {
    for (int i = 0; i <= last; i++) {
        if (needed[i]) {
            sel_rule_node *n = &to[rule->nodes];
            *n = *sel_builder_node(builder, i);
            for (int k = 0; k < sel_rule_operands(n); k++) {
                n->operand[k] = place[n->operand[k]];
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
    sel_rule_node *node = sel_arena_alloc(arena, (size_t)count * sizeof *node);
    sel_rule_output *to = sel_arena_alloc(arena, ((size_t)outputs + 1) * sizeof *to);
    const bool enough = needed && place && rule && node && to;
    if (enough) {
        copy_nodes(builder, needed, last, place, rule, node);
        for (int i = 0; i < outputs; i++) {
            to[i] = (sel_rule_output){output[i].field, place[output[i].node]};
        }
        rule->node = node;
        rule->output = to;
        rule->outputs = outputs;
        rule->fails = fails >= 0 ? place[fails] : -1;
    }
    free(needed);
    free(place);
    return enough ? rule : NULL;
}

/* A whole number that C can convert. */
static int64_t to_integer(double value) {
    return fabs(value) < 0x1p63 ? (int64_t)value : 0;
}

static double argument(const sel_rule_place *at, int which) {
    return which < SEL_ARGUMENT_T    ? at->place[which]
           : which == SEL_ARGUMENT_T ? at->t
                                     : at->controls[which - SEL_ARGUMENT_CONTROL];
}

static double look_up(const sel_rule_node *n, const double *values) {
    double operand[SEL_LOOKUP_ARGUMENTS], out;
    const double *arguments[SEL_LOOKUP_ARGUMENTS];
    for (int k = 0; k < n->lookup->arguments; k++) {
        operand[k] = values[n->operand[k]];
        arguments[k] = &operand[k];
    }
    sel_lookup_values(n->lookup, 1, arguments, &out);
    return out;
}

double sel_rule_value(const sel_rule_node *n, const sel_rule_place *at, const double *values) {
    const double a = sel_rule_operands(n) > 0 ? values[n->operand[0]] : 0;
    const double b = values[n->operand[1]];
    const int place[3] = {n->at[0], n->at[1], n->at[2]};
    switch (n->op) {
    case SEL_OP_CONSTANT:
        return n->value;
    case SEL_OP_ARGUMENT:
        return argument(at, n->operand[0]);
    case SEL_OP_LOOKUP:
        return look_up(n, values);
    case SEL_RULE_READ:
        return at->read(at, n->field, place);
    case SEL_RULE_DT:
        return at->dt;
    case SEL_RULE_RANDOM:
        return at->random(at, to_integer(a));
    default:
        return n->op < SEL_OP_COUNT ? sel_program_value(n->op, a, b, values[n->operand[2]])
                                    : sel_rule_bits(n->op, to_integer(a), to_integer(b));
    }
}

void sel_rule_eval(const sel_rule *rule, const sel_rule_place *at, double *scratch, double *out,
                   bool *fails) {
    for (int i = 0; i < rule->nodes; i++) {
        scratch[i] = 0; /* an operand that is not used is node 0 */
        scratch[i] = sel_rule_value(&rule->node[i], at, scratch);
    }
    for (int k = 0; k < rule->outputs; k++) {
        out[k] = scratch[rule->output[k].node];
    }
    *fails = rule->fails >= 0 && scratch[rule->fails] != 0;
}
