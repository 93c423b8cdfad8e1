/* rule_interpret.h -- functions of sel.rule as tables, for devices without a compiler at run time.
 *
 * Plain C, shared by rule_tables.c and rule_interpret.cuh.
 */
#ifndef RULE_INTERPRET_H
#define RULE_INTERPRET_H

#include "cuda/rule_view.h"

enum {
    RULE_PACKED_THREADS = 128, /* of a block */
    RULE_STEP_RANDOM = 130,    /* SEL_RULE_RANDOM of engine/values/rule.h; then those on bits */
    RULE_STEP_CONVERT = 192,   /* RULE_CONVERT, ... of engine/solvers/rule/rule.h */
    RULE_STEP_SHIFT,
    RULE_STEP_MASK
};

/* slot[to] = op(slot[from[0]], ...) in a rule_type. */
typedef struct rule_packed_op {
    uint8_t op, type;
    uint16_t to, from[4];
    int32_t number;
} rule_packed_op;

typedef struct rule_packed_read {
    int32_t field, at[3];
} rule_packed_read;

typedef struct rule_packed_store {
    int32_t field, slot, type, checked;
} rule_packed_store;

typedef struct rule_packed {
    const rule_packed_op *op;
    const rule_packed_read *read;
    const rule_packed_store *store;
    int ops, uniforms, reads, stores, slots, fails, numbers, wide;
    uint8_t type[RULE_VIEW_FIELDS]; /* sel_cell_type of the fields */
    double *slot;                   /* [slots][threads] */
    int64_t threads;
} rule_packed;

#endif
