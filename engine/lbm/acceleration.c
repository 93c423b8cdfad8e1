/* acceleration.c -- evaluate the acceleration in f64, once or at the cells of rows. */
#include "engine/lbm/acceleration.h"

static const char what[] = "acceleration";

bool lbm_acceleration_is_field(const lbm_plan *plan) {
    return (sel_quantity_depends(&plan->params->acceleration) & SEL_ON_PLACE) != 0;
}

int64_t lbm_acceleration_chunk(const lbm_plan *plan) {
    const int64_t places = 1 << 16, *n = plan->base.domain->grid.n;
    const int64_t rows = places / n[0], all = n[1] * n[2];
    return rows < 1 ? 1 : rows < all ? rows : all;
}

double lbm_acceleration_unit(const lbm_plan *plan) {
    const sel_grid *grid = &plan->base.domain->grid;
    return grid->dx / (grid->dt * grid->dt);
}

sel_status lbm_acceleration_uniform(const lbm_plan *plan, double steps, double value[3],
                                    sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const double origin = 0;
    const sel_places at = {.n = 1,
                           .x = &origin,
                           .y = &origin,
                           .z = domain->grid.dims == 3 ? &origin : NULL,
                           .t = steps * domain->grid.dt,
                           .controls = domain->control_values};
    value[0] = value[1] = value[2] = 0;
    return sel_quantity_eval(&plan->params->acceleration, what, &at, value, error);
}

sel_status lbm_acceleration_rows(const lbm_plan *plan, double steps, int64_t first, int64_t rows,
                                 double *scratch, double *values, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const int64_t nx = grid->n[0];
    double *x = scratch, *y = x + rows * nx, *z = y + rows * nx;
    for (int64_t r = 0; r < rows; r++) {
        double at_y = sel_centre(grid, 1, (double)((first + r) % grid->n[1]));
        double at_z = sel_centre(grid, 2, (double)((first + r) / grid->n[1]));
        for (int64_t i = 0; i < nx; i++) {
            x[r * nx + i] = sel_centre(grid, 0, (double)i);
            y[r * nx + i] = at_y;
            z[r * nx + i] = at_z;
        }
    }
    const sel_places at = {.n = (size_t)(rows * nx),
                           .x = x,
                           .y = y,
                           .z = grid->dims == 3 ? z : NULL,
                           .t = steps * grid->dt,
                           .controls = domain->control_values};
    return sel_quantity_eval(&plan->params->acceleration, what, &at, values, error);
}
