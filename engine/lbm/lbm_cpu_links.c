/* lbm_cpu_links.c -- what a region's links carried in an observed step: force, torque, mass.
 *
 * A link along the incoming direction i takes the population own[opposite] out of the cell and
 * brings g[i] back. The wall gains the momentum e_opposite (own[opposite] + g[i]) (momentum
 * exchange; Ladd, J. Fluid Mech. 271 (1994) 285), the outside gains the mass own[opposite] - g[i].
 * Populations are deviations from rest, so that the pressure at rest presses on nothing.
 * Sums are made by row and joined by a fixed tree: the same for any number of threads.
 */
#include <omp.h>
#include "engine/lbm/lbm_answers.h"
#include "engine/lbm/lbm_cpu.h"
#include "engine/machine/sums.h"

/* Columns of a row's partials. */
enum { FORCE, TORQUE = 3, MASS = 6, SUMS };

/* Adds the push f of a link whose middle is `arm` away from the centre of the torque. */
static void add_push(const double arm[3], const double f[3], double partial[SUMS]) {
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        partial[FORCE + a] += f[a];
        partial[TORQUE + a] += arm[b] * f[c] - arm[c] * f[b];
    }
}

static double link_value(const lbm_cpu *state, int64_t at) {
    return state->precision == SEL_F32 ? (double)((const float *)state->links)[at]
                                       : ((const double *)state->links)[at];
}

/* Adds the links of one cell; torque about `centre` in cells, from the middle of each link. */
static void add_cell(const lbm_cpu *state, int64_t row, const lbm_boundary_cell *cell, int region,
                     const double centre[3], double partial[SUMS]) {
    const lbm_boundary *boundary = &state->plan->boundary;
    const double at[3] = {(double)cell->x, (double)(row % state->layout.ny),
                          (double)(row / state->layout.ny)};
    int64_t link = cell->first_link;
    for (int i = 1; i < state->lattice->q; i++) {
        if (!(cell->links >> i & 1u) || boundary->link_region[link++] != region) {
            continue;
        }
        const lbm_direction *d = &state->lattice->direction[i];
        const double out = link_value(state, link - 1),
                     in = link_value(state, boundary->link_count + link - 1);
        double arm[3], push[3];
        for (int a = 0; a < 3; a++) {
            arm[a] = at[a] - 0.5 * d->e[a] - centre[a];
            push[a] = -d->e[a] * (out + in);
        }
        add_push(arm, push, partial);
        partial[MASS] += out - in;
    }
}

/* Sums of all links of `region`, lattice units. */
static void sum_links(lbm_cpu *state, int region, const double centre[3], double sum[SUMS]) {
    const lbm_boundary *boundary = &state->plan->boundary;
#pragma omp parallel for schedule(static) num_threads(state->base.threads)
    for (int64_t row = 0; row < boundary->rows; row++) {
        double *partial = state->base.partials + row * SEL_PARTIALS;
        for (int k = 0; k < SUMS; k++) {
            partial[k] = 0;
        }
        for (int64_t c = boundary->row_cells[row]; c < boundary->row_cells[row + 1]; c++) {
            add_cell(state, row, &boundary->cells[c], region, centre, partial);
        }
    }
    for (int k = 0; k < SUMS; k++) {
        sum[k] = sel_tree_sum(state->base.partials + k, boundary->rows, SEL_PARTIALS);
    }
}

void lbm_links(lbm_cpu *state, sel_request *request) {
    double sum[SUMS], centre[3];
    lbm_links_centre(state->plan, request, centre);
    sum_links(state, request->region, centre, sum);
    lbm_links_answer(state->plan, sum + FORCE, sum + TORQUE, sum[MASS], request);
}
