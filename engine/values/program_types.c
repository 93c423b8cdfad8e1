/* program_types.c -- finds the types of a program's values. */
#include "engine/values/program_types.h"
#include <math.h>

static const sel_rule_node *node_of(const sel_types *t, int n) {
    return &t->rule->node[n];
}

static bool is_of_cell(const sel_types *t, int n) {
    return node_of(t, n)->depends & (SEL_ON_CELL | SEL_ON_STEP);
}

/* Whether a value is a real that is computed from coordinates and uniform values alone. */
static bool is_of_place(const sel_types *t, int n) {
    const sel_rule_node *node = node_of(t, n);
    return node->depends & SEL_ON_PLACE && !is_of_cell(t, n) && !node->whole;
}

sel_number sel_type_of(const sel_types *t, int n) {
    const sel_rule_node *node = node_of(t, n);
    if (node->op == SEL_RULE_READ) {
        return t->form->field[node->field].type == SEL_CELL_REAL ? sel_real_type(t->form)
                                                                 : SEL_NUMBER_I;
    }
    if (node->op == SEL_RULE_RANDOM || node->op == SEL_OP_LOOKUP) {
        return SEL_NUMBER_D;
    }
    if (sel_op_is_condition(node->op)) {
        return SEL_NUMBER_I;
    }
    const bool constant = node->op == SEL_OP_CONSTANT;
    const double low = constant ? node->value : node->low, high = constant ? low : node->high;
    return is_of_place(t, n) ? SEL_NUMBER_D
           : !node->whole    ? t->wide[n] ? SEL_NUMBER_D : sel_real_type(t->form)
           : low >= INT32_MIN && high <= INT32_MAX ? SEL_NUMBER_I
                                                   : SEL_NUMBER_D;
}

/* Whether an operation gives one of its operands, as it is, negative or rounded. */
static bool passes_on(int op) {
    return op == SEL_OP_SELECT || op == SEL_OP_MIN || op == SEL_OP_MAX || op == SEL_OP_ABS ||
           op == SEL_OP_UNM || op == SEL_OP_WHOLE || op == SEL_OP_FLOOR || op == SEL_OP_CEIL;
}

/* Finds `wide` of a node from that of its operands. Of reals that are rounded nothing is known, but
 * a float holds what a float is rounded to. */
static void find_wide(sel_types *t, int n) {
    const sel_rule_node *node = node_of(t, n);
    const int op = node->op;
    const bool rounds = op == SEL_OP_WHOLE || op == SEL_OP_FLOOR || op == SEL_OP_CEIL;
    bool wide = false, of_reals = false;
    for (int k = op == SEL_OP_SELECT; k < sel_rule_operands(node); k++) {
        const int from = node->operand[k];
        const bool constant = node_of(t, from)->op == SEL_OP_CONSTANT;
        const bool of_double =
            sel_type_of(t, from) == SEL_NUMBER_D || sel_is_uniform(t->rule, from);
        wide = wide || (rounds && of_double) || (t->wide[from] && (node->whole || !constant));
        of_reals = of_reals || (sel_type_of(t, from) == SEL_NUMBER_F && is_of_cell(t, from));
    }
    const bool passed = passes_on(op) && sel_rule_of_integers(t->rule->node, n) < 0;
    const bool large = !(fabs(node->low) <= 0x1p24 && fabs(node->high) <= 0x1p24);
    t->wide[n] = op == SEL_OP_CONSTANT ? node->whole && node->value != (double)(float)node->value
                 : node->whole         ? large && (wide || !passed)
                                       : wide && is_of_cell(t, n) && (passed || !of_reals);
}

void sel_types_find(sel_types *t) {
    for (int n = 0; n < t->rule->nodes; n++) {
        find_wide(t, n);
    }
}

sel_number sel_common_type(sel_number a, sel_number b) {
    return a == b ? a : a == SEL_NUMBER_D || b == SEL_NUMBER_D ? SEL_NUMBER_D : SEL_NUMBER_F;
}

/* Whether a real is computed in double, and not an integer on one side of a branch. */
static bool is_rounded(const sel_types *t, int n) {
    const sel_rule_node *node = node_of(t, n);
    return is_of_place(t, n) || (t->wide[n] && !node->whole && !passes_on(node->op));
}

/* The type in which nodes a and b are compared: their common type, but double if one is an integer
 * that a float may not hold. A real in double, of the place or of integers, that is compared with a
 * float of a cell is rounded to float first. */
static sel_number comparison_type(const sel_types *t, int a, int b) {
    const sel_number of_a = sel_type_of(t, a), of_b = sel_type_of(t, b);
    const sel_rule_node *whole = of_a == SEL_NUMBER_I ? node_of(t, a) : node_of(t, b);
    const bool large = whole->whole && !(fabs(whole->low) <= 0x1p24 && fabs(whole->high) <= 0x1p24);
    const bool rounds =
        (of_a == SEL_NUMBER_F && is_rounded(t, b)) || (of_b == SEL_NUMBER_F && is_rounded(t, a));
    const bool of_cell = (node_of(t, a)->depends | node_of(t, b)->depends) & SEL_ON_CELL;
    if (rounds && of_cell) {
        return SEL_NUMBER_F;
    }
    return of_a != of_b && large ? SEL_NUMBER_D : sel_common_type(of_a, of_b);
}

sel_number sel_operation_type(const sel_types *t, const sel_rule_node *node, sel_number result) {
    const int op = node->op, count = sel_rule_operands(node);
    sel_number type = result;
    if (sel_op_compares(op)) {
        return comparison_type(t, node->operand[0], node->operand[1]);
    }
    if (op == SEL_OP_FLOOR || op == SEL_OP_CEIL || op == SEL_OP_WHOLE) {
        return sel_type_of(t, node->operand[0]);
    }
    const bool real = !node->whole || sel_op_is_condition(op);
    for (int k = op == SEL_OP_SELECT; k < count; k++) {
        const int from = node->operand[k];
        if (!real) {
            type = sel_common_type(type, sel_type_of(t, from));
        } else if (result == SEL_NUMBER_F && t->wide[from] &&
                   node_of(t, from)->op != SEL_OP_CONSTANT) {
            type = SEL_NUMBER_D;
        }
    }
    return type;
}
