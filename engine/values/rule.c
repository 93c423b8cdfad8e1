/* rule.c -- the graph of a function, copied from a builder without what nothing needs. */
#include "engine/values/rule.h"

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
            const int operands = sel_rule_operands(n);
            for (int k = 0; k < SEL_LOOKUP_ARGUMENTS; k++) { /* which argument: stays */
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
