/* rule.c -- the nodes of a graph of a function. */
#include "engine/values/rule.h"

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
