/* program_eval.h -- the instructions of programs, what each computes, and programs packed into one
 * block of memory.
 *
 * The arithmetic is that of Lua 5.4 on floats, to the bit: its floor division and modulo, its power
 * (a square is a product; CPOW is the C library's), its order of comparison in min and max. A
 * condition yields 0 or 1; an operand that is a condition is true if it is not 0. C11 and C++17, so
 * that devices compile the same source; the includer may define SEL_VALUE_INLINE to add its
 * qualifiers.
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

/* OP(name, number of operands, value of the operands a, b, c). WHOLE turns -0 into 0, as Lua's
 * conversion of a float to an integer does. */
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
        SEL_OP_COUNT, /* the number of operations above; those that follow have no formula */
    SEL_OP_CONSTANT = SEL_OP_COUNT,
    SEL_OP_ARGUMENT, /* a node: x, y, z, t or a control; an instruction: x, y or z */
    SEL_OP_LOOKUP
} sel_op;
#undef SEL_PROGRAM_ENUM

/* Further operations, of rules (rule.h). */
typedef enum sel_rule_op {
    SEL_RULE_READ = 128, /* the value of a field in the cell at an offset; never an instruction */
    SEL_RULE_RANDOM,     /* sel.random(operand) */
    SEL_RULE_BAND,       /* this and the following: on the bits of Lua's integers */
    SEL_RULE_BOR,
    SEL_RULE_BXOR,
    SEL_RULE_BNOT,
    SEL_RULE_SHL,
    SEL_RULE_SHR
} sel_rule_op;

/* The value of an operation on bits. Shifts are logical; a negative distance shifts the other
 * way. */
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

/* The value of an operation of sel_op; unused operands are ignored. */
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
 * Instructions read and write slots. A slot holds one number per place; on the processor the places
 * of a row are evaluated together. The slots of a program (field names: sel_packed_program):
 *
 *     0                uniforms    fixed                                  fixed + own
 *     | uniform values | only once | values read | kept | shared registers |
 *
 * - uniform values: the same at all places (constants, t, dt, controls and what is computed from
 *   them), needed by instructions per place; computed once per call, in doubles.
 * - only once: uniform values that only the computation of other uniform values needs.
 * - values read: fields of cells, filled by the caller before the instructions per place.
 * - kept: values that a stage (program.h) leaves to later stages: those of y and z (per_row), then
 *   those of x.
 * - shared registers: each holds several values in turn, whose lifetimes do not overlap.
 */

/* The most places of a row: all slots of a row fit the first-level cache. */
enum { SEL_ROW = 256 };

/* The type of the numbers in a slot: float, double, int32_t. Evaluation one place at a time stores
 * all of them as doubles, rounded to the type. Machine code computes some programs in uint8_t
 * instead of int32_t, saturating at 255 (sel_program.bytes). */
typedef enum sel_number { SEL_NUMBER_F, SEL_NUMBER_D, SEL_NUMBER_I } sel_number;

SEL_VALUE_INLINE size_t sel_number_size(int type) {
    return type == SEL_NUMBER_D ? sizeof(double) : sizeof(float);
}

/* Operations that only instructions have, beside those of sel_op and sel_rule_op. */
enum { SEL_OP_CONVERT = 192, SEL_OP_SHIFT, SEL_OP_MASK };

/* OP(name, value of a and b) for operations that are computed in the type of a and b: sums,
 * extremes and comparisons in any type; those of reals, with functions whose names end with `f`;
 * those of integers. Other operations are computed in doubles. Integer division by 0 is
 * division by 1: it only occurs on a side of a branch that is not taken. */
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

/* slot[to] = op(slot[from[0]], ...), computed in `type`. For comparisons `type` is that of the
 * operands, and the result is an int32_t 0 or 1. Unused entries of `from` are valid slots. */
typedef struct sel_instruction {
    uint8_t op, type, operands; /* operands: their number */
    uint8_t linked; /* sums and products: 1 + the operand that is the value of the instruction
                     * before, if nothing else needs that value; else 0 */
    uint8_t placed; /* sums and products: 1 + the output, if the value is that output and nothing
                     * else; else 0 */
    uint16_t to, from[4];
    /* CONVERT: the type of the operand; ARGUMENT: SEL_ARGUMENT_X, Y or Z; SHIFT: bits; MASK: the
     * mask; LOOKUP (of doubles): the lookup's index; RANDOM: 1 where reals are float. */
    int64_t number;
} sel_instruction;

/* The value of an operation on int32_t whose result in doubles may differ, as the loops over rows
 * compute it: sums wrap, and division by 0 is division by 1. Both only occur on a side of a branch
 * that is not taken, or where Lua fails. False: another operation, which doubles compute
 * exactly. */
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

/* A number converted to a type and back. */
SEL_VALUE_INLINE double sel_number_as(int type, double value) {
    return type == SEL_NUMBER_F   ? (double)(float)value
           : type == SEL_NUMBER_D ? value
                                  : (double)(int32_t)value;
}

/* The result of an instruction for one place, computed in doubles, except LOOKUP and RANDOM.
 * Doubles hold float and int32_t exactly. Rounding the double result to float gives the same bits
 * as float arithmetic for sums, products, quotients and roots. */
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

/* ---- programs and their data in one block of memory, evaluated one place at a time ----
 *
 * The block consists of tables that refer to each other by index, so that it may lie anywhere:
 *
 *     program -> input, code, output
 *     program -> data -> lookup -> number
 *
 * Slots lie in two areas. `fixed` holds the uniform values, filled by sel_packed_once, and may be
 * shared by all places. `own` holds the other slots of a place, `stride` numbers apart, so that the
 * same slot of neighbouring places lies together. The values are those of sel_program_eval, to the
 * bit, if the mathematical functions (sin, exp, ...) give the same.
 */

enum { SEL_PROGRAM_RESULTS = 3, SEL_LOOKUP_ARGUMENTS = 4 };

/* The arguments of a program: coordinates, time, then control k as SEL_ARGUMENT_CONTROL + k. */
enum {
    SEL_ARGUMENT_X,
    SEL_ARGUMENT_Y,
    SEL_ARGUMENT_Z,
    SEL_ARGUMENT_T,
    SEL_ARGUMENT_CONTROL,
    SEL_NO_ARGUMENT = -1, /* of an input: a constant */
    SEL_ARGUMENT_DT = -2
};

/* A uniform slot that is filled from a constant, t, dt or a control before the instructions run. */
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
    int64_t kind;  /* SEL_LOOKUP_... */
    int64_t first; /* index in `number` of its data: times, then values of a series; or pixels */
    sel_series_rule series;
    sel_raster raster; /* its `value` and `file` are not used */
    /* Tables of a single program on the host have only these: a sel_lookup, and its evaluation. */
    const void *host;
    double (*call)(const void *host, const double at[]);
} sel_packed_lookup;

/* A field of the cell at an offset. */
typedef struct sel_read {
    int32_t field, at[3]; /* at: cells along each axis */
} sel_read;

typedef struct sel_program_output {
    int32_t field; /* index of the field that a rule writes, or of the number that a function
                    * returns */
    int32_t slot;
    int32_t type; /* sel_number */
    bool checked; /* the value may exceed the range of the field */
    bool direct;  /* a `placed` instruction computes it, in the type of the field */
} sel_program_output;

/* The layout of a program. Slots: see the diagram above. */
typedef struct sel_packed_program {
    int64_t input, code, lookup, output; /* its first entries in the tables; lookup: in `data` */
    int32_t inputs, lookups, reads, outputs; /* the number of each */
    int32_t once, each;  /* numbers of instructions: for uniform values, then per place */
    int32_t of_x, of_yz; /* numbers within `each`: first those of x alone, then of y and z alone */
    int32_t uniforms;    /* the number of slots: uniform values that places need */
    int32_t fixed;       /* slots of all uniform values */
    int32_t own;         /* all other slots, which each place has for itself */
    int32_t per_row;     /* kept slots of values of y and z alone */
    int32_t fails;       /* index of the slot that is not 0 where only Lua can compute the results;
                          * -1: none */
    int32_t numbers;     /* 1: the outputs are plain numbers, not fields */
} sel_packed_program;

/* The tables. */
typedef struct sel_packed {
    const sel_packed_program *program;
    const sel_packed_input *input;
    const sel_instruction *code;
    const int32_t *data;             /* by lookup of a program: its index in `lookup` */
    const sel_packed_lookup *lookup; /* shared by the programs */
    const double *number;            /* data of lookups */
    const sel_read *read;            /* only in tables of a single program, on the host */
    const sel_program_output *output;
} sel_packed;

/* The slots of a place: slot k < fixed_count is fixed[k]; slot k >= fixed_count is
 * own[(k - fixed_count) * stride]. */
typedef struct sel_packed_slots {
    double *fixed, *own;
    int32_t fixed_count, stride;
} sel_packed_slots;

SEL_VALUE_INLINE double *sel_packed_slot(const sel_packed_slots *slots, int32_t k) {
    return k < slots->fixed_count ? slots->fixed + k
                                  : slots->own + (int64_t)(k - slots->fixed_count) * slots->stride;
}

/* The value of lookup `which` of a program; NaN where the data have no value. */
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

/* Runs instruction k of a program, which is not RANDOM. */
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

/* Computes the uniform values of program `number` into `fixed`, which has room for program->fixed
 * slots. No instruction for uniform values uses the place. */
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

/* Evaluates program `number` at a place, after sel_packed_once. A missing second or third result
 * repeats the first one. False: only Lua can compute the results there. */
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
