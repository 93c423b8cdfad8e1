/* pack_case.h -- evaluate a program in its packed form, for the tests. */
#ifndef PACK_CASE_H
#define PACK_CASE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/values/program_eval.h"
#include "engine/values/program.h"

/* Registers of so many places side by side, as on a device. */
enum { PACK_STRIDE = 3 };

/* A copy of the pack's block, after the block itself is gone. */
static inline void *pack_moved(const sel_pack *pack) {
    const size_t bytes = sel_pack_bytes(pack);
    void *written = malloc(bytes), *block = malloc(bytes);
    sel_pack_write(pack, written);
    memcpy(block, written, bytes);
    memset(written, 0x55, bytes);
    free(written);
    return block;
}

/* Asserts that place i of several in a row has this value. */
static inline void pack_agrees_in_row(const sel_packed *packed, int number, const sel_places *at,
                                      size_t i, const double *controls, double wanted, bool sure) {
    const sel_packed_program *program = &packed->program[number];
    const size_t row_registers = (size_t)(program->fixed + program->own);
    const size_t own_registers = (size_t)(program->own - program->per_row);
    double *row = calloc(row_registers + 1, sizeof *row);
    double *own = calloc(own_registers * SEL_LANES * PACK_STRIDE + 1, sizeof *own);
    const double y = at->y[i], z = at->z ? at->z[i] : 0;
    const sel_lanes lanes = sel_lanes_of(program, row, own, PACK_STRIDE);
    double x[SEL_LANES], value[SEL_LANES];
    bool is_sure[SEL_LANES];
    for (size_t j = 0; j < SEL_LANES; j++) {
        x[j] = at->x[(i + j + SEL_LANES - i % SEL_LANES) % at->n];
    }
    x[i % SEL_LANES] = at->x[i];
    sel_lanes_begin(packed, number, y, z, at->t, controls, row);
    sel_lanes_each(packed, number, &lanes, x, y, z, value, is_sure);
    assert_int_equal(is_sure[i % SEL_LANES], sure);
    if (!(isnan(value[i % SEL_LANES]) && isnan(wanted)))
        assert_memory_equal(&value[i % SEL_LANES], &wanted, sizeof wanted);
    free(row);
    free(own);
}

/* Asserts that program `number` of the pack gives the bits of sel_program_eval at all places. */
static inline void pack_agrees(const sel_pack *pack, int number, const sel_program *program,
                               const sel_places *at, const double *controls) {
    void *block = pack_moved(pack);
    const sel_packed packed = sel_pack_tables(pack, block);
    double *expected = malloc(3 * at->n * sizeof *expected);
    double *fixed = malloc(((size_t)program->layout.fixed + 1) * sizeof *fixed);
    double *own = malloc(((size_t)program->layout.own + 1) * PACK_STRIDE * sizeof *own);
    uint8_t *exact = malloc(at->n);
    assert_int_equal(sel_program_eval(program, at, controls, expected, exact, NULL), SEL_OK);
    sel_packed_once(&packed, number, at->t, controls, fixed);
    for (size_t i = 0; i < at->n; i++) {
        const double place[3] = {at->x[i], at->y[i], at->z ? at->z[i] : 0};
        double result[SEL_PROGRAM_RESULTS];
        bool sure = sel_packed_each(&packed, number, place, fixed, own + i % PACK_STRIDE,
                                    PACK_STRIDE, result);
        assert_int_equal(sure, exact[i]);
        pack_agrees_in_row(&packed, number, at, i, controls, expected[i], sure);
        for (int r = 0; r < program->results; r++) {
            double wanted = expected[(size_t)r * at->n + i];
            if (!(isnan(result[r]) && isnan(wanted)))
                assert_memory_equal(&result[r], &wanted, sizeof wanted);
        }
    }
    free(expected);
    free(fixed);
    free(own);
    free(exact);
    free(block);
}

#endif
