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
    sel_packed_once(&packed, number, at->t, 0, controls, fixed);
    for (size_t i = 0; i < at->n; i++) {
        const double place[3] = {at->x[i], at->y[i], at->z ? at->z[i] : 0};
        double result[SEL_PROGRAM_RESULTS];
        bool sure = sel_packed_each(&packed, number, place, fixed, own + i % PACK_STRIDE,
                                    PACK_STRIDE, result);
        assert_int_equal(sure, exact[i]);
        for (int r = 0; r < program->layout.outputs; r++) {
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
