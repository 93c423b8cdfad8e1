/* program_types.h -- the types in which programs compute the values of a graph.
 *
 * Uniform values (constants, t, dt, controls and what is computed from them) are computed once per
 * call or step, in double. The other values are computed per place. Reals have the precision of the
 * run; but values computed from coordinates and uniform values alone are double, since floats would
 * not distinguish cells far from the origin. Integers are int32_t if their bounds allow, else
 * double, which is exact to 2^53. What is computed from integers that a float may not hold is
 * double, too, until a real of a cell comes in: such an operation is computed in double and
 * rounded. If all operands are bytes, machine code may use uint8_t arithmetic that saturates at
 * 255.
 */
#ifndef SEL_PROGRAM_TYPES_H
#define SEL_PROGRAM_TYPES_H

#include "engine/values/rule.h"

typedef struct sel_types {
    const sel_rule *rule;
    const sel_program_form *form;
    /* By node: it may be an integer that a float does not hold; or, of reals, it may be one, or is
     * computed from such integers without reals of cells. */
    bool *wide;
} sel_types;

/* Sets wide[]. */
void sel_types_find(sel_types *types);

/* Whether a value is the same at all places. */
static inline bool sel_is_uniform(const sel_rule *rule, int n) {
    return !(rule->node[n].depends & (SEL_ON_PLACE | SEL_ON_CELL | SEL_ON_STEP));
}

/* The type of reals that cells hold. */
static inline sel_number sel_real_type(const sel_program_form *form) {
    return form->single ? SEL_NUMBER_F : SEL_NUMBER_D;
}

/* The natural type of a value: the one in which it is computed, before any conversion. */
sel_number sel_type_of(const sel_types *types, int n);

/* The type in which operands of types a and b are computed. */
sel_number sel_common_type(sel_number a, sel_number b);

/* The type in which an operation is computed; its value is then converted to `result`. */
sel_number sel_operation_type(const sel_types *types, const sel_rule_node *node, sel_number result);

#endif
