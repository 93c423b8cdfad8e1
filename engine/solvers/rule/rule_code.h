/* rule_code.h -- the instructions into which sel.rule makes a function, for the processor and for
 * devices. C11 and C++17.
 */
#ifndef SEL_RULE_CODE_H
#define SEL_RULE_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct sel_lookup;

/* Of numbers in a row. */
typedef enum rule_type { RULE_F, RULE_D, RULE_I } rule_type; /* float, double, int32_t */

/* Operations beside those of sel_op; those on bits follow RANDOM. */
enum {
    RULE_RANDOM = 130 /* SEL_RULE_RANDOM */,
    RULE_CONVERT = 192,
    RULE_SHIFT,
    RULE_MASK,
    RULE_CHAIN
};

/* A step of a chain of sums and products, which stays in the processor's registers: the value so
 * far `op` slot; FROM: slot - value, UNDER: slot / value. The first one is the value to begin with.
 */
typedef enum rule_link_op {
    RULE_ADD,
    RULE_SUB,
    RULE_MUL,
    RULE_DIV,
    RULE_FROM,
    RULE_UNDER
} rule_link_op;
typedef struct rule_link {
    uint16_t op, slot;
} rule_link;
enum { RULE_MOST_LINKS = 64 };

/* slot[to] = op(slot[from[0]], ...) in `type`; of comparisons that is the operands' type, the
 * result is an int32_t 0 or 1. */
typedef struct rule_instruction {
    uint8_t op, type, operands;
    uint16_t to, from[4];
    int number; /* of CONVERT the type of the operand, of ARGUMENT which, of SHIFT and MASK by what,
                 * of CHAIN 1 + the output that it alone makes, or 0 */
    const struct sel_lookup *lookup; /* of LOOKUP, whose arguments are doubles */
    rule_link *link;                 /* of CHAIN: [operands] */
} rule_instruction;

typedef struct rule_read {
    int field, at[3];
} rule_read;

typedef struct rule_result {
    int field, slot; /* of the output: its number */
    rule_type type;
    bool checked; /* the value may not fit the field */
    bool direct;  /* a chain makes it, as the field has it, and nothing else needs it */
} rule_result;

/* A function for devices without a compiler at run time (cuda/rule_interpret.cuh): of a LOOKUP
 * `number` says which, of a CHAIN the first of its links. */
typedef struct rule_packed {
    const rule_instruction *op;
    const rule_link *link;
    const rule_read *read;
    const rule_result *store;
    int ops, links, uniforms, reads, stores, slots, fails, numbers, wide;
    uint8_t type[64]; /* sel_cell_type of the fields */
    double *slot;     /* [slots][threads] */
    int64_t threads;
} rule_packed;
enum { RULE_PACKED_THREADS = 128 /* of a block */ };

#endif
