/* mg_solve.c -- A u = F by corrections of u, on the processor. */
#include "engine/solvers/multigrid/mg_solve.h"

#include <stdlib.h>

#include "engine/core/collectives.h"

typedef struct rows rows;
typedef void row_work(const rows *of, int64_t y, int64_t z, double *scratch, double *sums);

struct rows {
    const mg_solve *s;
    const mg_loops *loops;
    row_work *work[2];
    mg_vector u, p;
    double *to;
    double factor, shift;
};

static void work_row(void *data, int pass, int64_t y, int64_t z, double *scratch) {
    const rows *of = data;
    const mg_solve *s = of->s;
    double beside[SEL_PARTIALS]; /* of rows that another rank sums up */
    const int64_t row = y + s->m.level[0].n[1] * z;
    const sel_patch *own = &s->state->own;
    const bool has = y >= own->lo[1] && y < own->hi[1] && z >= own->lo[2] && z < own->hi[2];
    of->work[pass](of, y, z, scratch, has ? sel_state_partials(s->state, row) : beside);
}

/* Does the work of one or two passes in all rows, the first one or that of `more` also in the
 * planes beside this rank's, and adds up the last one's sums, if there are any. */
static void each_row(const mg_solve *s, rows of, row_work *first, row_work *second, int more,
                     double *sums) {
    of.s = s;
    of.loops = mg_loops_of(&s->m);
    of.work[0] = first;
    of.work[1] = second;
    of.u.stride = of.p.stride = s->stride;
    of.p.v = s->p;
    mg_pass(&s->m, 0, second ? 2 : 1, more, false, work_row, &of, s->threads);
    if (sums) {
        sel_state_sums(s->state, 0, 3, sums);
    }
}

static void residual(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    const mg_vector to = {of->to, of->u.stride};
    of->loops->residual(&of->s->m, to, of->s->F, y, z, scratch, sums);
}

static void mg_solve_divide(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    (void)scratch, (void)sums;
    of->loops->divide(&of->s->m, y, z);
}

static void dot(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    const int64_t from = y * of->p.stride[1] + z * of->p.stride[2];
    sums[0] = of->loops->dot(&of->s->m, of->s->q + from, y, z, scratch);
}

static void direct(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    (void)scratch, (void)sums;
    of->loops->direct(&of->s->m, of->p, of->factor, y, z);
}

static void apply(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    of->loops->apply(&of->s->m, of->u, of->to, y, z, scratch, sums);
}

static void mg_solve_add(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    (void)sums;
    of->loops->add(&of->s->m, of->u, of->p.v, of->factor, of->shift, of->to, y, z, scratch);
}

/* Makes the next direction p and q = A p; returns the length of the step along it. */
static double next_direction(mg_solve *s) {
    double sums[3], beta = 0;
    if (s->now.pq > 0) {
        each_row(s, (rows){.to = NULL}, dot, NULL, 0, sums);
        beta = -sums[0] / s->now.pq;
    }
    each_row(s, (rows){.u = {.v = s->p}, .to = s->q, .factor = beta}, direct, apply, 0, sums);
    s->now.pq = sums[0];
    return sums[0] > 0 ? sums[1] / sums[0] : 0;
}

void mg_solve_spread(const mg_solve *s, double *v) {
    const sel_state *state = s->state;
    const sel_field field = sel_state_vector_field(state);
    if (state->ranks->count > 1) {
        const bool pieces = sel_divides_planes(&state->decomposition);
        const size_t bytes = 4 * (size_t)sel_halo_bytes(&field, &state->own, 1);
        char *room = pieces ? sel_ranks_memory(state->ranks, bytes) : NULL;
        sel_exchange_field(state->ranks, &state->decomposition, &field, v, SEL_FETCH, room);
        free(room);
    }
}

void mg_solve_residual(mg_solve *s, double *u) {
    double sums[3];
    each_row(s, (rows){.to = u}, residual, NULL, 0, sums);
    mg_judge(&s->limits, sums, 0, &s->now);
}

void mg_solve_correct(mg_solve *s, int how, double omega, double *u, double *to) {
    rows of = {.u = {.v = u}, .to = to, .factor = 1, .shift = s->now.mean};
    double sums[3];
    if (how == MG_SWEEP) {
        mg_sweep(&s->m, omega, s->threads);
    } else if (how == MG_DIVIDE) {
        mg_spread(&s->m, 0, s->m.level[0].f, s->m.box.single ? 4 : 8, 1);
        each_row(s, of, mg_solve_divide, NULL, 1, NULL);
    } else {
        mg_cycle(&s->m, how == MG_FULL_CYCLE, s->threads);
    }
    if (s->p) {
        of.factor = next_direction(s);
    }
    each_row(s, of, mg_solve_add, residual, 0, sums);
    mg_judge(&s->limits, sums, 1, &s->now);
}

void mg_solve_apply(const mg_solve *s, double *u, double *to) {
    each_row(s, (rows){.u = {.v = u}, .to = to}, apply, NULL, 0, NULL);
}
