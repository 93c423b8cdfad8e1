/* program_packed.h -- programs and their data in one block of memory, evaluated one place at a
 * time.
 *
 * The form of programs on devices: tables that refer to each other by number, so the block can be
 * at any address. Registers are in two areas: those that are the same at all places (constants, t,
 * controls and functions of them), filled by sel_packed_once and shared by many places; and those
 * of a place, `stride` numbers apart, so that the same register of many places can be contiguous.
 * The values are those of sel_program_eval, to the bit, where sin, exp and so on are.
 *
 * C11 and C++17; the includer may define SEL_PACKED_INLINE to add its qualifiers.
 */
#ifndef SEL_PROGRAM_PACKED_H
#define SEL_PROGRAM_PACKED_H

#include "engine/values/noise.h"
#include "engine/values/program_eval.h"
#include "engine/values/raster_value.h"
#include "engine/values/series_value.h"

#ifndef SEL_PACKED_INLINE
#define SEL_PACKED_INLINE static inline
#endif

/* An instruction is one word: op, then to, a, b, c. */
enum { SEL_PACKED_OP_BITS = 8, SEL_PACKED_BITS = 14 };
enum { SEL_PACKED_RESULTS = 3, SEL_PACKED_ARGUMENTS = 4 };

/* A register that is filled before the instructions run. */
typedef struct sel_packed_input {
    double value; /* of constants */
    int32_t to;
    int32_t argument; /* SEL_PACKED_CONSTANT, x, y, z, t, or SEL_PACKED_CONTROL + k */
} sel_packed_input;

enum { SEL_PACKED_CONSTANT = -1, SEL_PACKED_T = 3, SEL_PACKED_CONTROL = 4 };

typedef enum sel_packed_kind {
    SEL_PACKED_SERIES,
    SEL_PACKED_RASTER,
    SEL_PACKED_NOISE
} sel_packed_kind;

typedef struct sel_packed_lookup {
    int64_t kind;
    int64_t first; /* of its numbers: the times and values of a series, or a raster's pixels */
    sel_series_rule series;
    sel_raster raster; /* its `value` and `keys` are not used */
} sel_packed_lookup;

typedef struct sel_packed_call {
    int32_t lookup;
    uint16_t arguments[SEL_PACKED_ARGUMENTS]; /* registers */
} sel_packed_call;

/* Registers below `fixed` are the same everywhere. The program's parts of the tables, by first row
 * and length: inputs that are the same everywhere, then coordinates; instructions that run once,
 * then those of each place. */
typedef struct sel_packed_program {
    int64_t input, code, call;
    int32_t inputs, coordinates, once, each;
    int32_t of_x, of_yz;       /* of `each`, as in sel_program; */
    int32_t fixed, lines, own; /* and so are `lines` of `own` */
    int32_t result[SEL_PACKED_RESULTS];
    int32_t has_exact, exact; /* as in sel_program */
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

SEL_PACKED_INLINE double *sel_packed_register(const sel_packed_registers *registers, int32_t r) {
    return r < registers->fixed_count
               ? registers->fixed + r
               : registers->own + (int64_t)(r - registers->fixed_count) * registers->stride;
}

/* Operand 0 to 3 of an instruction: to, a, b, c. */
SEL_PACKED_INLINE int32_t sel_packed_operand(uint64_t word, int k) {
    return (int32_t)(word >> (SEL_PACKED_OP_BITS + k * SEL_PACKED_BITS) &
                     ((1u << SEL_PACKED_BITS) - 1));
}

/* NaN where the data have no value. */
SEL_PACKED_INLINE double sel_packed_look_up(const sel_packed *packed, int32_t which,
                                            const double at[SEL_PACKED_ARGUMENTS]) {
    const sel_packed_lookup *lookup = &packed->lookup[which];
    const double *number = packed->number + lookup->first;
    int64_t hint = 0;
    if (lookup->kind == SEL_PACKED_SERIES) {
        return sel_series_value(&lookup->series, number, number + lookup->series.n, at[0], &hint);
    }
    if (lookup->kind == SEL_PACKED_RASTER) {
        return sel_raster_interpolate(&lookup->raster, number, at[0], at[1]);
    }
    return sel_noise(at[0], at[1], at[2], at[3]);
}

SEL_PACKED_INLINE double sel_packed_call_up(const sel_packed *packed, const sel_packed_call *call,
                                            const sel_packed_registers *registers) {
    double at[SEL_PACKED_ARGUMENTS];
    for (int k = 0; k < SEL_PACKED_ARGUMENTS; k++) {
        at[k] = *sel_packed_register(registers, call->arguments[k]);
    }
    return sel_packed_look_up(packed, call->lookup, at);
}

SEL_PACKED_INLINE void sel_packed_run(const sel_packed *packed, const sel_packed_program *program,
                                      int32_t from, int32_t count,
                                      const sel_packed_registers *registers) {
    const uint64_t *code = packed->code + program->code + from;
    for (int32_t i = 0; i < count; i++) {
        uint64_t word = code[i];
        int op = (int)(word & ((1u << SEL_PACKED_OP_BITS) - 1));
        double *to = sel_packed_register(registers, sel_packed_operand(word, 0));
        if (op == SEL_OP_LOOKUP) {
            const sel_packed_call *call =
                packed->call + program->call + sel_packed_operand(word, 1);
            *to = sel_packed_call_up(packed, call, registers);
        } else {
            *to =
                sel_program_value(op, *sel_packed_register(registers, sel_packed_operand(word, 1)),
                                  *sel_packed_register(registers, sel_packed_operand(word, 2)),
                                  *sel_packed_register(registers, sel_packed_operand(word, 3)));
        }
    }
}

/* Fills `fixed`, the registers that are the same at all places. */
SEL_PACKED_INLINE void sel_packed_once(const sel_packed *packed, int32_t number, double t,
                                       const double *controls, double *fixed) {
    const sel_packed_program *program = &packed->program[number];
    const sel_packed_registers registers = {fixed, fixed, program->fixed, 0};
    for (int32_t i = 0; i < program->inputs; i++) {
        const sel_packed_input *input = &packed->input[program->input + i];
        fixed[input->to] = input->argument == SEL_PACKED_CONSTANT ? input->value
                           : input->argument == SEL_PACKED_T
                               ? t
                               : controls[input->argument - SEL_PACKED_CONTROL];
    }
    sel_packed_run(packed, program, 0, program->once, &registers);
}

/* Evaluates a place into result[]. False where only Lua can compute the values. */
SEL_PACKED_INLINE bool sel_packed_each(const sel_packed *packed, int32_t number,
                                       const double place[3], double *fixed, double *own,
                                       int32_t stride, double result[SEL_PACKED_RESULTS]) {
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
