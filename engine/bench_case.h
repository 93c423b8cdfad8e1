/* bench_case.h -- a case of `selenite bench`: how it is called, what it runs, what was measured. */
#ifndef SEL_BENCH_CASE_H
#define SEL_BENCH_CASE_H

#include <stdio.h>
#include "engine/bench.h"
#include "engine/prepare.h"

typedef struct bench_case {
    const sel_solver *solver;
    /* Words of the name and columns of the table: "D2Q9" or "aqua", "periodic", "trt". */
    const char *kind, *box, *rule;
    int64_t n[3]; /* cells; n[2] = 1 in a plane */
    int precision;
    const void *details; /* the solver's */
    /* Fills `simulation`, which lies in the arena. Fails without memory. */
    sel_status (*describe)(struct bench_case *c, sel_arena *arena, sel_error *error);
    /* Prints what tells it from other cases of the solver: `"KEY": "VALUE", ...`. */
    void (*print_json)(const struct bench_case *c, FILE *to);

    char name[80];
    char left_out[1024]; /* why it was; empty: it was not */
    sel_simulation simulation;
    sel_prepared prepared;
    sel_state *state;
    int64_t steps; /* per measurement */
    double rates[SEL_MOST_ROUNDS];
    double rate, bytes, copy; /* updates per second, bytes of each, bytes per second of a copy */
} bench_case;

static inline int bench_dimensions(const bench_case *c) {
    return c->n[2] > 1 ? 3 : 2;
}

/* Fill to[] with a solver's cases for the CPU or for a device; NULL: only count them. */
int bench_lbm_cases(bool device, bench_case *to);
int bench_aqua_cases(bool device, bench_case *to);

#endif
