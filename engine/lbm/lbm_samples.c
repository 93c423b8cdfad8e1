/* lbm_samples.c -- what the laws and the initial state of a flow show before it is run.
 *
 * Laws that vary are sampled over the run: one that starts from rest shows its size only later. One
 * that fails counts as zero here, since what fails is told elsewhere.
 */
#include <math.h>
#include <stdlib.h>
#include "engine/lbm/lbm_terms.h"
#include "engine/physics/lbm_law.h"

enum { SAMPLES = 16, MOST_PER_AXIS = 64, MOST_PER_AXIS_OF_BOX = 16 };

typedef void take_sample(const lbm_plan *plan, const lbm_batch *batch, const double *values,
                         void *to);

/* The steps at which laws are sampled: the first, the last, and between them none at even
 * distances, which could all meet one phase of an oscillation. */
static double sample_step(int sample, double end) {
    const double golden = 0.6180339887498949;
    return sample == 0 ? 0 : sample == SAMPLES ? end : end * fmod(sample * golden, 1);
}

/* Calls `take` with the values of all laws of velocities, or of pressures. */
static void sample_laws(const lbm_plan *plan, bool velocities, take_sample *take, void *to) {
    const lbm_batches *batches = &plan->boundary.batches;
    double *values = malloc((3 * (size_t)batches->largest + 1) * sizeof *values);
    int64_t last_step = sel_stop_step(&plan->params->common);
    double end = last_step == INT64_MAX ? 0 : (double)last_step;
    for (int k = 0; values && k < batches->count; k++) {
        const lbm_batch *batch = &batches->v[k];
        int last = batch->depends & SEL_ON_T && end > 0 ? SAMPLES : 0;
        for (int s = 0; s <= last && (batch->quantity->components > 1) == velocities; s++) {
            if (!lbm_batch_evaluate(batch, plan->base.domain, sample_step(s, end), values, NULL)) {
                take(plan, batch, values, to);
            }
        }
    }
    free(values);
}

/* ---- the largest velocity ---- */

/* The largest magnitude of n vectors, by component. */
static double largest_of(const double *value, int64_t n, int components) {
    double largest = 0;
    for (int64_t k = 0; k < n; k++) {
        double square = 0;
        for (int c = 0; c < components; c++) {
            square += value[c * n + k] * value[c * n + k];
        }
        largest = fmax(largest, sqrt(square));
    }
    return largest;
}

/* take_sample */
static void take_largest(const lbm_plan *plan, const lbm_batch *batch, const double *values,
                         void *to) {
    (void)plan;
    double *largest = to;
    *largest = fmax(*largest, largest_of(values, batch->count, batch->quantity->components));
}

/* Centres of free cells, some along each axis: x, y and z of `room` each. Returns their number. */
static int64_t some_cells(const sel_domain *domain, int64_t most, int64_t room, double *places) {
    const sel_grid *grid = &domain->grid;
    int64_t stride[3], at[3], count = 0;
    for (int a = 0; a < 3; a++) {
        stride[a] = (grid->n[a] + most - 1) / most;
    }
    for (at[2] = stride[2] / 2; at[2] < grid->n[2]; at[2] += stride[2]) {
        for (at[1] = stride[1] / 2; at[1] < grid->n[1]; at[1] += stride[1]) {
            for (at[0] = stride[0] / 2; at[0] < grid->n[0]; at[0] += stride[0]) {
                if (domain->cell[sel_cell_number(grid, at)] == 0 && count < room) {
                    for (int a = 0; a < 3; a++) {
                        places[a * room + count] = sel_centre(grid, a, (double)at[a]);
                    }
                    count++;
                }
            }
        }
    }
    return count;
}

static double largest_initial(const lbm_plan *plan) {
    const sel_domain *domain = plan->base.domain;
    const sel_quantity *q = &plan->params->initial.velocity;
    const bool space = domain->grid.dims == 3;
    const int64_t most = space ? MOST_PER_AXIS_OF_BOX : MOST_PER_AXIS;
    const int64_t room = space ? most * most * most : most * most;
    double *numbers = NULL, largest = 0;
    if (sel_quantity_given(q)) {
        numbers = malloc(6 * (size_t)room * sizeof *numbers);
    }
    if (numbers) {
        double *x = numbers, *y = x + room, *z = y + room, *values = z + room;
        const sel_places at = {.n = (size_t)some_cells(domain, most, room, numbers),
                               .x = x,
                               .y = y,
                               .z = space ? z : NULL,
                               .controls = domain->control_values};
        if (at.n > 0 && !sel_quantity_eval(q, "initial velocity", &at, values, NULL)) {
            largest = largest_of(values, (int64_t)at.n, q->components);
        }
    }
    free(numbers);
    return largest;
}

double lbm_largest_velocity(const lbm_plan *plan) {
    double reference = plan->params->common.reference.velocity, largest = 0;
    sample_laws(plan, true, take_largest, &largest);
    largest = fmax(largest, largest_initial(plan));
    return fmax(largest, isnan(reference) ? 0 : reference);
}

/* ---- pressures ---- */

/* take_sample */
static void take_pressures(const lbm_plan *plan, const lbm_batch *batch, const double *values,
                           void *to) {
    (void)plan;
    double *range = to;
    for (int64_t k = 0; k < batch->count; k++) {
        range[0] = fmin(range[0], values[k]);
        range[1] = fmax(range[1], values[k]);
    }
}

void lbm_pressure_range(const lbm_plan *plan, double *lowest, double *highest) {
    double range[2] = {0, 0};
    sample_laws(plan, false, take_pressures, range);
    *lowest = range[0];
    *highest = range[1];
}

/* ---- what passes ---- */

/* A wall that moves along itself moves no mass: what its links add cancels. One that moves into the
 * fluid or away from it does. */
static bool wall_moves_mass(const lbm_plan *plan, const lbm_batch *batch, const double *values) {
    double sum = 0, size = 0;
    for (int64_t k = 0; k < batch->count; k++) {
        const lbm_direction *d = &plan->boundary.lattice->direction[batch->incoming[k]];
        double adds = lbm_wall_adds(d->e, d->weight, batch->quantity->components, values + k,
                                    batch->count, plan->numbers.velocity_unit);
        sum += adds;
        size += fabs(adds);
    }
    return fabs(sum) > 1e-6 * size;
}

/* take_sample: what passes the wet faces of a law, inwards and outwards. */
static void take_passing(const lbm_plan *plan, const lbm_batch *batch, const double *values,
                         void *to) {
    lbm_passing *passing = to;
    const lbm_boundary_cell *const *open = passing->open;
    if (batch->on_links) {
        passing->free = passing->free || wall_moves_mass(plan, batch, values);
        return;
    }
    for (int64_t k = 0; k < batch->count; k++) {
        const lbm_boundary_cell *cell = open[batch->target[k]];
        double inward = 0;
        for (int a = 0; a < plan->base.domain->grid.dims; a++) {
            inward += cell->normal[a] * values[a * batch->count + k];
        }
        if (inward > passing->in) {
            passing->in = inward;
            passing->in_region = cell->velocity_region;
        }
        if (-inward > passing->out) {
            passing->out = -inward;
            passing->out_region = cell->velocity_region;
        }
    }
}

/* Not where hooks may change a velocity, nor in time without a known end. */
static bool can_be_sampled(const lbm_plan *plan) {
    const sel_common *common = &plan->params->common;
    unsigned unknown = common->hooks.n > 0 ? SEL_ON_CONTROLS : 0;
    unknown |= sel_stop_step(common) == INT64_MAX ? SEL_ON_T : 0;
    return !(plan->boundary.batches.depends & unknown);
}

lbm_passing lbm_find_passing(const lbm_plan *plan) {
    const lbm_boundary *boundary = &plan->boundary;
    lbm_passing passing = {.in = 0};
    const lbm_boundary_cell **open = calloc((size_t)boundary->open_count + 1, sizeof *open);
    for (int64_t c = 0; open && c < boundary->cell_count; c++) {
        const lbm_boundary_cell *cell = &boundary->cells[c];
        if (cell->opening_index >= 0) {
            open[cell->opening_index] = cell;
            passing.free =
                passing.free || cell->opening == LBM_OPEN_OUTFLOW || cell->density_region != 0;
        }
    }
    if (open && !passing.free && can_be_sampled(plan)) {
        passing.open = open;
        sample_laws(plan, true, take_passing, &passing);
        passing.open = NULL;
    }
    free(open);
    return passing;
}
