/* program_eval.h -- evaluate a function's program: its instructions, what each computes, and
 * programs in the form in which devices hold them.
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
    SEL_RULE_RANDOM,     /* sel.random(operand) */
    SEL_RULE_BAND,       /* of Lua's integers */
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

/* ---- instructions ----
 *
 * They read and write slots. A slot holds a number for each place that is evaluated together: a row
 * on the processor. First come the uniform values, the same at all places (constants, t, dt,
 * controls and what follows from them), which are computed once, in doubles; then what is read of
 * cells; then registers, shared by values that are not needed at the same time.
 */

/* The most places of a row: so many that all slots stay in the first-level cache. */
enum { SEL_ROW = 256 };

/* Of the numbers in a slot: float, double, int32_t. Machine code computes some programs in uint8_t
 * instead of int32_t (sel_program.bytes), where 255 stands for all that are larger. */
typedef enum sel_number { SEL_NUMBER_F, SEL_NUMBER_D, SEL_NUMBER_I } sel_number;

SEL_VALUE_INLINE size_t sel_number_size(int type) {
    return type == SEL_NUMBER_D ? sizeof(double) : sizeof(float);
}

/* Operations beside those of sel_op and sel_rule_op. */
enum { SEL_OP_CONVERT = 192, SEL_OP_SHIFT, SEL_OP_MASK };

/* OP(name, value): what they give of a and b, which have one type: any; reals, whose functions end
 * with `f`; whole numbers. Other operations are computed in doubles. Of b = 0, which only a side
 * that is not taken divides by, anything will do. */
#define SEL_OPS_OF_SUMS(OP) OP(ADD, a + b) OP(SUB, a - b) OP(MUL, a *b) OP(UNM, -a)
#define SEL_OPS_OF_EXTREMES(OP) OP(MIN, b < a ? b : a) OP(MAX, a < b ? b : a)
#define SEL_OPS_OF_NUMBERS(OP) SEL_OPS_OF_SUMS(OP) SEL_OPS_OF_EXTREMES(OP)
#define SEL_OPS_OF_COMPARISON(OP) OP(LT, a < b) OP(LE, a <= b) OP(EQ, a == b)
#define SEL_OPS_OF_REALS(OP, f) \
    OP(DIV, a / b)              \
    OP(SQRT, sqrt##f(a))        \
    OP(FLOOR, floor##f(a))      \
    OP(CEIL, ceil##f(a))        \
    OP(ABS, fabs##f(a))         \
    OP(WHOLE, a + 0)
#define SEL_OPS_OF_WHOLES(OP)                                          \
    OP(ABS, a < 0 ? -a : a)                                            \
    OP(IDIV, (int32_t)floor((double)a / (b ? b : 1)))                  \
    OP(MOD, a - (b ? b : 1) * (int32_t)floor((double)a / (b ? b : 1))) \
    OP(AND, a != 0 && b != 0)                                          \
    OP(OR, a != 0 || b != 0)                                           \
    OP(NOT, a == 0)

/* slot[to] = op(slot[from[0]], ...) in `type`; of comparisons that is the operands' type, the
 * result is an int32_t 0 or 1. */
typedef struct sel_instruction {
    uint8_t op, type, operands;
    uint8_t linked; /* of sums and products: 1 + the operand that is the value before, which nothing
                     * else needs; 0: none is */
    uint8_t placed; /* of these: 1 + the output of which it makes nothing but the value; or 0 */
    uint16_t to, from[4];
    int64_t number; /* of CONVERT the type of the operand, of ARGUMENT which, of SHIFT and MASK by
                     * what, of LOOKUP, whose arguments are doubles, which of the program's */
} sel_instruction;

/* Operations on int32_t that are not the same in doubles, as loops over rows compute them: sums go
 * round at the ends of what there is, and 0 divides like 1. Both happen only on a side that is not
 * taken, or where Lua fails. False: any other operation. */
SEL_VALUE_INLINE bool sel_whole_value(int op, int32_t a, int32_t b, double *value) {
    const uint32_t x = (uint32_t)a, y = (uint32_t)b, by = b ? y : 1;
    const double quotient = floor((double)a / (double)(int32_t)by);
    switch (op) {
    case SEL_OP_ADD:
        *value = (int32_t)(x + y);
        return true;
    case SEL_OP_SUB:
        *value = (int32_t)(x - y);
        return true;
    case SEL_OP_MUL:
        *value = (int32_t)(x * y);
        return true;
    case SEL_OP_UNM:
        *value = (int32_t)(0 - x);
        return true;
    case SEL_OP_ABS:
        *value = (int32_t)(a < 0 ? 0 - x : x);
        return true;
    case SEL_OP_IDIV:
        *value = (int32_t)quotient;
        return true;
    case SEL_OP_MOD:
        *value = (int32_t)(x - by * (uint32_t)(int32_t)quotient);
        return true;
    default:
        return false;
    }
}

/* A number as a type holds it. */
SEL_VALUE_INLINE double sel_number_as(int type, double value) {
    return type == SEL_NUMBER_F   ? (double)(float)value
           : type == SEL_NUMBER_D ? value
                                  : (double)(int32_t)value;
}

/* The result of an instruction for one place in doubles, which hold floats and whole numbers of 32
 * bits exactly: each operation is rounded once more, which gives the same bits for sums, products,
 * quotients and roots. Not of LOOKUP and RANDOM. */
SEL_VALUE_INLINE double sel_instruction_value(const sel_instruction *o, const double place[3],
                                              double a, double b, double c) {
    switch (o->op) {
    case SEL_OP_ARGUMENT:
        a = o->number == 0 ? place[0] : o->number == 1 ? place[1] : place[2];
        break;
    case SEL_OP_CONVERT:
        break;
    case SEL_OP_SHIFT:
        return (double)((int32_t)a >> o->number);
    case SEL_OP_MASK:
        return (double)((int32_t)a & (int32_t)o->number);
    default:
        if (o->type == SEL_NUMBER_I && sel_whole_value(o->op, (int32_t)a, (int32_t)b, &a)) {
            return a;
        }
        a = o->op >= SEL_RULE_BAND ? sel_rule_bits(o->op, (int64_t)a, (int64_t)b)
                                   : sel_program_value(o->op, a, b, c);
    }
    return sel_number_as(o->type, a);
}

/* ---- programs and their data in one block of memory, one place at a time ----
 *
 * Tables that name each other by number, so that the block may lie anywhere. The slots of a place
 * stand in two areas: those that are the same at all places, filled by sel_packed_once, which many
 * places may share; and the place's own, `stride` numbers apart, so that the same slot of many
 * places may lie together. The values are those of sel_program_eval, to the bit, where the
 * processor's sin, exp and so on are the same.
 */

enum { SEL_PROGRAM_RESULTS = 3, SEL_LOOKUP_ARGUMENTS = 4 };

/* The arguments of a program: coordinates, time, then control k as SEL_ARGUMENT_CONTROL + k. */
enum {
    SEL_ARGUMENT_X,
    SEL_ARGUMENT_Y,
    SEL_ARGUMENT_Z,
    SEL_ARGUMENT_T,
    SEL_ARGUMENT_CONTROL,
    SEL_NO_ARGUMENT = -1, /* a constant */
    SEL_ARGUMENT_DT = -2
};

/* A uniform slot that is filled before the instructions run. */
typedef struct sel_packed_input {
    double value; /* of constants */
    int32_t to;
    int32_t argument; /* SEL_NO_ARGUMENT, SEL_ARGUMENT_T, ... */
} sel_packed_input;

SEL_VALUE_INLINE double sel_input_value(const sel_packed_input *input, double t, double dt,
                                        const double *controls) {
    return input->argument == SEL_NO_ARGUMENT   ? input->value
           : input->argument == SEL_ARGUMENT_DT ? dt
           : input->argument == SEL_ARGUMENT_T  ? t
                                                : controls[input->argument - SEL_ARGUMENT_CONTROL];
}

typedef struct sel_packed_lookup {
    int64_t kind;
    int64_t first; /* of its numbers: the times and values of a series, or a raster's pixels */
    sel_series_rule series;
    sel_raster raster; /* its `value` and `keys` are not used */
    /* On the host, of a program by itself, instead of all that: a sel_lookup, and who asks it. */
    const void *host;
    double (*call)(const void *host, const double at[]);
} sel_packed_lookup;

/* A value of a cell at some distance. */
typedef struct sel_read {
    int32_t field, at[3];
} sel_read;

typedef struct sel_program_output {
    int32_t field, slot; /* of a number: which */
    int32_t type;        /* sel_number */
    bool checked;        /* the value may not fit the field */
    bool direct;         /* a sum or product makes it, as the field has it, for nothing else */
} sel_program_output;

/* The layout of a program. */
typedef struct sel_packed_program {
    int64_t input, code, lookup, output;     /* its first rows in the tables */
    int32_t inputs, lookups, reads, outputs; /* and how many there are */
    int32_t once, each;   /* instructions of `code`: for the uniform values, then per place, */
    int32_t of_x, of_yz;  /* of which the first depend on x alone, then on y and z alone */
    int32_t uniforms;     /* slots of uniform values that places need, */
    int32_t fixed;        /* and of these with those that they are computed from */
    int32_t own, per_row; /* of the place; registers of y and z alone that all others leave alone */
    int32_t fails;        /* slot that is not 0 where the results are not those of Lua; -1: none */
    int32_t numbers;      /* the outputs are no fields but numbers */
} sel_packed_program;

/* The tables. */
typedef struct sel_packed {
    const sel_packed_program *program;
    const sel_packed_input *input;
    const sel_instruction *code;
    const int32_t *data; /* of the look-ups of programs: in `lookup` */
    const sel_packed_lookup *lookup;
    const double *number;
    const sel_read *read; /* of a program by itself, on the host */
    const sel_program_output *output;
} sel_packed;

typedef struct sel_packed_slots {
    double *fixed, *own;
    int32_t fixed_count, stride;
} sel_packed_slots;

SEL_VALUE_INLINE double *sel_packed_slot(const sel_packed_slots *slots, int32_t k) {
    return k < slots->fixed_count ? slots->fixed + k
                                  : slots->own + (int64_t)(k - slots->fixed_count) * slots->stride;
}

/* NaN where the data have no value. */
SEL_VALUE_INLINE double sel_packed_look_up(const sel_packed *packed,
                                           const sel_packed_program *program, int64_t which,
                                           const double at[SEL_LOOKUP_ARGUMENTS]) {
    const sel_packed_lookup *lookup = &packed->lookup[packed->data[program->lookup + which]];
    const double *number = packed->number + lookup->first;
    int64_t hint = 0;
#if !defined(__CUDACC__)
    if (lookup->host) {
        return lookup->call(lookup->host, at);
    }
#endif
    if (lookup->kind == SEL_LOOKUP_SERIES) {
        return sel_series_value(&lookup->series, number, number + lookup->series.n, at[0], &hint);
    }
    if (lookup->kind == SEL_LOOKUP_RASTER) {
        return sel_raster_interpolate(&lookup->raster, number, at[0], at[1]);
    }
    return sel_noise(at[0], at[1], at[2], at[3]);
}

/* Instruction number k; not RANDOM. */
SEL_VALUE_INLINE void sel_packed_step(const sel_packed *packed, const sel_packed_program *program,
                                      int32_t k, const double place[3],
                                      const sel_packed_slots *slots) {
    const sel_instruction o = packed->code[program->code + k];
    const double a = *sel_packed_slot(slots, o.from[0]), b = *sel_packed_slot(slots, o.from[1]);
    const double c = *sel_packed_slot(slots, o.from[2]);
    double *to = sel_packed_slot(slots, o.to);
    if (o.op == SEL_OP_LOOKUP) {
        const double at[SEL_LOOKUP_ARGUMENTS] = {a, b, c, *sel_packed_slot(slots, o.from[3])};
        *to = sel_packed_look_up(packed, program, o.number, at);
    } else {
        *to = sel_instruction_value(&o, place, a, b, c);
    }
}

/* Fills `fixed`, the slots that are the same at all places. */
SEL_VALUE_INLINE void sel_packed_once(const sel_packed *packed, int32_t number, double t, double dt,
                                      const double *controls, double *fixed) {
    const sel_packed_program *program = &packed->program[number];
    const sel_packed_slots slots = {fixed, fixed, program->fixed, 0};
    for (int32_t i = 0; i < program->inputs; i++) {
        const sel_packed_input *input = &packed->input[program->input + i];
        fixed[input->to] = sel_input_value(input, t, dt, controls);
    }
    for (int32_t i = 0; i < program->once; i++) {
        sel_packed_step(packed, program, i, fixed, &slots);
    }
}

/* Evaluates a place into result[]. False where only Lua can compute the values. */
SEL_VALUE_INLINE bool sel_packed_each(const sel_packed *packed, int32_t number,
                                      const double place[3], double *fixed, double *own,
                                      int32_t stride, double result[SEL_PROGRAM_RESULTS]) {
    const sel_packed_program *program = &packed->program[number];
    const sel_packed_slots slots = {fixed, own, program->fixed, stride};
    for (int32_t i = 0; i < program->each; i++) {
        sel_packed_step(packed, program, program->once + i, place, &slots);
    }
    for (int k = 0; k < SEL_PROGRAM_RESULTS; k++) {
        const int which = k < program->outputs ? k : 0;
        result[k] = *sel_packed_slot(&slots, packed->output[program->output + which].slot);
    }
    return program->fails < 0 || *sel_packed_slot(&slots, program->fails) == 0;
}

#endif
