/* lbm_cpu_return.c -- the CPU returns to closed regions of fluid what interpolated walls owe them
 * (lbm_closed.h).
 */
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_closed.h"
#include "engine/solvers/lbm/lbm_cpu.h"

/* Adds what the cells of this rank have gained to sums[region], and zeroes it. */
static void return_collect(const lbm_cpu *state, int64_t *sums) {
    const lbm_boundary *b = &state->all.plan->boundary;
    int64_t *gain = state->all.gain;
    for (int64_t row = 0; row < b->rows; row++) {
        const lbm_span *span = b->spans + b->row_spans[row];
        for (int64_t c = b->row_cells[row]; c < b->row_cells[row + 1]; c++) {
            const lbm_boundary_cell *cell = &b->cells[c];
            while (span->x1 <= cell->x) {
                span++;
            }
            if (cell->closed) {
                sums[span->closed - 1] += gain[cell->first_link];
                gain[cell->first_link] = 0;
            }
        }
    }
}

/* Adds `share` to the density of `count` cells, whose components begin at f; all their moments grow
 * by the same part, so that velocities stay. */
#define RETURN_SHARE(name, REAL)                                                                  \
    static void name(const lbm_plan *plan, REAL *f, int64_t plane, int64_t count, double share) { \
        enum { PIECE = 256 };                                                                     \
        for (int64_t x0 = 0; x0 < count; x0 += PIECE) {                                           \
            const int64_t n = count - x0 < PIECE ? count - x0 : PIECE;                            \
            double more[PIECE];                                                                   \
            for (int64_t x = 0; x < n; x++) {                                                     \
                more[x] = 1;                                                                      \
            }                                                                                     \
            for (int i = 0; i < (plan->moments ? 1 : plan->components); i++) {                    \
                for (int64_t x = 0; x < n; x++) {                                                 \
                    more[x] += (double)f[i * plane + x0 + x];                                     \
                }                                                                                 \
            }                                                                                     \
            for (int64_t x = 0; x < n; x++) {                                                     \
                more[x] = share / more[x];                                                        \
            }                                                                                     \
            for (int i = 0; i < plan->components; i++) {                                          \
                const double rest =                                                               \
                    plan->moments ? i == 0 : plan->boundary.lattice->direction[i].weight;         \
                REAL *to = f + i * plane + x0;                                                    \
                for (int64_t x = 0; x < n; x++) {                                                 \
                    to[x] = (REAL)lbm_with_share((double)to[x], rest, more[x]);                   \
                }                                                                                 \
            }                                                                                     \
        }                                                                                         \
    }
RETURN_SHARE(return_share_f32, float)
RETURN_SHARE(return_share_f64, double)
#undef RETURN_SHARE

/* The same for a span of a row. */
static void return_share(const lbm_cpu *state, void *f, int64_t row, const lbm_span *span,
                         double share) {
    const lbm_plan *plan = state->all.plan;
    const int64_t first = lbm_row_offset(&state->layout, row) + span->x0, n = span->x1 - span->x0;
    if (plan->base.precision == SEL_F32) {
        return_share_f32(plan, (float *)f + first, state->layout.plane, n, share);
    } else {
        return_share_f64(plan, (double *)f + first, state->layout.plane, n, share);
    }
}

void lbm_return_mass(lbm_cpu *state) {
    const sel_state *base = &state->all.base;
    const lbm_boundary *b = &state->all.plan->boundary;
    const sel_ranks *ranks = base->ranks;
    const size_t regions = (size_t)b->closed_count, all = regions * (size_t)ranks->count;
    const sel_rows own = sel_own_rows(base);
    int64_t *sums = sel_ranks_memory(ranks, (regions + all) * sizeof *sums);
    double *shares = sel_ranks_memory(ranks, regions * sizeof *shares), any = 0;
    memset(sums, 0, regions * sizeof *sums);
    return_collect(state, sums);
    ranks->gather(sums, regions * sizeof *sums, sums + regions);
    for (size_t k = 0; k < regions; k++) {
        for (size_t r = 0; r < (size_t)ranks->count; r++) {
            state->all.owed[k] -= sums[regions * (1 + r) + k];
        }
        shares[k] = lbm_closed_share(base->plan->precision == SEL_F32, b->closed_cells[k],
                                     &state->all.owed[k], state->all.returned);
        any = shares[k] != 0 ? 1 : any;
    }
    if (any != 0) {
#pragma omp parallel for schedule(static) num_threads(base->threads)
        for (int64_t k = 0; k < own.count; k++) {
            const int64_t row = sel_row_of(&own, k);
            for (int64_t s = b->row_spans[row]; s < b->row_spans[row + 1]; s++) {
                const int64_t region = b->spans[s].closed;
                if (region && shares[region - 1] != 0) {
                    return_share(state, lbm_now(state), row, &b->spans[s], shares[region - 1]);
                }
            }
            lbm_fill_halo(state, lbm_now(state), row, true);
        }
        sel_state_exchange(base, base->step, SEL_FETCH);
    }
    free(shares);
    free(sums);
}
