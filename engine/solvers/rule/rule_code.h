/* rule_code.h -- the instructions into which sel.rule makes a function, for the processor and for
 * devices. C11 and C++17.
 */
#ifndef SEL_RULE_CODE_H
#define SEL_RULE_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RULE_FIELDS = 64, /* SEL_MOST_CELL_FIELDS */
    RULE_ROW = 256,   /* cells computed together on the processor: a piece of a row */
    RULE_ODD = 128    /* in a cell's kind: it is not computed like others, or sees a wall */
};

/* Of numbers in a row. */
typedef enum rule_type { RULE_F, RULE_D, RULE_I } rule_type; /* float, double, int32_t */

/* Operations beside those of sel_op and sel_rule_op. */
enum { RULE_CONVERT = 192, RULE_SHIFT, RULE_MASK, RULE_CHAIN };

/* OP(name, value): what they give of a and b, which have one type: any; reals, whose functions end
 * with `f`; whole numbers. Other operations are computed in doubles. Of b = 0, which only a side
 * that is not taken divides by, anything will do. */
#define RULE_NUMBERS(OP)   \
    OP(ADD, a + b)         \
    OP(SUB, a - b)         \
    OP(MUL, a *b)          \
    OP(UNM, -a)            \
    OP(MIN, b < a ? b : a) \
    OP(MAX, a < b ? b : a)
#define RULE_COMPARISONS(OP) OP(LT, a < b) OP(LE, a <= b) OP(EQ, a == b)
#define RULE_REALS(OP, f)  \
    OP(DIV, a / b)         \
    OP(SQRT, sqrt##f(a))   \
    OP(FLOOR, floor##f(a)) \
    OP(CEIL, ceil##f(a))   \
    OP(ABS, fabs##f(a))    \
    OP(WHOLE, a + 0)
#define RULE_WHOLES(OP)                                                \
    OP(ABS, a < 0 ? -a : a)                                            \
    OP(IDIV, (int32_t)floor((double)a / (b ? b : 1)))                  \
    OP(MOD, a - (b ? b : 1) * (int32_t)floor((double)a / (b ? b : 1))) \
    OP(AND, a != 0 && b != 0)                                          \
    OP(OR, a != 0 || b != 0)                                           \
    OP(NOT, a == 0)

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
                 * of LOOKUP, whose arguments are doubles, which, of CHAIN the first of its links */
    int placed; /* of CHAIN: 1 + the output that it alone makes, or 0 */
} rule_instruction;

/* A value that is the same in all cells: of a node, in this type. */
typedef struct rule_same {
    int node;
    rule_type type;
} rule_same;

typedef struct rule_read {
    int field, at[3];
} rule_read;

typedef struct rule_result {
    int field, slot; /* of the output: its number */
    rule_type type;
    bool checked; /* the value may not fit the field */
    bool direct;  /* a chain makes it, as the field has it, and nothing else needs it */
} rule_result;

/* A function. Slots: first the uniform values, then what is read, then registers. */
typedef struct rule_code {
    int count, links, uniforms, reads, slots, outputs, fails; /* fails: a slot, or -1 */
    const rule_instruction *v;
    const rule_link *link;
    const rule_read *read;
    const rule_result *output;
    const rule_same *uniform;
    const struct sel_program_call *call; /* the look-ups of all functions of a model, each once */
    const bool *same;                    /* by node: the value is the same in all cells */
    int first;     /* where its uniform values stand in a row of those of all functions */
    unsigned vary; /* what they depend on: SEL_ON_... */
    bool reports;  /* it may call error, or give what does not fit a field */
    bool numbers;  /* the outputs are no fields but numbers */
} rule_code;

#endif
