/* program_eval.h -- evaluate a function's program: what each instruction computes, and programs in
 * the form in which devices hold them.
 *
 * The arithmetic is that of Lua 5.4 on floats, to the bit: its floor division and modulo, its power
 * (a square is a product; CPOW is the C library's), its order of comparison in min and max.
 * Conditions are 0 or 1. Plain enough for C11 and for C++17, so that devices compile the same
 * source; the includer may define SEL_VALUE_INLINE to add its qualifiers.
 */
#ifndef SEL_PROGRAM_EVAL_H
#define SEL_PROGRAM_EVAL_H

#include "engine/values/lookup_value.h"

SEL_VALUE_INLINE double sel_program_mod(double a, double b) {
    double m = fmod(a, b);
    return (m > 0 && b < 0) || (m < 0 && b > 0) ? m + b : m;
}

SEL_VALUE_INLINE double sel_program_pow(double a, double b) {
    return b == 2 ? a * a : pow(a, b);
}

/* OP(name, operands, value): `a`, `b` and `c` are the operands. WHOLE turns -0 into 0, as when a
 * float of Lua becomes an integer. */
#define SEL_PROGRAM_OPS(OP)                  \
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
    OP(SELECT, 3, a != 0 ? b : c)            \
    OP(MOD, 2, sel_program_mod(a, b))        \
    OP(IDIV, 2, floor(a / b))                \
    OP(POW, 2, sel_program_pow(a, b))        \
    OP(CPOW, 2, pow(a, b))                   \
    OP(LOG, 1, log(a))                       \
    OP(LOG2, 1, log2(a))                     \
    OP(LOG10, 1, log10(a))                   \
    OP(SIN, 1, sin(a))                       \
    OP(COS, 1, cos(a))                       \
    OP(TAN, 1, tan(a))                       \
    OP(SINH, 1, sinh(a))                     \
    OP(COSH, 1, cosh(a))                     \
    OP(TANH, 1, tanh(a))                     \
    OP(ASIN, 1, asin(a))                     \
    OP(ACOS, 1, acos(a))                     \
    OP(ATAN2, 2, atan2(a, b))                \
    OP(CEIL, 1, ceil(a))                     \
    OP(FMOD, 2, fmod(a, b))                  \
    OP(WHOLE, 1, a + 0.0)

#define SEL_PROGRAM_ENUM(name, operands, value) SEL_OP_##name,
typedef enum sel_op {
    SEL_PROGRAM_OPS(SEL_PROGRAM_ENUM)
        SEL_OP_COUNT, /* of the operations above; what follows has no formula */
    SEL_OP_CONSTANT = SEL_OP_COUNT,
    SEL_OP_ARGUMENT, /* x, y, z, t or a control */
    SEL_OP_LOOKUP
} sel_op;
#undef SEL_PROGRAM_ENUM

/* Operations of rules beyond these (rule.h). */
typedef enum sel_rule_op {
    SEL_RULE_READ = 128, /* `field` of the cell `at` further along the axes */
    SEL_RULE_DT,
    SEL_RULE_RANDOM, /* sel.random(operand) */
    SEL_RULE_BAND,   /* of Lua's integers */
    SEL_RULE_BOR,
    SEL_RULE_BXOR,
    SEL_RULE_BNOT,
    SEL_RULE_SHL,
    SEL_RULE_SHR
} sel_rule_op;

/* Those on bits. Shifts by negative distances go the other way; bits that leave are lost. */
SEL_VALUE_INLINE double sel_rule_bits(int op, int64_t a, int64_t b) {
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    const int64_t by = op == SEL_RULE_SHL ? b : b > -64 ? -b : 64;
    const uint64_t shifted = by <= -64 || by >= 64 ? 0 : by >= 0 ? x << by : x >> -by;
    return (double)(int64_t)(op == SEL_RULE_BAND   ? x & y
                             : op == SEL_RULE_BOR  ? x | y
                             : op == SEL_RULE_BXOR ? x ^ y
                             : op == SEL_RULE_BNOT ? ~x
                                                   : shifted);
}

/* The value of one operation; unused operands are ignored. */
SEL_VALUE_INLINE double sel_program_value(int op, double a, double b, double c) {
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

/* ---- programs and their data in one block of memory, one place at a time ----
 *
 * Tables that name each other by number, so that the block may lie anywhere. The registers of a
 * place stand in two areas: those that are the same at all places (constants, t, controls and what
 * follows from them), filled by sel_packed_once, which many places may share; and the place's own,
 * `stride` numbers apart, so that the same register of many places may lie together. The values are
 * those of sel_program_eval, to the bit, where the processor's sin, exp and so on are the same. */

/* An instruction to = op(a, b, c) is one word: the operation, then four registers. Of a LOOKUP, `a`
 * is the number of its call. */
enum { SEL_PACKED_OP_BITS = 8, SEL_PACKED_BITS = 14 };
enum { SEL_PROGRAM_RESULTS = 3, SEL_LOOKUP_ARGUMENTS = 4 };

/* The arguments of a program: coordinates, time, then control k as SEL_ARGUMENT_CONTROL + k. */
enum {
    SEL_ARGUMENT_X,
    SEL_ARGUMENT_Y,
    SEL_ARGUMENT_Z,
    SEL_ARGUMENT_T,
    SEL_ARGUMENT_CONTROL,
    SEL_NO_ARGUMENT = -1 /* a constant */
};

/* A register that is filled before the instructions run. */
typedef struct sel_packed_input {
    double value; /* of constants */
    int32_t to;
    int32_t argument; /* SEL_NO_ARGUMENT, SEL_ARGUMENT_X, ... */
} sel_packed_input;

/* The value of one that is the same at all places. */
SEL_VALUE_INLINE double sel_input_value(const sel_packed_input *input, double t,
                                        const double *controls) {
    return input->argument == SEL_NO_ARGUMENT  ? input->value
           : input->argument == SEL_ARGUMENT_T ? t
                                               : controls[input->argument - SEL_ARGUMENT_CONTROL];
}

typedef struct sel_packed_lookup {
    int64_t kind;
    int64_t first; /* of its numbers: the times and values of a series, or a raster's pixels */
    sel_series_rule series;
    sel_raster raster; /* its `value` and `keys` are not used */
} sel_packed_lookup;

typedef struct sel_packed_call {
    int32_t lookup;
    uint16_t arguments[SEL_LOOKUP_ARGUMENTS]; /* registers */
} sel_packed_call;

/* The layout of a program. Registers below `fixed` keep their value from place to place (constants,
 * t, controls, and what follows from them); the program's `own` are computed anew at each place, of
 * which the first `per_row` hold functions of y and z to combine with x, and nothing else. */
typedef struct sel_packed_program {
    int64_t input, code, call;   /* its first rows in the tables */
    int32_t inputs, coordinates; /* of `input`: the same at all places, then those of the place */
    int32_t once, each;          /* instructions of `code`: per call, then per place, */
    int32_t of_x, of_yz;         /* of which the first depend on x alone, then on y and z alone */
    int32_t fixed, per_row, own;
    int32_t result[SEL_PROGRAM_RESULTS]; /* registers; those that are not used repeat the first */
    /* Register that is 1 where the results are those of Lua, 0 where only Lua can compute them
     * (whole numbers beyond 2^53, look-ups outside their data). has_exact 0: 1 everywhere. */
    int32_t has_exact, exact;
} sel_packed_program;

/* The tables. */
typedef struct sel_packed {
    const sel_packed_program *program;
    const sel_packed_input *input;
    const uint64_t *code;
    const sel_packed_call *call;
    const sel_packed_lookup *lookup;
    const double *number;
} sel_packed;

typedef struct sel_packed_registers {
    double *fixed, *own;
    int32_t fixed_count, stride;
} sel_packed_registers;

SEL_VALUE_INLINE double *sel_packed_register(const sel_packed_registers *registers, int32_t r) {
    return r < registers->fixed_count
               ? registers->fixed + r
               : registers->own + (int64_t)(r - registers->fixed_count) * registers->stride;
}

SEL_VALUE_INLINE int sel_packed_op(uint64_t word) {
    return (int)(word & ((1u << SEL_PACKED_OP_BITS) - 1));
}

/* Operand 0 to 3 of an instruction: to, a, b, c. */
SEL_VALUE_INLINE int32_t sel_packed_operand(uint64_t word, int k) {
    return (int32_t)(word >> (SEL_PACKED_OP_BITS + k * SEL_PACKED_BITS) &
                     ((1u << SEL_PACKED_BITS) - 1));
}

/* NaN where the data have no value. */
SEL_VALUE_INLINE double sel_packed_look_up(const sel_packed *packed, int32_t which,
                                           const double at[SEL_LOOKUP_ARGUMENTS]) {
    const sel_packed_lookup *lookup = &packed->lookup[which];
    const double *number = packed->number + lookup->first;
    int64_t hint = 0;
    if (lookup->kind == SEL_LOOKUP_SERIES) {
        return sel_series_value(&lookup->series, number, number + lookup->series.n, at[0], &hint);
    }
    if (lookup->kind == SEL_LOOKUP_RASTER) {
        return sel_raster_interpolate(&lookup->raster, number, at[0], at[1]);
    }
    return sel_noise(at[0], at[1], at[2], at[3]);
}

SEL_VALUE_INLINE void sel_packed_run(const sel_packed *packed, const sel_packed_program *program,
                                     int32_t from, int32_t count,
                                     const sel_packed_registers *registers) {
    const uint64_t *code = packed->code + program->code + from;
    for (int32_t i = 0; i < count; i++) {
        uint64_t word = code[i];
        int op = sel_packed_op(word);
        double *to = sel_packed_register(registers, sel_packed_operand(word, 0));
        if (op == SEL_OP_LOOKUP) {
            const sel_packed_call *call =
                packed->call + program->call + sel_packed_operand(word, 1);
            double at[SEL_LOOKUP_ARGUMENTS];
            for (int k = 0; k < SEL_LOOKUP_ARGUMENTS; k++) {
                at[k] = *sel_packed_register(registers, call->arguments[k]);
            }
            *to = sel_packed_look_up(packed, call->lookup, at);
        } else {
            *to =
                sel_program_value(op, *sel_packed_register(registers, sel_packed_operand(word, 1)),
                                  *sel_packed_register(registers, sel_packed_operand(word, 2)),
                                  *sel_packed_register(registers, sel_packed_operand(word, 3)));
        }
    }
}

/* Fills `fixed`, the registers that are the same at all places. */
SEL_VALUE_INLINE void sel_packed_once(const sel_packed *packed, int32_t number, double t,
                                      const double *controls, double *fixed) {
    const sel_packed_program *program = &packed->program[number];
    const sel_packed_registers registers = {fixed, fixed, program->fixed, 0};
    for (int32_t i = 0; i < program->inputs; i++) {
        const sel_packed_input *input = &packed->input[program->input + i];
        fixed[input->to] = sel_input_value(input, t, controls);
    }
    sel_packed_run(packed, program, 0, program->once, &registers);
}

/* Evaluates a place into result[]. False where only Lua can compute the values. */
SEL_VALUE_INLINE bool sel_packed_each(const sel_packed *packed, int32_t number,
                                      const double place[3], double *fixed, double *own,
                                      int32_t stride, double result[SEL_PROGRAM_RESULTS]) {
    const sel_packed_program *program = &packed->program[number];
    const sel_packed_registers registers = {fixed, own, program->fixed, stride};
    for (int32_t i = 0; i < program->coordinates; i++) {
        const sel_packed_input *input = &packed->input[program->input + program->inputs + i];
        int32_t axis = input->argument;
        *sel_packed_register(&registers, input->to) = axis == 0   ? place[0]
                                                      : axis == 1 ? place[1]
                                                                  : place[2];
    }
    sel_packed_run(packed, program, program->once, program->each, &registers);
    result[0] = *sel_packed_register(&registers, program->result[0]);
    result[1] = *sel_packed_register(&registers, program->result[1]);
    result[2] = *sel_packed_register(&registers, program->result[2]);
    return !program->has_exact || *sel_packed_register(&registers, program->exact) != 0;
}

#endif
