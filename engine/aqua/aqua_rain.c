/* aqua_rain.c -- how much rain a run brings: summed up, or sampled. */
#include "engine/aqua/aqua_rain.h"

#include <math.h>
#include <stdlib.h>
#include "engine/aqua/aqua_rows.h"

/* Rain as weak is no rain in hours, and the strongest that was ever measured in a minute had about
 * 2,000 mm/h; mm/h. */
static const double weakest = 0.01, strongest = 1000;

/* Steps that are summed up one by one; times and places of a sample. */
enum { MOST_STEPS = 1000000, SAMPLED_TIMES = 320, SAMPLED = 100000, TRIES = 64 };

/* A rate of mm/h, its mean and its largest value. */
typedef struct rate {
    double mean, largest;
    int64_t samples; /* 0: not an estimate */
} rate;

/* The middle of step k of `count` that stand for `steps`. */
static double time_of(const aqua_plan *plan, int64_t k, int64_t count, int64_t steps) {
    int64_t step =
        count == steps ? k : (int64_t)(((double)k + 0.5) / (double)count * (double)steps);
    return aqua_time_of_amounts(plan, step);
}

/* ---- the same everywhere ---- */

static sel_status over_time(const aqua_plan *plan, const sel_quantity *rain, int64_t steps,
                            rate *found) {
    const sel_domain *domain = plan->base.domain;
    const bool changes = sel_quantity_depends(rain) & SEL_ON_T;
    const int64_t count = !changes ? 1 : steps < MOST_STEPS ? steps : MOST_STEPS;
    double sum = 0;
    for (int64_t k = 0; k < count; k++) {
        double value;
        const sel_places at = {.n = 1,
                               .x = &domain->grid.origin[0],
                               .y = &domain->grid.origin[1],
                               .t = time_of(plan, k, count, changes ? steps : 1),
                               .controls = domain->control_values};
        sel_status status = sel_quantity_eval(rain, "rain", &at, &value, NULL);
        if (status) {
            return status;
        }
        sum += value;
        found->largest = fmax(found->largest, value);
    }
    found->mean = sum / (double)count;
    found->samples = changes && count < steps ? count : 0;
    return SEL_OK;
}

/* ---- the same at all times ---- */

/* The sum and the largest value of each row, so that their order is always the same. */
typedef struct rows {
    int64_t nx;
    double *sum, *largest; /* [ny] */
} rows;

/* aqua_take */
static sel_status add_rows(void *to, int64_t y, int64_t count, const double *values,
                           sel_error *error) {
    const rows *r = to;
    (void)error;
    for (int64_t row = 0; row < count; row++) {
        double sum = 0, largest = 0;
        for (int64_t x = 0; x < r->nx; x++) {
            sum += values[row * r->nx + x];
            largest = fmax(largest, values[row * r->nx + x]);
        }
        r->sum[y + row] = sum;
        r->largest[y + row] = largest;
    }
    return SEL_OK;
}

static sel_status over_place(const aqua_plan *plan, const sel_quantity *rain, rate *found) {
    const sel_domain *domain = plan->base.domain;
    const int64_t ny = domain->grid.n[1];
    const aqua_asked asked = {rain, "rain", aqua_time_of_amounts(plan, 0), false, false};
    rows to = {domain->grid.n[0], calloc((size_t)ny, 2 * sizeof(double)), NULL};
    double sum = 0;
    if (!to.sum) {
        return SEL_NO_DEVICE;
    }
    to.largest = to.sum + ny;
    sel_status status = aqua_rows_visit(plan, &asked, add_rows, &to, NULL);
    for (int64_t y = 0; y < ny && !status; y++) {
        sum += to.sum[y];
        found->largest = fmax(found->largest, to.largest[y]);
    }
    found->mean = sum / (double)domain->free_cells;
    free(to.sum);
    return status;
}

/* ---- sampled ---- */

/* A point of a sequence that fills the plane evenly (Roberts 2018: powers of the plastic number) as
 * a cell. */
static int64_t sampled_cell(const sel_grid *grid, int64_t k) {
    const double u = fmod(0.5 + 0.7548776662466927 * (double)k, 1);
    const double v = fmod(0.5 + 0.5698402909980532 * (double)k, 1);
    return (int64_t)(v * (double)grid->n[1]) * grid->n[0] + (int64_t)(u * (double)grid->n[0]);
}

/* Free cells, `wanted` of them if so many are met: their places in x and y, how many. *k goes on.
 */
static size_t sample_places(const sel_domain *domain, size_t wanted, int64_t *k, double *x,
                            double *y) {
    const sel_grid *grid = &domain->grid;
    size_t n = 0;
    for (size_t tries = 0; n < wanted && tries < TRIES * wanted; tries++) {
        const int64_t cell = sampled_cell(grid, (*k)++);
        if (domain->cell[cell] == 0) {
            x[n] = sel_centre(grid, 0, (double)(cell % grid->n[0]));
            y[n++] = sel_centre(grid, 1, (double)(cell / grid->n[0]));
        }
    }
    return n;
}

static sel_status sample(const aqua_plan *plan, const sel_quantity *rain, int64_t steps,
                         rate *found) {
    const int64_t times = steps < SAMPLED_TIMES ? steps : SAMPLED_TIMES;
    const size_t wanted = (size_t)(SAMPLED / times);
    double *x = malloc(3 * wanted * sizeof *x), *y = x + wanted, *value = y + wanted, sum = 0;
    sel_status status = x ? SEL_OK : SEL_NO_DEVICE;
    int64_t next = 0;
    for (int64_t k = 0; k < times && !status; k++) {
        const sel_places at = {.n = sample_places(plan->base.domain, wanted, &next, x, y),
                               .x = x,
                               .y = y,
                               .t = time_of(plan, k, times, steps),
                               .controls = plan->base.domain->control_values};
        status = at.n ? sel_quantity_eval(rain, "rain", &at, value, NULL) : SEL_OK;
        for (size_t i = 0; i < at.n && !status; i++) {
            sum += value[i];
            found->largest = fmax(found->largest, value[i]);
        }
        found->samples += (int64_t)at.n;
    }
    found->mean = found->samples ? sum / (double)found->samples : 0;
    free(x);
    return status ? status : found->samples ? SEL_OK : SEL_BAD_SCENARIO;
}

/* ---- all ---- */

bool aqua_rain_measure(const aqua_plan *plan, aqua_rain_sum *sum) {
    const sel_quantity *rain = &plan->params->rain;
    const sel_grid *grid = &plan->base.domain->grid;
    const unsigned depends = sel_quantity_depends(rain);
    const int64_t steps = sel_stop_step(&plan->params->common);
    const bool endless = steps == INT64_MAX;
    rate found = {0};
    if (!sel_quantity_given(rain) || steps < 1 || (endless && (depends & SEL_ON_T))) {
        return false;
    }
    sel_status status = !(depends & SEL_ON_PLACE) ? over_time(plan, rain, steps, &found)
                        : depends & SEL_ON_T      ? sample(plan, rain, steps, &found)
                                                  : over_place(plan, rain, &found);
    const double hours = (double)steps * grid->dt / 3600;
    const double area = (double)plan->base.domain->free_cells * grid->dx * grid->dx;
    *sum = (aqua_rain_sum){.volume = found.mean * hours / 1000 * area,
                           .millimetres = found.mean * hours,
                           .mean = found.mean,
                           .largest = found.largest,
                           .samples = found.samples,
                           .endless = endless};
    return status == SEL_OK;
}

void aqua_rain_warn(const aqua_plan *plan, sel_error *warnings) {
    const sel_where where = sel_simulation_where(plan->base.simulation, "rain");
    aqua_rain_sum sum;
    bool constant = !sel_quantity_depends(&plan->params->rain);
    if (!aqua_rain_measure(plan, &sum) || (constant && sum.largest == 0)) {
        return;
    }
    if (sum.largest < weakest) {
        sel_fail_at(warnings, where,
                    "rain is at most %.3g mm/h in this run, less than %g mm/h: rain is given in "
                    "mm/h; of m/s multiply by 3.6e6, and mind that series take seconds",
                    sum.largest, weakest);
    } else if (sum.largest > strongest) {
        sel_fail_at(warnings, where,
                    "rain reaches %.6g mm/h in this run, more than %g mm/h: rain is given in mm/h; "
                    "of mm a day divide by 24, of mm in a step of %g s multiply by 3600 / %g",
                    sum.largest, strongest, plan->base.domain->grid.dt, plan->base.domain->grid.dt);
    }
}
