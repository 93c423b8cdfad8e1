/* initial.c -- evaluate the initial quantities at the free cells, a slab at a time. */
#include "engine/lbm/initial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sel_status lbm_slabs_open(const lbm_plan *plan, lbm_slabs *slabs, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    bool plane = grid->dims == 2;
    *slabs =
        (lbm_slabs){.plan = plan, .count = grid->n[plane ? 1 : 2], .rows = plane ? 1 : grid->n[1]};
    size_t numbers = 6 * (size_t)(slabs->rows * grid->n[0]);
    slabs->memory = malloc(numbers * sizeof *slabs->memory);
    return slabs->memory ? SEL_OK
                         : sel_fail_memory(error, "the initial state", numbers * sizeof(double));
}

void lbm_slabs_close(lbm_slabs *slabs) {
    free(slabs->memory);
    slabs->memory = NULL;
}

bool lbm_slabs_given(const lbm_slabs *slabs) {
    const lbm_initial *initial = &slabs->plan->params->initial;
    return sel_quantity_given(&initial->velocity) || sel_quantity_given(&initial->pressure) ||
           sel_quantity_given(&initial->density);
}

/* Coordinates of the free cells of a slab, one behind the other. */
static size_t place_cells(const lbm_slabs *slabs, int64_t slab, double *x, double *y, double *z) {
    const sel_domain *domain = slabs->plan->base.domain;
    const sel_grid *grid = &domain->grid;
    size_t n = 0;
    for (int64_t row = slab * slabs->rows; row < (slab + 1) * slabs->rows; row++) {
        double at_y = sel_centre(grid, 1, (double)(row % grid->n[1]));
        double at_z = sel_centre(grid, 2, (double)(row / grid->n[1]));
        const uint8_t *solid = domain->cell + row * grid->n[0];
        for (int64_t i = 0; i < grid->n[0]; i++) {
            if (!solid[i]) {
                x[n] = sel_centre(grid, 0, (double)i);
                y[n] = at_y;
                z[n++] = at_z;
            }
        }
    }
    return n;
}

/* One quantity less `base`, over `unit`, into its places `first` of the rows of `to`; solids keep
 * what is there. */
static sel_status evaluate(const lbm_slabs *slabs, int64_t slab, const sel_quantity *q,
                           const char *what, const sel_places *at, double base, double unit,
                           int first, double *to, sel_error *error) {
    const sel_domain *domain = slabs->plan->base.domain;
    const int64_t nx = domain->grid.n[0], dims = domain->grid.dims;
    double *values = slabs->memory + 3 * slabs->rows * nx;
    if (!sel_quantity_given(q) || at->n == 0) {
        return SEL_OK;
    }
    sel_status status = sel_quantity_eval(q, what, at, values, error);
    for (int c = 0; c < q->components && !status; c++) {
        const double *value = values + (size_t)c * at->n;
        for (int64_t r = 0; r < slabs->rows; r++) {
            const uint8_t *solid = domain->cell + (slab * slabs->rows + r) * nx;
            double *row = to + (r * (1 + dims) + first + c) * nx;
            for (int64_t x = 0; x < nx; x++) {
                row[x] = solid[x] ? row[x] : (*value++ - base) / unit;
            }
        }
    }
    return status;
}

/* Populations of no or negative mass mean nothing. */
static sel_status check_density(const lbm_slabs *slabs, int64_t slab, const double *to,
                                sel_error *error) {
    const sel_plan *plan = &slabs->plan->base;
    const sel_grid *grid = &plan->domain->grid;
    const int64_t nx = grid->n[0];
    for (int64_t r = 0; r < slabs->rows; r++) {
        const double *drho = to + r * (1 + grid->dims) * nx;
        for (int64_t x = 0; x < nx; x++) {
            if (drho[x] <= -1) {
                int64_t row = slab * slabs->rows + r;
                char z[32] = "";
                if (grid->dims == 3) {
                    snprintf(z, sizeof z, ", %lld", (long long)(row / grid->n[1]));
                }
                return sel_fail_at(error, sel_simulation_where(plan->simulation, "initial"),
                                   "the initial density at cell {%lld, %lld%s} is not positive",
                                   (long long)x, (long long)(row % grid->n[1]), z);
            }
        }
    }
    return SEL_OK;
}

sel_status lbm_slab(const lbm_slabs *slabs, int64_t slab, double *to, sel_error *error) {
    const sel_domain *domain = slabs->plan->base.domain;
    const lbm_initial *initial = &slabs->plan->params->initial;
    const lbm_numbers *numbers = &slabs->plan->numbers;
    const int64_t cells = slabs->rows * domain->grid.n[0];
    double *x = slabs->memory, *y = x + cells, *z = y + cells;
    memset(to, 0, (size_t)((1 + domain->grid.dims) * cells) * sizeof *to);
    if (!lbm_slabs_given(slabs)) {
        return SEL_OK;
    }
    sel_places at = {.n = place_cells(slabs, slab, x, y, z),
                     .x = x,
                     .y = y,
                     .z = domain->grid.dims == 3 ? z : NULL,
                     .controls = domain->control_values};
    sel_status status = evaluate(slabs, slab, &initial->pressure, "initial pressure", &at, 0,
                                 numbers->pressure_unit, 0, to, error);
    if (!status && sel_quantity_given(&initial->density)) {
        status = evaluate(slabs, slab, &initial->density, "initial density", &at,
                          numbers->density_unit, numbers->density_unit, 0, to, error);
    }
    status = status ? status : check_density(slabs, slab, to, error);
    return status ? status
                  : evaluate(slabs, slab, &initial->velocity, "initial velocity", &at, 0,
                             numbers->velocity_unit, 1, to, error);
}
