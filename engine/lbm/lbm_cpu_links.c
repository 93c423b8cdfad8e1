/* lbm_cpu_links.c -- what a region's links carried in the last step: force, torque, mass.
 *
 * A link along the incoming direction i takes the population own[opposite] out of the cell and
 * brings g[i] back. The wall gains the momentum e_opposite (own[opposite] + g[i]) (momentum
 * exchange; Ladd, J. Fluid Mech. 271 (1994) 285), the outside gains the mass own[opposite] - g[i].
 * Populations are deviations from rest, so that the pressure at rest presses on nothing.
 * Sums are made by row and joined by a fixed tree: the same for any number of threads.
 */
#include <omp.h>
#include "engine/lbm/lbm_cpu.h"
#include "engine/physics/lbm_d2q9.h"
#include "engine/reduce.h"

#define LINK(i, ex, ey, opposite, weight) {ex, ey, opposite},
static const struct { int ex, ey, opposite; } directions[D2Q9_COUNT] = {D2Q9(LINK)};
#undef LINK

/* Columns of a row's partials. */
enum { FORCE_X, FORCE_Y, TORQUE, MASS };

/* Adds the links of one cell; torque about `centre` in cells, from the middle of each link. */
static void add_cell(const lbm_step *step, const lbm_loops *loops, int64_t y,
                     const lbm_boundary_cell *cell, int region, const double centre[2],
                     double *partial) {
    double own[D2Q9_COUNT], g[D2Q9_COUNT];
    int64_t link = cell->first_link;
    bool known = false;
    for (int i = 1; i < D2Q9_COUNT; i++) {
        if (!(cell->links >> i & 1u) || step->boundary->link_region[link++] != region) {
            continue;
        }
        if (!known) {
            loops->arrive(step, y, cell, own, g);
            known = true;
        }
        double out = own[directions[i].opposite], both = out + g[i];
        double x = (double)cell->x - 0.5 * directions[i].ex - centre[0];
        double fx = -directions[i].ex * both, fy = -directions[i].ey * both;
        partial[FORCE_X] += fx;
        partial[FORCE_Y] += fy;
        partial[TORQUE] += x * fy - ((double)y - 0.5 * directions[i].ey - centre[1]) * fx;
        partial[MASS] += out - g[i];
    }
}

/* Sums of all links of `region`, lattice units. */
static void sum_links(sel_state *state, int region, const double centre[2], double sum[4]) {
    const lbm_step step = lbm_last_step(state);
    const lbm_boundary *boundary = &state->plan->boundary;
#pragma omp parallel for schedule(static) num_threads(state->threads)
    for (int64_t y = 0; y < state->layout.ny; y++) {
        double *partial = state->partials + y * LBM_PARTIALS;
        for (int k = 0; k < 4; k++) {
            partial[k] = 0;
        }
        for (int64_t c = boundary->row_cells[y]; c < boundary->row_cells[y + 1]; c++) {
            add_cell(&step, lbm_loops_of(state), y, &boundary->cells[c], region, centre, partial);
        }
    }
    for (int k = 0; k < 4; k++) {
        sum[k] = sel_tree_sum(state->partials + k, state->layout.ny, LBM_PARTIALS);
    }
}

void lbm_force(sel_state *state, sel_request *request) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const lbm_numbers *numbers = &state->plan->numbers;
    double unit =
        numbers->density_unit * numbers->velocity_unit * numbers->velocity_unit * grid->dx;
    double sum[4], centre[2];
    for (int a = 0; a < 2; a++) {
        centre[a] = (request->centre[a] - grid->origin[a]) / grid->dx - 0.5;
    }
    sum_links(state, request->region, centre, sum);
    request->force[0] = sum[FORCE_X] * unit;
    request->force[1] = sum[FORCE_Y] * unit;
    request->force[2] = request->torque[0] = request->torque[1] = 0;
    request->torque[2] = sum[TORQUE] * unit * grid->dx;
}

void lbm_flux(sel_state *state, sel_request *request) {
    const sel_grid *grid = &state->plan->base.domain->grid;
    const double anywhere[2] = {0, 0};
    double sum[4];
    sum_links(state, request->region, anywhere, sum);
    request->flux = sum[MASS] * state->plan->numbers.density_unit * grid->dx * grid->dx / grid->dt;
}
