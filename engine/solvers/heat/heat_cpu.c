/* heat_cpu.c -- sel.heat on the processor. */
#include <math.h>
#include <omp.h>
#include "engine/base/machine.h"
#include "engine/machine/cpu.h"
#include "engine/solvers/heat/heat.h"

typedef struct heat_cpu {
    heat_state all;
    double *rows; /* [threads][3][nx]: of fields */
} heat_cpu;

#define DECLARE(level) extern const heat_loops heat_loops_##level[2];
SEL_LEVELS(DECLARE)
#define TABLE(level) heat_loops_##level,

static void list(sel_state *base) {
    heat_cpu *state = (heat_cpu *)base;
    heat_list(base);
    SEL_ADD(&base->arrays, state, rows, 3 * base->threads * base->plan->domain->grid.n[0], 0);
}

static void derive(sel_state *base) {
    heat_state *state = (heat_state *)base;
    const heat_plan *plan = state->plan;
    const int64_t *first = base->given.first_site;
    for (int64_t k = 0; k < plan->inputs.surfaces.cells; k++) {
        heat_surfaces(state->site, base->given.value, first[k], first[k + 1],
                      plan->base.domain->grid.dt, &state->b[k], &state->s[k]);
    }
}

static void step_block(const heat_state *state, const heat_loops *loops, int b) {
    const sel_turns *turns = &state->base.turns;
    heat_view v = heat_view_of(state, state->base.step, b);
    v.streams = 2 * (uint64_t)(turns->cells.count * turns->type.size) > sel_machine_cache();
    const int64_t rows = state->base.blocks.rows_per_plane, nx = v.n[0];
    const int64_t *cell = state->base.given.cell;
    int64_t first, end;
    heat_surface_range(state, b, &first, &end);
#pragma omp parallel num_threads(state->base.threads)
    {
#pragma omp for schedule(static)
        for (int64_t row = v.first * rows; row < v.end * rows; row++) {
            loops->row(&v, row % v.n[1], row / v.n[1]);
        }
#pragma omp for schedule(static)
        for (int64_t k = first; k < end; k++) {
            const int64_t row = cell[k] / nx;
            const int64_t at[3] = {cell[k] % nx, row % v.n[1], row / v.n[1]};
            loops->touch(&v, heat_place(v.stride, at), state->b[k], state->s[k]);
        }
    }
}

static sel_status steps(sel_state *base, int64_t n, sel_error *error) {
    static const heat_loops *const tables[] = {SEL_LEVELS(TABLE)};
    const heat_loops *loops = &tables[sel_level(0)][base->plan->precision];
    (void)error;
    for (; n > 0; n--) {
        for (int b = 0; b < base->blocks.count; b++) {
            step_block((heat_state *)base, loops, b);
        }
        sel_state_exchange(base, ++base->step); /* at once, since fluxes read halos too */
    }
    return SEL_OK;
}

static sel_status start(sel_state *base, sel_error *error) {
    sel_status status = heat_start(base, error);
    sel_state_exchange(base, base->step);
    return status;
}

/* ---- fields and sums ---- */

static heat_view view_of_row(const sel_state *base, int64_t step, int64_t row) {
    return heat_view_of((const heat_state *)base, step, sel_block_of(&base->blocks, row));
}

static int field(const sel_state *base, int which, int64_t row, int64_t x0, int64_t x1,
                 const double **values) {
    const heat_view v = view_of_row(base, base->step, row);
    const int64_t nx = v.n[0];
    double *to = ((const heat_cpu *)base)->rows + 3 * nx * omp_get_thread_num();
    int64_t at[3] = {x0, row % v.n[1], row / v.n[1]};
    *values = to;
    for (; at[0] < x1; at[0]++, to++) {
        if (which == HEAT_TEMPERATURE) {
            *to = heat_number(&v, v.from, heat_place(v.stride, at));
        } else {
            for (int a = 0; a < v.dims; a++) {
                to[a * nx] = heat_flux(&v, at, a);
            }
        }
    }
    return which == HEAT_TEMPERATURE ? 1 : v.dims;
}

static double sum_row(const sel_state *base, int64_t step, int64_t row, bool source) {
    const heat_view v = view_of_row(base, step, row);
    const uint8_t *solid = sel_state_solids(base, row);
    int64_t at[3] = {0, row % v.n[1], row / v.n[1]};
    double sum = 0;
    for (; at[0] < v.n[0]; at[0]++) {
        sum += solid[at[0]] ? 0 : heat_amount(&v, at, source);
    }
    return sum;
}

static double heat_row(const sel_state *base, int64_t row) {
    return sum_row(base, base->step, row, false);
}

static double heat_row_before(const sel_state *base, int64_t row) {
    return sum_row(base, base->step - 1, row, false);
}

static double source_row(const sel_state *base, int64_t row) {
    return sum_row(base, base->step, row, true);
}

/* The change of a row's sum of temperatures in the last step. */
static double change_row(const sel_state *base, int64_t row) {
    const heat_view v = view_of_row(base, base->step, row);
    const uint8_t *solid = sel_state_solids(base, row);
    int64_t at[3] = {0, row % v.n[1], row / v.n[1]};
    double sum = 0;
    for (; at[0] < v.n[0]; at[0]++) {
        const int64_t i = heat_place(v.stride, at);
        sum += solid[at[0]] ? 0 : heat_number(&v, v.from, i) - heat_number(&v, v.to, i);
    }
    return sum;
}

static double mean_change(sel_state *base) {
    const double cells = (double)base->plan->domain->free_cells;
    return base->step > 0 ? fabs(sel_sum_rows(base, change_row, false)) / cells : (double)NAN;
}

static sel_status other(sel_state *base, sel_request *request, sel_error *error) {
    heat_state *state = (heat_state *)base;
    const heat_plan *plan = state->plan;
    const int64_t *cell = base->given.cell, *of = base->given.first_site;
    const int64_t first = base->step > 0 ? base->step - 1 : 0, nx = plan->base.domain->grid.n[0];
    double heat[3] = {0};
    (void)error;
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t k = 0; k < plan->inputs.surfaces.cells; k++) {
        const int64_t row = cell[k] / nx;
        const heat_view v = view_of_row(base, first, row);
        const int64_t at[3] = {cell[k] % nx, row % v.n[1], row / v.n[1]};
        heat_entering(&v, state->site, base->given.value, of[k], of[k + 1], at, base->step > 0,
                      state->entering);
    }
    if (request->kind == SEL_BALANCE) {
        heat[0] = sel_sum_rows(base, heat_row, false);
        heat[1] = base->step > 0 ? sel_sum_rows(base, heat_row_before, false) : (double)NAN;
        heat[2] = plan->kind == HEAT_VARIED ? sel_sum_rows(base, source_row, false) : 0;
    }
    heat_answer(plan, state->entering, heat[0], heat[1], heat[2], request);
    return SEL_OK;
}

const sel_cpu heat_on_cpu = {.what = "the temperature",
                             .state_size = sizeof(heat_cpu),
                             .list = list,
                             .start = start,
                             .derive = derive,
                             .steps = steps,
                             .look = {.field = field, .other = other, .mean_change = mean_change}};
