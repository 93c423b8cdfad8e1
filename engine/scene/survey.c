/* survey.c -- samples of cells: sums of a quantity over cells and steps; cells drawn for an audit.
 */
#include <math.h>
#include <stdlib.h>
#include "engine/scene/solver.h"
#include "engine/values/philox.h"

enum {
    MOST_STEPS = 1000000, /* more steps are sampled */
    SAMPLED_TIMES = 320,  /* times of a sample over places */
    SAMPLED = 100000,     /* values of a sample */
    TRIES = 64            /* places tried per free cell found */
};
enum { SURVEYED_AT_ONCE = 1 << 20 }; /* cells */

static void survey_add(sel_survey *found, const double *value, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        found->sum += value[i];
        found->largest = value[i] > found->largest ? value[i] : found->largest;
    }
}

sel_status sel_survey_cells(const sel_plan *plan, const sel_quantity *quantity, const char *what,
                            double t, sel_survey *found, sel_error *error) {
    const sel_grid *grid = &plan->domain->grid;
    const int64_t rows = grid->n[1] * grid->n[2], fit = SURVEYED_AT_ONCE / grid->n[0] + 1;
    const int64_t most = fit < rows ? fit : rows;
    const size_t bytes = (size_t)(most * grid->n[0]) * sizeof(double);
    sel_evaluation asked = {.quantity = quantity, .what = what, .t = t};
    double *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, what, bytes);
    *found = (sel_survey){.count = plan->domain->free_cells};
    for (; asked.first < rows && !status; asked.first = asked.end) {
        asked.end = asked.first + most < rows ? asked.first + most : rows;
        status = sel_domain_evaluate(plan->domain, &asked, plan->threads, values, error);
        survey_add(found, values, status ? 0 : (asked.end - asked.first) * grid->n[0]);
    }
    free(values);
    return status;
}

/* Stores the centres of up to `wanted` free cells; returns their number. The cells follow a
 * low-discrepancy sequence from its element *k on (Roberts 2018: powers of the plastic number);
 * *k advances. */
static int64_t sample_places(const sel_domain *domain, int64_t wanted, int64_t *k, double *x,
                             double *y) {
    const sel_grid *grid = &domain->grid;
    int64_t n = 0;
    for (int64_t tries = 0; n < wanted && tries < TRIES * wanted; tries++, ++*k) {
        const double u = fmod(0.5 + 0.7548776662466927 * (double)*k, 1);
        const double v = fmod(0.5 + 0.5698402909980532 * (double)*k, 1);
        const int64_t column = (int64_t)(u * (double)grid->n[0]);
        const int64_t row = (int64_t)(v * (double)grid->n[1]);
        if (domain->cell[row * grid->n[0] + column] == 0) {
            x[n] = sel_centre(grid, 0, (double)column);
            y[n++] = sel_centre(grid, 1, (double)row);
        }
    }
    return n;
}

/* Samples all steps, or steps at equal distances; at other cells in each step, or at the origin if
 * the quantity does not depend on place. */
static sel_status survey_sample(const sel_plan *plan, const sel_quantity *quantity,
                                const char *what, int64_t steps, sel_survey *found) {
    const sel_domain *domain = plan->domain;
    const bool place = sel_quantity_depends(quantity) & SEL_ON_PLACE;
    const int64_t most = place ? SAMPLED_TIMES : MOST_STEPS;
    const int64_t all = sel_quantity_depends(quantity) & SEL_ON_T ? steps : 1;
    const int64_t times = all < most ? all : most, wanted = place ? SAMPLED / times : 1;
    double *x = malloc(3 * (size_t)wanted * sizeof *x), *y = x + wanted, *value = y + wanted;
    sel_status status = x ? SEL_OK : SEL_NO_DEVICE;
    int64_t next = 0;
    for (int64_t k = 0; k < times && !status; k++) {
        const double middle = ((double)k + 0.5) / (double)times * (double)all;
        const int64_t step = times == all ? k : (int64_t)middle;
        x[0] = domain->grid.origin[0];
        y[0] = domain->grid.origin[1];
        const int64_t n = place ? sample_places(domain, wanted, &next, x, y) : 1;
        const sel_places at =
            sel_domain_at(domain, n, x, y, NULL, ((double)step + 0.5) * domain->grid.dt);
        status = n ? sel_quantity_eval(quantity, what, &at, value, NULL) : SEL_OK;
        survey_add(found, value, status ? 0 : n);
        found->count += n;
    }
    found->estimate = place || times < all;
    free(x);
    return status;
}

bool sel_survey_run(const sel_plan *plan, const sel_quantity *quantity, const char *what,
                    sel_survey *found) {
    const unsigned depends = sel_quantity_depends(quantity);
    const int64_t steps = sel_stop_step((const sel_common *)plan->simulation->params);
    *found = (sel_survey){0};
    if (!sel_quantity_given(quantity) || steps < 1 ||
        (steps == INT64_MAX && (depends & SEL_ON_T))) {
        return false;
    }
    if (depends & SEL_ON_PLACE && !(depends & SEL_ON_T)) {
        return !sel_survey_cells(plan, quantity, what, 0.5 * plan->domain->grid.dt, found, NULL);
    }
    return !survey_sample(plan, quantity, what, steps, found) && found->count > 0;
}

/* ---- the cells of an audit ---- */

static int survey_by_number(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void sel_audited_draw(const sel_domain *domain, uint64_t seed,
                      bool (*fits)(const void *of, int64_t cell), const void *of, sel_audited *to) {
    enum { DRAWS = 16 * SEL_AUDITED };
    const int64_t cells = sel_grid_cells(&domain->grid);
    int64_t *cell = to->cell;
    int found = 0;
    for (int k = 0; k < DRAWS && found < SEL_AUDITED; k++) {
        const uint64_t high = sel_philox(seed, k, 0, 0), low = sel_philox(seed, k, 0, 1);
        const int64_t drawn = (int64_t)((high << 32 | low) % (uint64_t)cells);
        cell[found] = drawn;
        found += domain->cell[drawn] == 0 && (!fits || fits(of, drawn));
    }
    qsort(cell, (size_t)found, sizeof *cell, survey_by_number);
    to->count = 0;
    for (int k = 0; k < found; k++) {
        if (k == 0 || cell[k] != cell[to->count - 1]) {
            cell[to->count++] = cell[k];
        }
    }
}
