/* rule_eval.h -- the graph of a rule at one cell, node by node in f64: the reference of programs.
 */
#ifndef RULE_EVAL_H
#define RULE_EVAL_H

#include <math.h>
#include "engine/values/rule.h"

/* A whole number that C can convert. */
static inline int64_t to_integer(double value) {
    return fabs(value) < 0x1p63 ? (int64_t)value : 0;
}

static inline double argument_of(const sel_rule_place *at, int which) {
    return which == SEL_ARGUMENT_DT  ? at->dt
           : which < SEL_ARGUMENT_T  ? at->place[which]
           : which == SEL_ARGUMENT_T ? at->t
                                     : at->controls[which - SEL_ARGUMENT_CONTROL];
}

static inline double look_up(const sel_rule_node *n, const double *values) {
    double operand[SEL_LOOKUP_ARGUMENTS], out;
    const double *arguments[SEL_LOOKUP_ARGUMENTS];
    for (int k = 0; k < n->lookup->arguments; k++) {
        operand[k] = values[n->operand[k]];
        arguments[k] = &operand[k];
    }
    sel_lookup_values(n->lookup, 1, arguments, &out);
    return out;
}

static inline double rule_node_value(const sel_rule_node *n, const sel_rule_place *at,
                                     const double *values) {
    const double a = sel_rule_operands(n) > 0 ? values[n->operand[0]] : 0;
    const double b = values[n->operand[1]];
    const int place[3] = {n->at[0], n->at[1], n->at[2]};
    switch (n->op) {
    case SEL_OP_CONSTANT:
        return n->value;
    case SEL_OP_ARGUMENT:
        return argument_of(at, n->operand[0]);
    case SEL_OP_LOOKUP:
        return look_up(n, values);
    case SEL_RULE_READ:
        return at->read(at, n->field, place);
    case SEL_RULE_RANDOM:
        return at->random(at, to_integer(a));
    default:
        return n->op < SEL_OP_COUNT ? sel_program_value(n->op, a, b, values[n->operand[2]])
                                    : sel_rule_bits(n->op, to_integer(a), to_integer(b));
    }
}

/* out[k]: of output k; *fails: whether the function calls error there. `scratch`: [rule->nodes]. */
static inline void rule_eval(const sel_rule *rule, const sel_rule_place *at, double *scratch,
                             double *out, bool *fails) {
    for (int i = 0; i < rule->nodes; i++) {
        scratch[i] = 0; /* an operand that is not used is node 0 */
        scratch[i] = rule_node_value(&rule->node[i], at, scratch);
    }
    for (int k = 0; k < rule->outputs; k++) {
        out[k] = scratch[rule->output[k].node];
    }
    *fails = rule->fails >= 0 && scratch[rule->fails] != 0;
}

#endif
