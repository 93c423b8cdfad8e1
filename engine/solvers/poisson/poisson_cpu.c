/* poisson_cpu.c -- sel.poisson on the processor. */
#include "engine/machine/cpu.h"
#include "engine/solvers/poisson/poisson.h"

#include <math.h>

static void list(sel_state *base) {
    poisson_list(base, base->threads);
}

/* ---- rows ---- */

typedef struct rows rows;
typedef void row_work(const rows *of, int64_t y, int64_t z, double *scratch, double *sums);

/* Work in the state of `step`. */
struct rows {
    poisson_state *state;
    const mg_loops *loops;
    row_work *work[2];
    mg_vector u, p;
    double factor;
};

static void work_row(void *data, int pass, int64_t y, int64_t z, double *scratch) {
    const rows *of = data;
    const sel_state *base = &of->state->base;
    double *sums = base->partials + (y + base->plan->domain->grid.n[1] * z) * SEL_PARTIALS;
    of->work[pass](of, y, z, scratch, sums);
}

/* Does the work of one or two passes in all rows and adds up the last one's sums. */
static void each_row(poisson_state *state, int64_t step, double factor, row_work *first,
                     row_work *second, double sums[3]) {
    const sel_state *base = &state->base;
    const sel_cells *cells = &base->turns.cells;
    const int64_t stride[3] = {1, cells->pitch, cells->slice};
    rows of = {state,
               mg_loops_of(&state->m),
               {first, second},
               {state->u[0][step & 1], stride},
               {state->p, stride},
               factor};
    mg_pass(&state->m, 0, second ? 2 : 1, false, work_row, &of, base->threads);
    for (int k = 0; k < 3; k++) {
        sums[k] = sel_tree_sum(base->partials + k, sel_state_rows(base), SEL_PARTIALS);
    }
}

static void residual(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    of->loops->residual(&of->state->m, of->u, of->state->F, y, z, scratch, sums);
}

static void divide(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    (void)scratch, (void)sums;
    of->loops->divide(&of->state->m, y, z);
}

static void dot(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    const int64_t from = y * of->p.stride[1] + z * of->p.stride[2];
    sums[0] = of->loops->dot(&of->state->m, of->state->q + from, y, z, scratch);
}

static void direct(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    (void)scratch, (void)sums;
    of->loops->direct(&of->state->m, of->p, of->factor, y, z);
}

static void apply(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    of->loops->apply(&of->state->m, of->p, of->state->q, y, z, scratch, sums);
}

static void add(const rows *of, int64_t y, int64_t z, double *scratch, double *sums) {
    poisson_state *s = of->state;
    const poisson_plan *plan = poisson_plan_for(&s->base);
    const mg_vector from = {s->u[0][s->base.step & 1], of->u.stride};
    (void)sums;
    of->loops->add(&s->m, from, plan->conjugate ? s->p : NULL, of->factor,
                   plan->singular ? s->now.mean : 0, of->u.v, y, z, scratch);
}

/* ---- an iteration ---- */

static void judge(poisson_state *state, const double sums[3]) {
    state->now.mean = sums[2] / poisson_plan_for(&state->base)->volume;
    poisson_judge(state, sqrt(sums[0]), sqrt(sums[1]));
}

static sel_status measure(poisson_state *state, sel_error *error) {
    double sums[3];
    (void)error;
    each_row(state, state->base.step, 0, residual, NULL, sums);
    judge(state, sums);
    return SEL_OK;
}

/* The length of the step along the next direction. */
static double next_direction(poisson_state *state) {
    poisson_progress *now = &state->now;
    const int64_t step = state->base.step;
    double sums[3], beta = 0;
    if (now->pq > 0) {
        each_row(state, step, 0, dot, NULL, sums);
        beta = -sums[0] / now->pq;
    }
    each_row(state, step, beta, direct, apply, sums);
    now->pq = sums[0];
    return sums[0] > 0 ? sums[1] / sums[0] : 0;
}

static void iterate(poisson_state *state) {
    sel_state *base = &state->base;
    const mg *m = &state->m;
    double sums[3], alpha = 1;
    switch (poisson_method(base)) {
    case POISSON_MULTIGRID:
        mg_cycle(m, base->step == 0, base->threads);
        break;
    case POISSON_GAUSS_SEIDEL:
        mg_sweep(m, 1, base->threads);
        break;
    case POISSON_SOR:
        mg_sweep(m, poisson_plan_for(base)->omega, base->threads);
        break;
    default:
        each_row(state, base->step, 0, divide, NULL, sums);
    }
    if (poisson_plan_for(base)->conjugate) {
        alpha = next_direction(state);
    }
    each_row(state, base->step + 1, alpha, add, residual, sums);
    base->step++;
    judge(state, sums);
}

/* Makes f and q of a state that was loaded. */
static sel_status ready(sel_state *base, const sel_request *request, sel_error *error) {
    poisson_state *state = (poisson_state *)base;
    double sums[3];
    (void)request;
    if (state->known == base->step) {
        return SEL_OK;
    }
    if (state->now.pq > 0) {
        each_row(state, base->step, 0, apply, NULL, sums);
    }
    return measure(state, error);
}

static sel_status start(sel_state *base, sel_error *error) {
    return poisson_start(base, measure, error);
}

static sel_status steps(sel_state *base, int64_t n, sel_error *error) {
    poisson_state *state = (poisson_state *)base;
    sel_status status = ready(base, NULL, error);
    for (; n > 0 && !status && base->ending.how == SEL_GOES_ON; n--) {
        iterate(state);
    }
    base->observed = base->step; /* nothing is to be gathered */
    return status;
}

/* ---- fields and sums ---- */

static int field(const sel_state *base, int which, int64_t row, int64_t x0, int64_t x1,
                 const double **values) {
    const poisson_state *state = (const poisson_state *)base;
    const heat_view v = poisson_view(state, base->step);
    double *to = sel_state_scratch(base), out[3];
    int64_t at[3] = {x0, row % v.n[1], row / v.n[1]};
    *values = to;
    for (; at[0] < x1; at[0]++, to++) {
        const void *f = state->m.level[0].f;
        for (int a = poisson_values(&v, f, state->m.box.single, which, at, out) - 1; a >= 0; a--) {
            to[a * v.n[0]] = out[a];
        }
    }
    return which == POISSON_RESIDUAL ? 1 : v.dims;
}

/* sel_look.other */
static sel_status answer(sel_state *base, sel_request *request, sel_error *error) {
    const poisson_state *state = (const poisson_state *)base;
    const sel_given *given = &base->given;
    const heat_view v = poisson_view(state, base->step);
    (void)error;
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t k = 0; k < base->plan->inputs->surfaces.cells; k++) {
        int64_t at[3];
        sel_cell_at(&base->plan->domain->grid, given->cell[k], at);
        poisson_entering(&v, state->F[heat_place(v.stride, at)], given->site, given->value,
                         given->first_site[k], given->first_site[k + 1], at, given->entering);
    }
    poisson_answer(state, given->entering, request);
    return SEL_OK;
}

const sel_cpu poisson_on_cpu = {
    .what = "the potential",
    .state_size = sizeof(poisson_state),
    .list = list,
    .start = start,
    .steps = steps,
    .look = {.ready = ready, .field = field, .numbers = true, .other = answer},
};
