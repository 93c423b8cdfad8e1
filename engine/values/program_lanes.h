/* program_lanes.h -- packed programs at several places of a row at a time.
 *
 * For devices whose threads have some cells of a row each. What is the same in the whole row is
 * computed once for it; then an instruction is decoded once for all places of a thread, and its
 * result stays in the processor's registers for the next one, which mostly uses it. The values are
 * those of sel_packed_each, to the bit. The program's registers:
 *
 *   register   0 ... fixed - 1    fixed ... of_row - 1   of_row ... fixed + own - 1
 *   holds      constants, t,      functions of y and z   what depends on x; register of_row + k
 *              controls           to combine with x      of place j: own[(k SEL_LANES + j) stride]
 *   in         row[]              row[]                  own[]
 *   filled by  sel_packed_once    sel_lanes_begin        sel_lanes_each
 *
 * sel_lanes_begin uses row[] from of_row on as scratch.
 *
 * C11 and C++17; the includer may define SEL_LANES_INLINE, SEL_LANES_CALL (for what is called
 * seldom) and SEL_LANES_UNROLL (before loops over the places).
 */
#ifndef SEL_PROGRAM_LANES_H
#define SEL_PROGRAM_LANES_H

#include "engine/values/program_packed.h"

#ifndef SEL_LANES_INLINE
#define SEL_LANES_INLINE static inline
#endif
#ifndef SEL_LANES_CALL
#define SEL_LANES_CALL static inline
#endif
#ifndef SEL_LANES_UNROLL
#define SEL_LANES_UNROLL
#endif

enum { SEL_LANES = 4 };

#define SEL_LANES_EACH(j) SEL_LANES_UNROLL for (int j = 0; j < SEL_LANES; j++)

/* The registers of a row, and those of SEL_LANES places: number k of place j stands at
 * own[(k SEL_LANES + j) stride], so that those of many threads lie side by side. */
typedef struct sel_lanes {
    double *row; /* [sel_lanes_row_registers] */
    double *own; /* [sel_lanes_own_registers][SEL_LANES] */
    int32_t of_row, stride;
} sel_lanes;

SEL_LANES_INLINE int32_t sel_lanes_row_registers(const sel_packed_program *program) {
    return program->fixed + program->own;
}

SEL_LANES_INLINE int32_t sel_lanes_own_registers(const sel_packed_program *program) {
    return program->own - program->lines;
}

SEL_LANES_INLINE sel_lanes sel_lanes_of(const sel_packed_program *program, double *row, double *own,
                                        int32_t stride) {
    const sel_lanes lanes = {row, own, program->fixed + program->lines, stride};
    return lanes;
}

/* Fills row[], for the row at y and z. */
SEL_LANES_INLINE void sel_lanes_begin(const sel_packed *packed, int32_t number, double y, double z,
                                      double t, const double *controls, double *row) {
    const sel_packed_program *program = &packed->program[number];
    const sel_packed_registers registers = {row, row + program->fixed, program->fixed, 1};
    sel_packed_once(packed, number, t, controls, row);
    for (int32_t i = 0; i < program->coordinates; i++) {
        const sel_packed_input *input = &packed->input[program->input + program->inputs + i];
        if (input->argument > 0) {
            row[input->to] = input->argument == 1 ? y : z;
        }
    }
    sel_packed_run(packed, program, program->once + program->of_x, program->of_yz, &registers);
}

/* Loads register `at`; `value` holds register `last`. */
SEL_LANES_INLINE void sel_lanes_load(const sel_lanes *lanes, int32_t at, int32_t last,
                                     const double value[SEL_LANES], double to[SEL_LANES]) {
    if (at == last) {
        SEL_LANES_EACH(j) {
            to[j] = value[j];
        }
    } else if (at < lanes->of_row) {
        const double same = lanes->row[at];
        SEL_LANES_EACH(j) {
            to[j] = same;
        }
    } else {
        const double *from = lanes->own + (at - lanes->of_row) * SEL_LANES * lanes->stride;
        SEL_LANES_EACH(j) {
            to[j] = from[j * lanes->stride];
        }
    }
}

SEL_LANES_INLINE void sel_lanes_store(const sel_lanes *lanes, int32_t at,
                                      const double value[SEL_LANES]) {
    double *to = lanes->own + (at - lanes->of_row) * SEL_LANES * lanes->stride;
    SEL_LANES_EACH(j) {
        to[j * lanes->stride] = value[j];
    }
}

SEL_LANES_CALL double sel_lanes_other(int op, double a, double b) {
    return sel_program_value(op, a, b, 0);
}

/* A call for place j. */
SEL_LANES_CALL double sel_lanes_look_up(const sel_packed *packed, const sel_packed_call *call,
                                        const double *row, const double *own, int32_t of_row,
                                        int32_t stride, int j) {
    double at[SEL_PACKED_ARGUMENTS];
    for (int k = 0; k < SEL_PACKED_ARGUMENTS; k++) {
        const int32_t r = call->arguments[k];
        at[k] = r < of_row ? row[r] : own[((r - of_row) * SEL_LANES + j) * stride];
    }
    return sel_packed_look_up(packed, call->lookup, at);
}

/* `value` holds register `last`, before and after. */
SEL_LANES_INLINE void sel_lanes_operate(const sel_lanes *lanes, uint64_t word, int32_t last,
                                        double value[SEL_LANES]) {
    const int op = (int)(word & ((1u << SEL_PACKED_OP_BITS) - 1));
    double first[SEL_LANES], second[SEL_LANES], third[SEL_LANES];
    sel_lanes_load(lanes, sel_packed_operand(word, 1), last, value, first);
    sel_lanes_load(lanes, sel_packed_operand(word, 2), last, value, second);
    if (op == SEL_OP_SELECT) {
        sel_lanes_load(lanes, sel_packed_operand(word, 3), last, value, third);
    } else {
        SEL_LANES_EACH(j) {
            third[j] = 0;
        }
    }
    switch (op) {
#define SEL_LANES_CASE(name, operands, result)                      \
    case SEL_OP_##name:                                             \
        SEL_LANES_EACH(j) {                                         \
            const double a = first[j], b = second[j], c = third[j]; \
            (void)b;                                                \
            (void)c;                                                \
            value[j] = result;                                      \
        }                                                           \
        break;
        SEL_PROGRAM_QUICK_OPS(SEL_LANES_CASE)
#undef SEL_LANES_CASE
    default:
        SEL_LANES_EACH(j) {
            value[j] = sel_lanes_other(op, first[j], second[j]);
        }
        break;
    }
}

SEL_LANES_INLINE void sel_lanes_run(const sel_packed *packed, const sel_packed_program *program,
                                    int32_t from, int32_t count, const sel_lanes *lanes) {
    const uint64_t *code = packed->code + program->code + from;
    double value[SEL_LANES] = {0};
    int32_t last = -1;
    for (int32_t i = 0; i < count; i++) {
        const uint64_t word = code[i];
        if ((word & ((1u << SEL_PACKED_OP_BITS) - 1)) == SEL_OP_LOOKUP) {
            const sel_packed_call *call =
                packed->call + program->call + sel_packed_operand(word, 1);
            SEL_LANES_EACH(j) {
                value[j] = sel_lanes_look_up(packed, call, lanes->row, lanes->own, lanes->of_row,
                                             lanes->stride, j);
            }
        } else {
            sel_lanes_operate(lanes, word, last, value);
        }
        last = sel_packed_operand(word, 0);
        sel_lanes_store(lanes, last, value);
    }
}

/* Evaluates a program of one result at the places x[] of the row. `sure` is false where only Lua
 * can compute the value. */
SEL_LANES_INLINE void sel_lanes_each(const sel_packed *packed, int32_t number,
                                     const sel_lanes *lanes, const double x[SEL_LANES], double y,
                                     double z, double value[SEL_LANES], bool sure[SEL_LANES]) {
    const sel_packed_program *program = &packed->program[number];
    const int32_t before = program->of_x + program->of_yz;
    for (int32_t i = 0; i < program->coordinates; i++) {
        const sel_packed_input *input = &packed->input[program->input + program->inputs + i];
        double at[SEL_LANES];
        SEL_LANES_EACH(j) {
            at[j] = input->argument == 0 ? x[j] : input->argument == 1 ? y : z;
        }
        if (input->to >= lanes->of_row) {
            sel_lanes_store(lanes, input->to, at);
        }
    }
    sel_lanes_run(packed, program, program->once, program->of_x, lanes);
    sel_lanes_run(packed, program, program->once + before, program->each - before, lanes);
    double exact[SEL_LANES];
    sel_lanes_load(lanes, program->exact, -1, x, exact);
    sel_lanes_load(lanes, program->result[0], -1, x, value);
    SEL_LANES_EACH(j) {
        sure[j] = !program->has_exact || exact[j] != 0;
    }
}

#endif
