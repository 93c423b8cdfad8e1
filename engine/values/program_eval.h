/* program_eval.h -- what each instruction of a function's program computes, and one place at a
 * time.
 *
 * The arithmetic is that of Lua 5.4 on floats, to the bit: its floor division and modulo, its power
 * (a square is a product; CPOW is the C library's), its order of comparison in min and max.
 * Conditions are 0 or 1. C11 and C++17, so that devices compile the same source; the includer may
 * define SEL_PROGRAM_INLINE to add its qualifiers.
 */
#ifndef SEL_PROGRAM_EVAL_H
#define SEL_PROGRAM_EVAL_H

#include <math.h>
#include <stdint.h>

#ifndef SEL_PROGRAM_INLINE
#define SEL_PROGRAM_INLINE static inline
#endif

SEL_PROGRAM_INLINE double sel_program_mod(double a, double b) {
    double m = fmod(a, b);
    return (m > 0 && b < 0) || (m < 0 && b > 0) ? m + b : m;
}

SEL_PROGRAM_INLINE double sel_program_pow(double a, double b) {
    return b == 2 ? a * a : pow(a, b);
}

/* OP(name, operands, value): `a`, `b` and `c` are the operands.
 * WHOLE turns -0 into 0, as for a float that becomes an integer of Lua. */
/* QUICK ones take few machine instructions, or are frequent. */
#define SEL_PROGRAM_QUICK_OPS(OP)            \
    OP(ADD, 2, a + b)                        \
    OP(SUB, 2, a - b)                        \
    OP(MUL, 2, a *b)                         \
    OP(DIV, 2, a / b)                        \
    OP(UNM, 1, -a)                           \
    OP(SQRT, 1, sqrt(a))                     \
    OP(EXP, 1, exp(a))                       \
    OP(FLOOR, 1, floor(a))                   \
    OP(ABS, 1, fabs(a))                      \
    OP(MIN, 2, b < a ? b : a)                \
    OP(MAX, 2, a < b ? b : a)                \
    OP(LT, 2, a < b ? 1.0 : 0.0)             \
    OP(LE, 2, a <= b ? 1.0 : 0.0)            \
    OP(EQ, 2, a == b ? 1.0 : 0.0)            \
    OP(NOT, 1, a != 0 ? 0.0 : 1.0)           \
    OP(AND, 2, a != 0 && b != 0 ? 1.0 : 0.0) \
    OP(OR, 2, a != 0 || b != 0 ? 1.0 : 0.0)  \
    OP(SELECT, 3, a != 0 ? b : c)

#define SEL_PROGRAM_OTHER_OPS(OP)     \
    OP(MOD, 2, sel_program_mod(a, b)) \
    OP(IDIV, 2, floor(a / b))         \
    OP(POW, 2, sel_program_pow(a, b)) \
    OP(CPOW, 2, pow(a, b))            \
    OP(LOG, 1, log(a))                \
    OP(LOG2, 1, log2(a))              \
    OP(LOG10, 1, log10(a))            \
    OP(SIN, 1, sin(a))                \
    OP(COS, 1, cos(a))                \
    OP(TAN, 1, tan(a))                \
    OP(SINH, 1, sinh(a))              \
    OP(COSH, 1, cosh(a))              \
    OP(TANH, 1, tanh(a))              \
    OP(ASIN, 1, asin(a))              \
    OP(ACOS, 1, acos(a))              \
    OP(ATAN2, 2, atan2(a, b))         \
    OP(CEIL, 1, ceil(a))              \
    OP(FMOD, 2, fmod(a, b))           \
    OP(WHOLE, 1, a + 0.0)

#define SEL_PROGRAM_OPS(OP)   \
    SEL_PROGRAM_QUICK_OPS(OP) \
    SEL_PROGRAM_OTHER_OPS(OP)

#define SEL_PROGRAM_ENUM(name, operands, value) SEL_OP_##name,
typedef enum sel_op {
    SEL_PROGRAM_OPS(SEL_PROGRAM_ENUM)
        SEL_OP_COUNT, /* of the operations above; what follows has no formula */
    SEL_OP_CONSTANT = SEL_OP_COUNT,
    SEL_OP_ARGUMENT, /* x, y, z, t or a control */
    SEL_OP_LOOKUP
} sel_op;
#undef SEL_PROGRAM_ENUM

/* to = op(a, b, c), all registers. LOOKUP: `a` is the number of the call. */
typedef struct sel_instruction {
    uint8_t op;
    uint16_t to, a, b, c;
} sel_instruction;

/* The value of one operation; unused operands are ignored. */
SEL_PROGRAM_INLINE double sel_program_value(int op, double a, double b, double c) {
    (void)b;
    (void)c;
    switch (op) {
#define SEL_PROGRAM_CASE(name, operands, value) \
    case SEL_OP_##name:                         \
        return value;
        SEL_PROGRAM_OPS(SEL_PROGRAM_CASE)
#undef SEL_PROGRAM_CASE
    default:
        return 0;
    }
}

/* Runs `count` instructions, none of them a LOOKUP, on the registers of one place. */
SEL_PROGRAM_INLINE void sel_program_run(const sel_instruction *code, int count, double *registers) {
    for (int i = 0; i < count; i++) {
        const sel_instruction *in = &code[i];
        registers[in->to] =
            sel_program_value(in->op, registers[in->a], registers[in->b], registers[in->c]);
    }
}

#endif
