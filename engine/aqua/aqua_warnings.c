/* aqua_warnings.c -- what may be wrong with a run-off although it can be run, and what is to come.
 */
#include <stdlib.h>
#include "engine/aqua/aqua_rain.h"
#include "engine/aqua/aqua_terrain.h"

/* Above this alpha potential energy may rise in a step. */
static const double most_without_rise = 4.0 / 9;

void aqua_warn(const sel_plan *base, sel_error *warnings) {
    const aqua_plan *plan = (const aqua_plan *)base;
    if (plan->largest_alpha > most_without_rise) {
        sel_fail(warnings, SEL_BAD_SCENARIO,
                 "alpha %.4g: above 4/9 the energy of the water may rise and levels swing; take "
                 "less",
                 plan->largest_alpha);
    }
    aqua_degrees_warn(plan, warnings);
    aqua_rain_warn(plan, warnings);
}

/* At the first free cell. */
static sel_status rate_ahead(const aqua_plan *plan, const sel_quantity *q, const char *what,
                             int64_t step, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    int64_t cell = 0;
    double value;
    if (!(sel_quantity_depends(q) & SEL_ON_T)) {
        return SEL_OK;
    }
    while (domain->cell[cell]) {
        cell++;
    }
    const double x = sel_centre(grid, 0, (double)(cell % grid->n[0]));
    const double y = sel_centre(grid, 1, (double)(cell / grid->n[0]));
    const sel_places at = {.n = 1,
                           .x = &x,
                           .y = &y,
                           .t = aqua_time_of_amounts(plan, step),
                           .controls = domain->control_values};
    return sel_quantity_eval(q, what, &at, &value, error);
}

static sel_status levels_ahead(const aqua_plan *plan, int64_t step, sel_error *error) {
    double *z = malloc(((size_t)plan->ghosts.count + 1) * sizeof *z);
    sel_status status = z ? aqua_levels(plan, (double)step, SEL_ON_T, z, error)
                          : sel_fail_memory(error, "the levels",
                                            (unsigned long long)plan->ghosts.count * sizeof *z);
    free(z);
    return status;
}

sel_status aqua_ahead(const sel_plan *base, int64_t step, sel_error *error) {
    const aqua_plan *plan = (const aqua_plan *)base;
    sel_status status = rate_ahead(plan, &plan->params->rain, "rain", step, error);
    sel_status infiltration =
        rate_ahead(plan, &plan->params->infiltration, "infiltration", step, error);
    sel_status levels = levels_ahead(plan, step, error);
    status = status ? status : infiltration;
    status = status ? status : levels;
    for (int i = 0; i < plan->inflow_count; i++) {
        double units;
        sel_status one = aqua_discharge(plan, i, step, &units, error);
        status = status ? status : one;
    }
    return status;
}
