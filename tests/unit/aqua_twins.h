/* aqua_twins.h -- one run-off on two backends that must agree bit by bit, for the tests.
 *
 * Arguments of the programs: `short`: few and small cases, for compute-sanitizer; `cpu`: the second
 * backend is the CPU's again, with other threads, to try the tests themselves. Without a GPU that
 * can be used, and without `cpu`, the whole program is skipped.
 */
#ifndef AQUA_TWINS_H
#define AQUA_TWINS_H

#include "engine/run/prepare.h"
#include "engine/io/raster.h"
#include "tests/unit/aqua_case.h"

enum { MOST_CELLS = 520 * 260 };

static const sel_backend *second;
static bool is_short;
static char now[256]; /* what is compared */

/* ---- two states of one plan ---- */

typedef struct twins {
    aqua_case c;
    sel_raster raster;
    sel_lookup lookup;
    double ground[MOST_CELLS], depth[MOST_CELLS], alpha[MOST_CELLS], rate[MOST_CELLS];
    aqua_law_open nodata_open;
    const sel_backend *backend[2];
    sel_state *state[2];
} twins;

static inline void must(twins *t, sel_status status, int k) {
    if (status) {
        fail_msg("%s: %s on %s", now, t->c.error.text, t->backend[k]->name);
    }
}

static inline void start_twins(twins *t) {
    t->backend[0] = &sel_cpu_backend;
    t->backend[1] = second;
    const double w = (double)t->c.params.common.size.v[0], h = (double)t->c.params.common.size.v[1];
    case_line(&t->c, 0.2 * w, 0.1 * h, 0.7 * w, 0.95 * h);
    must(t, case_plan(&t->c), 0);
    t->c.plan->wants_fields = ~0u;
    t->c.plan->wants_balance = true;
    for (int k = 0; k < 2; k++) {
        t->c.plan->threads = 1 + k;
        must(t, t->backend[k]->create(t->c.plan, &t->state[k], &t->c.error), k);
    }
}

static inline void end_twins(twins *t) {
    for (int k = 0; k < 2; k++) {
        t->backend[k]->destroy(t->state[k]);
    }
    case_end(&t->c);
    free(t);
}

static inline void advance(twins *t, int64_t steps) {
    for (int k = 0; k < 2; k++) {
        must(t, t->backend[k]->advance(t->state[k], steps, true, &t->c.error), k);
    }
}

/* Answers both; the second is started before any is finished. */
static inline void ask(twins *t, sel_request requests[2]) {
    for (int k = 0; k < 2; k++) {
        must(t, t->backend[k]->start(t->state[k], &requests[k], &t->c.error), k);
    }
    for (int k = 0; k < 2; k++) {
        must(t, t->backend[k]->finish(t->state[k], &requests[k], &t->c.error), k);
    }
}

/* ---- what must agree ---- */

static inline bool same(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static inline void must_be_same(const char *what, double a, double b) {
    if (!same(a, b)) {
        fail_msg("%s: %s is %.17g on the CPU and %.17g on the GPU", now, what, a, b);
    }
}

/* Sums whose order is not the same. */
static inline void must_be_near(const char *what, double a, double b, double size) {
    if (!same(a, b) && !(fabs(a - b) <= 1e-12 * size)) {
        fail_msg("%s: %s is %.17g on the CPU and %.17g on the GPU", now, what, a, b);
    }
}

static inline void compare_read(twins *t, const sel_request *like, int64_t numbers) {
    const size_t bytes = (size_t)numbers * (like->precision == SEL_F32 ? 4 : 8);
    sel_request requests[2] = {*like, *like};
    char *to[2];
    for (int k = 0; k < 2; k++) {
        to[k] = malloc(bytes + 1);
        memset(to[k], 0x55, bytes);
        requests[k].to = to[k];
    }
    ask(t, requests);
    for (int64_t i = 0; i < numbers; i++) {
        char what[96];
        double v[2];
        for (int k = 0; k < 2; k++) {
            v[k] = like->precision == SEL_F32 ? (double)((float *)(void *)to[k])[i]
                                              : ((double *)(void *)to[k])[i];
        }
        snprintf(what, sizeof what, "number %d of the field %s", (int)i,
                 aqua_solver.fields[like->field].name);
        must_be_same(what, v[0], v[1]);
    }
    free(to[0]);
    free(to[1]);
}

static inline void compare_fields(twins *t) {
    for (int f = 0; f < AQUA_FIELDS; f++) {
        const sel_request whole = {.kind = SEL_READ,
                                   .field = f,
                                   .box = sel_grid_box(&t->c.domain->grid),
                                   .precision = SEL_F64,
                                   .components = 1};
        compare_read(t, &whole, sel_box_cells(&whole.box));
    }
}

static inline void compare_balance(twins *t) {
    const bool whole = t->c.plan->precision == SEL_F32;
    static sel_term terms[2][SEL_MAX_TERMS];
    sel_request r[2] = {{.kind = SEL_BALANCE, .terms = terms[0]},
                        {.kind = SEL_BALANCE, .terms = terms[1]}};
    double size = 0;
    ask(t, r);
    assert_int_equal(r[0].term_count, r[1].term_count);
    for (int i = 0; i < r[0].term_count; i++) {
        size = fmax(size, fabs(terms[0][i].value));
    }
    for (int i = 0; i < r[0].term_count; i++) {
        const char *name = terms[0][i].name;
        assert_string_equal(name, terms[1][i].name);
        if (whole) {
            must_be_same(name, terms[0][i].value, terms[1][i].value);
        } else {
            must_be_near(name, terms[0][i].value, terms[1][i].value, size);
        }
    }
}

static inline void compare_fluxes(twins *t) {
    for (int region = 0; region <= t->c.domain->region_count; region++) {
        sel_request r[2];
        for (int k = 0; k < 2; k++) {
            r[k] = (sel_request){.kind = SEL_FLUX, .region = region};
            memcpy(r[k].line, t->c.lines[0], sizeof r[k].line);
        }
        ask(t, r);
        must_be_same("a flux", r[0].flux, r[1].flux);
    }
}

static inline void compare_sums(twins *t) {
    const bool whole = t->c.plan->precision == SEL_F32;
    for (int f = 0; f < AQUA_FIELDS; f++) {
        sel_request r[2];
        for (int k = 0; k < 2; k++) {
            r[k] = (sel_request){
                .kind = SEL_REDUCE, .field = f, .box = sel_grid_box(&t->c.domain->grid)};
            r[k].box.stride[0] = 1 + f % 2;
        }
        ask(t, r);
        assert_int_equal(r[0].count, r[1].count);
        must_be_same("a least value", r[0].min[0], r[1].min[0]);
        must_be_same("a greatest value", r[0].max[0], r[1].max[0]);
        if (whole && f == AQUA_DEPTH) {
            must_be_same("a sum of depths", r[0].sum[0], r[1].sum[0]);
        }
        const double squares = r[0].sum_of_squares[0];
        must_be_near("a sum", r[0].sum[0], r[1].sum[0], sqrt(squares * (double)r[0].count));
        must_be_near("a sum of squares", squares, r[1].sum_of_squares[0], squares);
    }
}

static inline void compare_monitors(twins *t, bool only_bad_cell) {
    sel_request r[2] = {{.kind = SEL_MONITOR, .only_bad_cell = only_bad_cell},
                        {.kind = SEL_MONITOR, .only_bad_cell = only_bad_cell}};
    ask(t, r);
    assert_int_equal(r[0].bad_cell, r[1].bad_cell);
    assert_int_equal(r[0].bad_cells, r[1].bad_cells);
    must_be_same("the largest depth", r[0].largest, r[1].largest);
    assert_int_equal(r[0].largest_cell, r[1].largest_cell);
    must_be_same("the smallest depth", r[0].smallest, r[1].smallest);
    assert_int_equal(r[0].smallest_cell, r[1].smallest_cell);
    if (!only_bad_cell) {
        must_be_near("the change", r[0].change, r[1].change, fabs(r[0].change));
    }
}

static inline void compare_all(twins *t) {
    compare_fields(t);
    compare_balance(t);
    compare_fluxes(t);
    compare_sums(t);
    compare_monitors(t, true);
    compare_monitors(t, false);
}

/* After 0, 1, 2, 33 and 200 steps: single ones, and graphs from an even and an odd step on. In
 * short after 2 and 33. */
static inline void compare_steps(twins *t) {
    static const int64_t pieces[] = {0, 1, 1, 31, 167};
    for (size_t k = 0; k < (is_short ? 4 : 5); k++) {
        advance(t, pieces[k]);
        if (!is_short || k >= 2) {
            compare_all(t);
        }
    }
}

/* ---- scenarios ---- */

static inline sel_status no_value(const sel_lookup *self, size_t n, const double *const *arguments,
                                  double *out, sel_error *error) {
    (void)self, (void)n, (void)arguments, (void)out;
    return sel_fail(error, SEL_BAD_SCENARIO, "not here");
}

/* Random ground, with gaps in the data; random water on two thirds of it. */
static inline twins *begin_twins(int nx, int ny, double alpha, bool gaps, uint64_t seed) {
    twins *t = calloc(1, sizeof *t);
    assert_non_null(t);
    aqua_case *c = &t->c;
    case_begin(c, nx, ny, alpha);
    case_fill_random(t->ground, nx * ny, 100, 101, seed);
    case_fill_random(t->depth, nx * ny, -0.1, 0.3, seed + 1);
    case_fill_random(t->alpha, nx * ny, 0.05, 1, seed + 2);
    case_fill_random(t->rate, nx * ny, 0, 400, seed + 3);
    for (int i = 0; i < nx * ny; i++) {
        t->depth[i] = fmax(t->depth[i], 0);
        if (gaps && case_random(&seed) < 0.07) {
            t->ground[i] = (double)NAN;
        }
    }
    t->raster = (sel_raster){.n = {nx, ny}, .dx = 1, .value = t->ground};
    t->lookup = (sel_lookup){.kind = SEL_LOOKUP_RASTER,
                             .name = "ground",
                             .arguments = 2,
                             .at = no_value,
                             .data = &t->raster};
    c->params.ground = (sel_quantity){.components = 1};
    c->params.ground.part[0].function =
        sel_lookup_function(c->arena, &t->lookup, (sel_where){NULL, 0});
    c->params.initial.depth = case_values(c, t->depth);
    return t;
}

/* Whether there is a second backend; `program` says so if not. */
static inline bool find_second(const char *program, int argc, char **argv) {
    sel_error error = {.status = SEL_OK};
    uint64_t free_bytes;
    second = aqua_solver.cuda;
    for (int i = 1; i < argc; i++) {
        is_short |= strcmp(argv[i], "short") == 0;
        if (strcmp(argv[i], "cpu") == 0) {
            second = &sel_cpu_backend;
            return true;
        }
    }
    if (!second) {
        printf("ok %s # SKIP this build has no CUDA backend\n", program);
        return false;
    }
    if (second->probe(0, &free_bytes, &error)) {
        printf("ok %s # SKIP %s\n", program, error.text);
        return false;
    }
    return true;
}

#endif
