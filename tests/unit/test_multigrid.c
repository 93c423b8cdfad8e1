/* test_multigrid.c -- cycles of multigrid reduce residuals by the same factor on all grids.
 *
 * With an argument it prints the factors of the largest grids, which take minutes and 8 GB.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "engine/solvers/multigrid/multigrid.h"

enum { THREADS = 2 };

/* ---- a problem and its solution by cycles ---- */

typedef struct problem {
    mg m;
    sel_arrays arrays;
    int64_t stride[3], cells;
    double *u, *F, *next;
} problem;

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

static void open_box(problem *p, const mg_box *box) {
    uint64_t random = 1;
    sel_error error = {.status = SEL_OK};
    *p = (problem){.cells = 1};
    mg_list(&p->m, box, THREADS, &p->arrays);
    for (int a = 0; a < 3; a++) {
        p->stride[a] = p->cells;
        p->cells *= a < box->dims ? box->n[a] : 1;
    }
    SEL_ADD(&p->arrays, p, u, p->cells, 0);
    SEL_ADD(&p->arrays, p, F, p->cells, 0);
    SEL_ADD(&p->arrays, p, next, p->cells, 0);
    assert_int_equal(sel_arrays_allocate(&p->arrays, THREADS, "a test", &error), SEL_OK);
    assert_int_equal(mg_start(&p->m, &p->arrays, NULL, NULL, THREADS, &error), SEL_OK);
    for (int64_t k = 0; k < p->cells; k++) {
        const int64_t y = k / p->stride[1] % p->m.level[0].n[1], z = k / p->stride[2];
        const double part = p->m.part[0][k % p->stride[1]] * p->m.part[1][y] *
                            (box->dims == 3 ? p->m.part[2][z] : 1);
        p->u[k] = part > 0 ? uniform(&random) : 0;
    }
}

static void close_box(problem *p) {
    sel_arrays_free(&p->arrays);
}

/* The residual goes to f; its norm. */
static double residual_of(problem *p) {
    const mg_vector u = {p->u, p->stride};
    const int64_t *n = p->m.level[0].n;
    double sums[3], sum = 0;
    for (int64_t row = 0; row < n[1] * n[2]; row++) {
        mg_loops_of(&p->m)->residual(&p->m, u, p->F, row % n[1], row / n[1], p->m.scratch, sums);
        sum += sums[0];
    }
    return sqrt(sum);
}

static void add_correction(problem *p) {
    const mg_vector u = {p->u, p->stride};
    const int64_t *n = p->m.level[0].n;
    for (int64_t row = 0; row < n[1] * n[2]; row++) {
        mg_loops_of(&p->m)->add(&p->m, u, NULL, 1, 0, p->u, row % n[1], row / n[1], p->m.scratch);
    }
}

/* The geometric mean of the factors of cycles 3 to 7, right-hand side 0. */
static double factor_of(const mg_box *box) {
    problem p;
    double norm[8];
    open_box(&p, box);
    for (int k = 0; k < 8; k++) {
        norm[k] = residual_of(&p);
        mg_cycle(&p.m, false, THREADS);
        add_correction(&p);
    }
    close_box(&p);
    return pow(norm[7] / norm[2], 0.2);
}

static mg_box cube(int dims, int64_t n, bool nodes) {
    const double dx = 1 / (double)n;
    return (mg_box){.dims = dims,
                    .nodes = nodes,
                    .even = true,
                    .n = {n, n, n},
                    .dx = {dx, dx, dx},
                    .k = {1, 1, 1}};
}

static void expect_factor(const char *what, const mg_box *box, double most) {
    const double factor = factor_of(box);
    print_message("# %s %lld^%d: %.3f\n", what, (long long)box->n[0], box->dims, factor);
    if (!(factor <= most)) {
        fail_msg("%s %lld^%d: factor %.3f", what, (long long)box->n[0], box->dims, factor);
    }
}

/* Of fixed, closed, mixed and conducting faces, and around. */
static void expect_factors(mg_box box, double most) {
    static const char *const names[] = {"fixed", "closed", "mixed", "conducting", "periodic"};
    for (int k = 0; k < 5; k++) {
        char what[64];
        for (int f = 0; f < 2 * box.dims; f++) {
            const double mixed = f % 2 ? 0 : HUGE_VAL;
            box.h[f] = k == 0 ? HUGE_VAL : k == 2 ? mixed : k == 3 ? 3 : 0;
        }
        box.periodic = k == 4 ? 7 : 0;
        snprintf(what, sizeof what, "%s, %s", box.nodes ? "nodes" : "cells", names[k]);
        expect_factor(what, &box, most);
    }
}

static void every_cycle_takes_the_same_factor_off_on_all_grids(void **state) {
    (void)state;
    for (int nodes = 0; nodes < 2; nodes++) {
        for (int64_t n = 64; n <= 1024; n *= 4) {
            expect_factors(cube(2, n + nodes, nodes), 0.08);
        }
        expect_factors(cube(3, 32 + nodes, nodes), 0.13);
        expect_factors(cube(3, 64 + nodes, nodes), 0.12);
    }
}

static void large_grids_as_well(void **state) {
    (void)state;
    for (int nodes = 0; nodes < 2; nodes++) {
        expect_factors(cube(2, 4096 + nodes, nodes), 0.12);
        expect_factors(cube(3, 128 + nodes, nodes), 0.12);
        expect_factors(cube(3, 256 + nodes, nodes), 0.12);
    }
    mg_box box = cube(3, 512, false);
    expect_factor("cells, closed", &box, 0.12);
    for (int f = 0; f < 6; f++) {
        box.h[f] = HUGE_VAL;
    }
    expect_factor("cells, fixed", &box, 0.12);
}

static void sizes_need_not_be_powers_of_two(void **state) {
    (void)state;
    static const int64_t sizes[] = {50, 65, 75, 333};
    for (int nodes = 0; nodes < 2; nodes++) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            expect_factors(cube(2, sizes[k], nodes), 0.1);
        }
        expect_factors(cube(3, 25, nodes), 0.13);
    }
}

static void long_grids_and_flat_cells_converge_as_others(void **state) {
    (void)state;
    for (int nodes = 0; nodes < 2; nodes++) {
        mg_box box = cube(2, 200, nodes);
        box.n[1] = 10;
        expect_factors(box, 0.1);
        box.dx[1] *= 7;
        expect_factors(box, 0.13);
        box = cube(3, 24, nodes);
        box.n[1] = 9;
        box.k[2] = 100;
        expect_factors(box, 0.15);
    }
}

static void cycles_in_single_precision_correct_as_well(void **state) {
    (void)state;
    mg_box box = cube(2, 512, false);
    box.single = true;
    expect_factors(box, 0.08);
}

/* Residuals of a full cycle from 0 for a right-hand side of a single wave, to that of a V-cycle. */
static double first_factor(bool full) {
    mg_box box = cube(2, 256, false);
    problem p;
    box.h[0] = box.h[1] = box.h[2] = box.h[3] = HUGE_VAL;
    open_box(&p, &box);
    for (int64_t k = 0; k < p.cells; k++) {
        const double x = ((double)(k % 256) + 0.5) / 256, y = ((double)(k / 256) + 0.5) / 256;
        p.u[k] = 0;
        p.F[k] = sin(3 * x) * cos(2 * y);
    }
    const double before = residual_of(&p);
    mg_cycle(&p.m, full, THREADS);
    add_correction(&p);
    const double after = residual_of(&p);
    close_box(&p);
    return after / before;
}

static void full_multigrid_begins_nearer_than_a_cycle(void **state) {
    (void)state;
    const double full = first_factor(true), single = first_factor(false);
    print_message("# full %.2g, one cycle %.2g\n", full, single);
    assert_true(full < 0.5 * single);
}

int main(int argc, char **argv) {
    const struct CMUnitTest large[] = {cmocka_unit_test(large_grids_as_well)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cycle_takes_the_same_factor_off_on_all_grids),
        cmocka_unit_test(sizes_need_not_be_powers_of_two),
        cmocka_unit_test(long_grids_and_flat_cells_converge_as_others),
        cmocka_unit_test(cycles_in_single_precision_correct_as_well),
        cmocka_unit_test(full_multigrid_begins_nearer_than_a_cycle),
    };
    (void)argv;
    return argc > 1 ? cmocka_run_group_tests(large, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
