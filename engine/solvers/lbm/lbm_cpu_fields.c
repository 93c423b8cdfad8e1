/* lbm_cpu_fields.c -- the populations of step 0, and what is computed from those of a step: fields,
 * forces and fluxes through links, the balance of mass.
 *
 * Density and velocity are moments of the stored populations. Vorticity and the q criterion are
 * differences of the velocity. Forces, fluxes through regions, strain rate and stress are stored by
 * an observed step (lbm_loops.h), from its populations before collision, from which alone the
 * strain of a cell follows (engine/solvers/lbm/lbm_field.h). For step 0 the links are those of the
 * step to come, and the strain that of the initial velocity, by differences.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_cpu.h"
#include "engine/base/sums.h"

/* ---- the gradient of the velocity, by differences ---- */

/* d[a][b] = d u_a / d x_b per step, zero for axes that the domain has not, at the free cell x of a
 * row (y + ny z): central differences, one-sided beside solids and faces that are not periodic,
 * zero where both neighbours are missing. rows[LBM_HERE] and the rows about it, after wrapping: a
 * component per dimension, of nx numbers each; NULL outside of the domain. */
static void find_gradient(const sel_domain *domain, const double *const rows[LBM_AROUND], int64_t x,
                          int64_t row, double d[3][3]) {
    const sel_grid *grid = &domain->grid;
    const int64_t *n = grid->n, at[3] = {x, row % n[1], row / n[1]};
    const int64_t stride[3] = {1, n[0], n[0] * n[1]};
    const uint8_t *cell = domain->cell + row * n[0] + x;
    const double *here = rows[LBM_HERE] + x;
    memset(d, 0, 9 * sizeof **d);
    for (int b = 0; b < grid->dims; b++) {
        const double *beside[2]; /* NULL: a solid, or outside */
        for (int side = 0; side < 2; side++) {
            const double *there = b == 0 ? rows[LBM_HERE] : rows[LBM_BELOW_Y + 2 * (b - 1) + side];
            const bool ends = at[b] == (side ? n[b] - 1 : 0);
            const int64_t away = !ends ? 2 * side - 1 : side ? 1 - n[b] : n[b] - 1;
            const bool known =
                there && (!ends || sel_axis_periodic(grid, b)) && !cell[away * stride[b]];
            beside[side] = known ? there + x + (b == 0 ? away : 0) : NULL;
        }
        const double *below = beside[0], *above = beside[1];
        for (int a = 0; a < grid->dims; a++) {
            const int64_t c = a * n[0];
            d[a][b] = below && above ? 0.5 * (above[c] - below[c])
                      : above        ? above[c] - here[c]
                      : below        ? here[c] - below[c]
                                     : 0;
        }
    }
}

/* ---- rows ---- */

static double *thread_rows(const lbm_cpu *state) {
    return state->rows + LBM_ROWS * state->layout.nx * omp_get_thread_num();
}

/* Density deviation and velocity of x0 <= x < x1 of a row, lattice units, one behind the other in
 * to[(1 + dims) nx]. */
static void read_row(const lbm_cpu *state, int64_t row, int64_t x0, int64_t x1, double *to) {
    int64_t nx = state->layout.nx;
    const sel_state *base = &state->all.base;
    state->loops->read(&state->layout, state->all.plan->moments, sel_state_beside(base, row), row,
                       x0, x1, to, nx);
    double acceleration[3];
    for (int64_t x = x0; x < x1 && state->forcing != LBM_NO_FORCE; x++) {
        if (x == x0 || state->forcing == LBM_FORCE_FIELD) {
            lbm_acceleration_at(state, x, row, acceleration);
        }
        for (int a = 0; a < state->lattice->dims; a++) {
            to[(a + 1) * nx + x - x0] -= 0.5 * acceleration[a];
        }
    }
}

/* The row and its neighbours, after wrapping; -1: outside. */
static void window(const lbm_cpu *state, int64_t row, int64_t rows[LBM_AROUND]) {
    const sel_grid *grid = &state->all.plan->base.domain->grid;
    const int64_t *n = grid->n, at[3] = {0, row % n[1], row / n[1]}, stride[3] = {0, 1, n[1]};
    rows[LBM_HERE] = row;
    for (int k = 0; k < 4; k++) {
        const int axis = 1 + k / 2;
        const bool wraps = axis < grid->dims && sel_axis_periodic(grid, axis);
        int64_t to = at[axis] + (k % 2 ? 1 : -1);
        to = wraps ? (to + n[axis]) % n[axis] : to;
        const bool inside = to >= 0 && to < n[axis];
        rows[LBM_BELOW_Y + k] = inside ? row + (to - at[axis]) * stride[axis] : -1;
    }
}

/* The velocity of a row and the rows about it, in scratch of the thread, with the density deviation
 * nx numbers before each. */
static void read_window(const lbm_cpu *state, int64_t row, const double *velocity[LBM_AROUND]) {
    int64_t nx = state->layout.nx, rows[LBM_AROUND];
    window(state, row, rows);
    for (int k = 0; k < LBM_AROUND; k++) {
        double *to = thread_rows(state) + 4 * k * nx;
        velocity[k] = rows[k] < 0 ? NULL : to + nx;
        if (velocity[k]) {
            read_row(state, rows[k], 0, nx, to);
        }
    }
}

/* ---- fields ---- */

/* As the last observed step left it. */
static int strain_row(const lbm_cpu *state, int field, int64_t row, int64_t x0, int64_t x1,
                      double *to) {
    const sel_layout *layout = &state->all.strain_layout;
    const double *from = state->all.strain[field - LBM_STRAIN_RATE] + sel_layout_row(layout, row);
    const int64_t nx = state->layout.nx;
    const int components = sel_field_components(&lbm_solver.fields[field], state->lattice->dims);
    for (int c = 0; c < components; c++) {
        memcpy(to + c * nx, from + c * layout->component + x0, (size_t)(x1 - x0) * sizeof *to);
    }
    return components;
}

/* The fields of walls at the boundary cells of a row, 0 at others. */
static int wall_row(const lbm_cpu *state, int field, int64_t row, int64_t x0, int64_t x1,
                    double *to) {
    const lbm_plan *plan = state->all.plan;
    const lbm_boundary *boundary = &plan->boundary;
    const lbm_units units = lbm_units_of(plan);
    const int64_t nx = state->layout.nx;
    const int dims = state->lattice->dims;
    const int components = sel_field_components(&lbm_solver.fields[field], dims);
    double *moments = thread_rows(state), value[3];
    if (field == LBM_Y_PLUS) {
        read_row(state, row, x0, x1, moments);
    }
    for (int c = 0; c < components; c++) {
        memset(to + c * nx, 0, (size_t)(x1 - x0) * sizeof *to);
    }
    for (int64_t k = boundary->row_cells[row]; k < boundary->row_cells[row + 1]; k++) {
        const int64_t x = boundary->cells[k].x;
        if (x >= x0 && x < x1) {
            lbm_wall_field(
                field, &state->all.walls[k], state->all.strain[LBM_STRESS - LBM_STRAIN_RATE],
                state->all.strain_layout.component, field == LBM_Y_PLUS ? moments[x - x0] : 0,
                plan->numbers.nu, plan->base.domain->grid.dx[0], dims, &units, value);
            for (int c = 0; c < components; c++) {
                to[c * nx + x - x0] = value[c];
            }
        }
    }
    return components;
}

int lbm_cpu_field(const sel_state *base, int field, int64_t row, int64_t x0, int64_t x1,
                  const double **values) {
    const lbm_cpu *state = (const lbm_cpu *)base;
    const bool rotation = field == LBM_VORTICITY || field == LBM_Q_CRITERION;
    const lbm_units units = lbm_units_of(state->all.plan);
    const int64_t nx = state->layout.nx;
    const int dims = state->lattice->dims;
    const double *velocity[LBM_AROUND];
    double *to = thread_rows(state) + 4 * LBM_AROUND * nx;
    int components = 1;
    *values = to;
    if (lbm_is_of_strain(field)) {
        return strain_row(state, field, row, x0, x1, to);
    }
    if (lbm_is_of_walls(field)) {
        return wall_row(state, field, row, x0, x1, to);
    }
    if (rotation) {
        read_window(state, row, velocity);
    } else {
        read_row(state, row, x0, x1, to);
    }
    for (int64_t k = 0; k < x1 - x0; k++) { /* the field replaces the moments */
        double value[3], d[3][3];
        if (rotation) {
            find_gradient(state->all.plan->base.domain, velocity, x0 + k, row, d);
            components = lbm_rotation_field(field, d, dims, &units, value);
        } else {
            components = lbm_moment_field(field, to[k], to + nx + k, nx, dims, &units, value);
        }
        for (int c = 0; c < components; c++) {
            to[c * nx + k] = value[c];
        }
    }
    return components;
}

void lbm_cpu_main(const sel_state *base, int64_t row, sel_main_row *main) {
    const lbm_cpu *state = (const lbm_cpu *)base;
    const int64_t nx = state->layout.nx;
    const int dims = state->lattice->dims;
    double *values = thread_rows(state), *square = values + (1 + dims) * nx;
    read_row(state, row, 0, nx, values);
    *main = (sel_main_row){.large = square, .small = values};
    memset(square, 0, (size_t)nx * sizeof *square);
    for (int a = 0; a < dims; a++) {
        const double *u = main->value[a] = values + (a + 1) * nx;
        for (int64_t x = 0; x < nx; x++) {
            square[x] += u[x] * u[x];
        }
    }
}

/* ---- the populations of step 0 ---- */

/* The given fields at step 0 of the rows that a rank needs: [planes][rows][1 + dims][nx], density
 * deviation and velocity, of its own planes and of one beyond each end; where planes are cut, of
 * its own rows and of one beyond each end, else of all. */
typedef struct given {
    double *values;
    int64_t first, end, low, high; /* this rank's planes; its rows of each plane */
    bool boxed;
    int64_t rows, planes; /* of the grid: of a plane, planes */
} given;

/* The place of plane or row i of n among those from first - 1 to end. */
static int64_t lbm_cpu_fields_place_of(int64_t i, int64_t n, int64_t first, int64_t end) {
    const int64_t around = i < first - 1 ? n : i > end ? -n : 0; /* a periodic axis */
    return i + around - first + 1;
}

static double *given_row(const lbm_cpu *state, const given *flow, int64_t row) {
    const int64_t numbers = (1 + state->lattice->dims) * state->layout.nx;
    const int64_t rows = flow->boxed ? flow->high - flow->low + 2 : flow->rows;
    const int64_t plane =
        lbm_cpu_fields_place_of(row / flow->rows, flow->planes, flow->first, flow->end);
    const int64_t y = row % flow->rows;
    return flow->values +
           (plane * rows +
            (flow->boxed ? lbm_cpu_fields_place_of(y, flow->rows, flow->low, flow->high) : y)) *
               numbers;
}

static sel_status evaluate_rows(const lbm_cpu *state, const given *flow, int64_t first, int64_t end,
                                sel_error *error) {
    return lbm_initial_rows((const lbm_plan *)state->all.base.plan, first, end,
                            given_row(state, flow, first), error);
}

/* The initial flow in `count` planes from `plane` on, which are contiguous in the grid. */
static sel_status evaluate_planes(const lbm_cpu *state, const given *flow, int64_t plane,
                                  int64_t count, sel_error *error) {
    const int64_t all = flow->rows, first = (plane + flow->planes) % flow->planes * all;
    sel_status status = SEL_OK;
    if (!flow->boxed) {
        return evaluate_rows(state, flow, first, first + count * all, error);
    }
    for (int64_t at = first; at < first + count * all && !status; at += all) {
        const int64_t below = at + (flow->low + all - 1) % all, above = at + flow->high % all;
        status = evaluate_rows(state, flow, at + flow->low, at + flow->high, error);
        status = status ? status : evaluate_rows(state, flow, below, below + 1, error);
        status = status ? status : evaluate_rows(state, flow, above, above + 1, error);
    }
    return status;
}

static sel_status evaluate_given(const lbm_cpu *state, const given *flow, sel_error *error) {
    sel_status status = evaluate_planes(state, flow, flow->first, flow->end - flow->first, error);
    if (state->all.base.ranks->count > 1 && !status) {
        status = evaluate_planes(state, flow, flow->end, 1, error);
        status = status ? status : evaluate_planes(state, flow, flow->first - 1, 1, error);
    }
    return status;
}

static void set_row(const lbm_cpu *state, const given *flow, int64_t row) {
    const lbm_plan *plan = state->all.plan;
    const int64_t nx = state->layout.nx, dims = state->lattice->dims;
    const double *velocity[LBM_AROUND], *here = given_row(state, flow, row);
    int64_t rows[LBM_AROUND];
    window(state, row, rows);
    for (int k = 0; k < LBM_AROUND; k++) {
        velocity[k] = rows[k] < 0 ? NULL : given_row(state, flow, rows[k]) + nx;
    }
    for (int64_t x = 0; x < nx; x++) {
        double u[3] = {0}, strain[6], a[3], g[LBM_MAX_Q], d[3][3];
        if (sel_state_solids(&state->all.base, row)[x]) {
            continue;
        }
        find_gradient(plan->base.domain, velocity, x, row, d);
        for (int c = 0; c < dims; c++) {
            u[c] = here[(1 + c) * nx + x];
        }
        lbm_gradient_strain(d, (int)dims, strain);
        lbm_acceleration_at(state, x, row, a);
        const double tau = plan->numbers.tau + 3 * lbm_eddy_viscosity(plan->numbers.eddy, d);
        state->loops->start(here[x], u, strain, tau, a, plan->collision, plan->moments, g);
        state->loops->write(&state->layout, plan->components, lbm_now(state), x, row, g);
    }
}

/* The second copy of the populations has room for the given fields in f64, with halos. */
sel_status lbm_set_initial(lbm_cpu *state, sel_error *error) {
    const sel_state *base = &state->all.base;
    const sel_rows own = sel_own_rows(base);
    const int slow = base->decomposition.slow;
    const bool deep = slow == 2;
    const given flow = {.values = sel_arrays_memory(&base->arrays, &state->all.f[1]),
                        .first = base->own.lo[slow],
                        .end = base->own.hi[slow],
                        .low = deep ? base->own.lo[1] : 0,
                        .high = deep ? base->own.hi[1] : 1,
                        .boxed = sel_divides_planes(&base->decomposition),
                        .rows = base->rows_per_plane,
                        .planes = sel_state_rows(base) / base->rows_per_plane};
    sel_status status = sel_state_agree(base, evaluate_given(state, &flow, error), error);
    if (status) {
        return status;
    }
#pragma omp parallel for schedule(static) num_threads(base->threads)
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        set_row(state, &flow, row);
        lbm_fill_halo(state, lbm_now(state), row, true);
    }
    sel_state_exchange(base, 0, SEL_FETCH_ALL); /* the first strain is by differences */
    sel_arrays_zero(&base->arrays, &state->all.f[1], base->threads);
    return SEL_OK;
}

/* ---- the strain of step 0 ---- */

static void strain_row_of_gradient(const lbm_cpu *state, int64_t row) {
    const lbm_units units = lbm_units_of(state->all.plan);
    const lbm_plan *plan = state->all.plan;
    const lbm_numbers *numbers = &plan->numbers;
    const sel_layout *layout = &state->all.strain_layout;
    const int64_t nx = state->layout.nx, first = sel_layout_row(layout, row);
    const int dims = state->lattice->dims;
    const double *velocity[LBM_AROUND];
    read_window(state, row, velocity);
    for (int64_t x = 0; x < nx; x++) {
        double d[3][3], strain[6], value[6];
        if (sel_state_solids(&state->all.base, row)[x]) {
            continue;
        }
        find_gradient(state->all.plan->base.domain, velocity, x, row, d);
        lbm_gradient_strain(d, dims, strain);
        const double rho = 1 + velocity[LBM_HERE][x - nx];
        const double tau = numbers->tau + 3 * lbm_eddy_viscosity(numbers->eddy, d);
        const lbm_viscosity viscosity =
            lbm_viscosity_of(rho, tau, plan->collision >= LBM_RECURSIVE);
        for (int k = 0; k < LBM_STRAIN_FIELDS; k++) {
            const int count =
                lbm_strain_field(LBM_STRAIN_RATE + k, strain, viscosity, dims, &units, value);
            for (int i = 0; i < count && state->all.strain[k]; i++) {
                state->all.strain[k][i * layout->component + first + x] = value[i];
            }
        }
    }
}

void lbm_initial_strain(const lbm_cpu *state) {
    const sel_rows own = sel_own_rows(&state->all.base);
#pragma omp parallel for schedule(static) num_threads(state->all.base.threads)
    for (int64_t k = 0; k < own.count; k++) {
        strain_row_of_gradient(state, sel_row_of(&own, k));
    }
}

/* ---- what links carry, and the balance ---- */

/* Adds the links of one cell, and half of those that two regions share; torque about `centre` in
 * cells. */
static void lbm_cpu_fields_add_cell(const lbm_cpu *state, int64_t row,
                                    const lbm_boundary_cell *cell, int region,
                                    const double centre[3], lbm_carried *sum) {
    const lbm_boundary *boundary = &state->all.plan->boundary;
    const lbm_plan *plan = state->all.plan;
    const void *links = state->all.links;
    const double *velocity = boundary->moves[region] ? state->all.link_velocity : NULL;
    const int64_t count = boundary->links.count;
    const double at[3] = {(double)cell->x, (double)(row % state->layout.ny),
                          (double)(row / state->layout.ny)};
    int64_t link = cell->first_link, second = link + __builtin_popcount(cell->links);
    for (int i = 1; i < state->lattice->q; i++) {
        const bool shared = cell->shared >> i & 1u;
        const bool owns =
            cell->links >> i & 1u && (boundary->link_region[link] == region ||
                                      (shared && boundary->link_region[second] == region));
        if (owns) {
            const double share = shared ? 0.5 : 1;
            lbm_link l = {.out = share * lbm_get(plan, links, link),
                          .in = share * lbm_get(plan, links, count + link)};
            l.before = state->all.links_follow ? share * lbm_get(plan, links, 2 * count + link)
                                               : l.out + l.in;
            if (velocity) {
                const bool other = cell->both_move && boundary->link_region[link] != region;
                l.gain_before = state->all.links_follow
                                    ? share * lbm_get(plan, state->all.link_gain, link)
                                    : l.in - l.out;
                for (int a = 0; a < 3; a++) {
                    l.velocity[a] = velocity[a * count + (other ? second : link)];
                }
            }
            lbm_carry(sum, state->lattice->direction[i].e, &l, at, centre);
        }
        link += cell->links >> i & 1u;
        second += shared;
    }
}

enum { SUMS = sizeof(lbm_carried) / sizeof(double) };
_Static_assert((int)SUMS <= (int)SEL_PARTIALS, "a row has room for them");

/* Sums are made by row and joined by a fixed tree: the same for any number of threads. */
static void answer_links(lbm_cpu *state, sel_request *request) {
    const lbm_boundary *boundary = &state->all.plan->boundary;
    const sel_rows own = sel_own_rows(&state->all.base);
    double *partials = state->all.base.partials, centre[3];
    lbm_carried sum;
    lbm_links_centre(state->all.plan, request, centre);
#pragma omp parallel for schedule(static) num_threads(state->all.base.threads)
    for (int64_t k = 0; k < own.count; k++) {
        const int64_t row = sel_row_of(&own, k);
        lbm_carried *partial = (lbm_carried *)(void *)(partials + k * SEL_PARTIALS);
        *partial = (lbm_carried){.mass = 0};
        for (int64_t c = boundary->row_cells[row]; c < boundary->row_cells[row + 1]; c++) {
            lbm_cpu_fields_add_cell(state, row, &boundary->cells[c], request->region, centre,
                                    partial);
        }
    }
    sel_state_sums(&state->all.base, 0, SUMS, (double *)(void *)&sum);
    lbm_links_answer(state->all.plan, &sum, request);
}

/* The sum of the density's deviations in a row; zero in solids. */
static double lbm_cpu_fields_sum_row(const sel_state *base, int64_t row) {
    const lbm_cpu *state = (const lbm_cpu *)base;
    const int64_t nx = state->layout.nx;
    double *values = thread_rows(state), sum = 0;
    read_row(state, row, 0, nx, values);
    for (int64_t x = 0; x < nx; x++) {
        sum += values[x];
    }
    return sum;
}

double lbm_deviation(lbm_cpu *state) {
    return sel_sum_rows(&state->all.base, lbm_cpu_fields_sum_row, false);
}

/* Gives the second entries of shared links half of what the first have. */
static void share_flows(const lbm_boundary *boundary, double *flow) {
    for (int64_t c = 0; c < boundary->cell_count; c++) {
        const lbm_boundary_cell *cell = &boundary->cells[c];
        int64_t link = cell->first_link, second = link + __builtin_popcount(cell->links);
        for (uint32_t left = cell->shared ? cell->links : 0; left; left &= left - 1, link++) {
            if (cell->shared & left & (~left + 1)) {
                flow[link] *= 0.5;
                flow[second++] = flow[link];
            }
        }
    }
}

/* Adds up by region what left through the links of the grid, in their order: on rank 0, which tells
 * the others. */
static void sum_flows(const lbm_cpu *state, double *of_region) {
    const lbm_boundary *boundary = &state->all.plan->boundary;
    const sel_sites *sites = &boundary->links;
    const sel_ranks *ranks = state->all.base.ranks;
    const size_t regions = (size_t)state->all.plan->base.domain->region_count + 1;
    const bool several = ranks->count > 1, leads = ranks->rank == 0;
    const size_t all = leads && several ? (size_t)sites->all : 0;
    double *gathered = several ? sel_ranks_memory(ranks, all * (sizeof *gathered + 1)) : NULL;
    uint8_t *regions_gathered = (uint8_t *)(gathered + all);
    const double *flow = several ? gathered : state->all.link_flow;
    const uint8_t *region = several ? regions_gathered : boundary->link_region;
    if (several) {
        sel_sites_gather(sites, state->all.link_flow, sizeof *gathered, gathered);
        sel_sites_gather(sites, boundary->link_region, 1, regions_gathered);
    }
    memset(of_region, 0, regions * sizeof *of_region);
    for (int64_t link = 0; leads && link < sites->all; link++) {
        of_region[region[link]] += flow[link];
    }
    ranks->broadcast(of_region, regions * sizeof *of_region, false);
    free(gathered);
}

/* Moves the flow through links since the last balance to the regions' totals. (A sum over the
 * whole run for each link would lose digits.) A second balance at the same step finds the same
 * rates. */
static void update_flows(lbm_cpu *state) {
    const int64_t links = state->all.plan->boundary.links.count;
    const int64_t steps = state->all.base.step - state->all.balance_step;
    if (steps == 0) {
        return;
    }
    share_flows(&state->all.plan->boundary, state->all.link_flow);
    sum_flows(state, state->all.rate);
    for (int64_t link = 0; link < links; link++) {
        state->all.link_flow[link] = 0;
    }
    lbm_add_outflow(&state->all, state->all.rate, steps);
    state->all.balance_step = state->all.base.step;
}

/* What the sponge has brought to the cells of this rank, in LBM_GAIN_UNIT. */
static int64_t sum_sponge(const lbm_state *state) {
    int64_t sum = 0;
    for (int64_t k = 0; state->sponge_gain && k < state->sponge.count; k++) {
        sum += state->sponge_gain[k];
    }
    return sum;
}

sel_status lbm_cpu_other(sel_state *base, sel_request *request, sel_error *error) {
    lbm_cpu *state = (lbm_cpu *)base;
    (void)error;
    if (request->kind == SEL_BALANCE) {
        update_flows(state);
        lbm_balance_terms(&state->all, lbm_mass(&state->all, lbm_deviation(state)),
                          state->all.returned ? *state->all.returned : 0, sum_sponge(&state->all),
                          request);
    } else {
        answer_links(state, request);
    }
    return SEL_OK;
}
