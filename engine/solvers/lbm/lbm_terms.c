/* lbm_terms.c -- the quantities of a scenario, evaluated in f64: laws of the boundary and
 * acceleration in time, and the flow at step 0.
 */
#include "engine/solvers/lbm/lbm_terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_law.h"
#include "engine/base/hardware.h"

/* ---- the places of laws ---- */

/* Adds a place, in cells; it is only counted while the batch has no memory. */
static void add_place(const sel_grid *grid, lbm_batch *batch, const double at[3], int64_t target,
                      int incoming) {
    if (batch->x) {
        double *const to[3] = {batch->x, batch->y, batch->z};
        for (int a = 0; a < grid->dims; a++) {
            to[a][batch->count] = sel_centre(grid, a, at[a]);
        }
        batch->target[batch->count] = target;
        batch->incoming[batch->count] = (uint8_t)incoming;
    }
    batch->count++;
}

/* Adds the places of one boundary cell to the batches of the regions that own its links, or whose
 * laws give its velocity and density. */
static void lbm_terms_add_cell(const sel_domain *domain, const lbm_boundary *boundary,
                               const lbm_boundary_cell *cell, int64_t row,
                               lbm_batch *const of_region[]) {
    const sel_grid *grid = &domain->grid;
    const double centre[3] = {(double)cell->x, (double)(row % grid->n[1]),
                              (double)(row / grid->n[1])};
    int64_t link = cell->first_link;
    for (int i = 1; i < boundary->lattice->q; i++) {
        if (cell->links >> i & 1u) {
            lbm_batch *batch = of_region[boundary->link_region[link]];
            if (batch && batch->goal == LBM_TO_LINKS && cell->bounced >> i & 1u) {
                const int *e = boundary->lattice->direction[i].e;
                const double middle[3] = {centre[0] - 0.5 * e[0], centre[1] - 0.5 * e[1],
                                          centre[2] - 0.5 * e[2]};
                add_place(grid, batch, middle, link, i);
            }
            link++;
        }
    }
    const uint8_t regions[2] = {cell->velocity_region, cell->density_region};
    for (int k = 0; k < 2; k++) {
        lbm_batch *batch = of_region[regions[k]];
        if (batch) {
            add_place(grid, batch, centre, cell->opening_index, 0);
        }
    }
}

static void add_all(const sel_domain *domain, const lbm_boundary *boundary,
                    const lbm_batches *batches, lbm_batch *const of_region[]) {
    for (int k = 0; k < batches->count; k++) {
        batches->v[k].count = 0;
    }
    for (int64_t row = 0; batches->count > 0 && row < boundary->rows; row++) {
        for (int64_t c = boundary->row_cells[row]; c < boundary->row_cells[row + 1]; c++) {
            lbm_terms_add_cell(domain, boundary, &boundary->cells[c], row, of_region);
        }
    }
}

static sel_status lbm_terms_allocate(lbm_batches *batches, int dims, sel_error *error) {
    for (int k = 0; k < batches->count; k++) {
        lbm_batch *batch = &batches->v[k];
        const int64_t n = batch->count + 1;
        batch->x = malloc((size_t)n * (3 * sizeof(double) + sizeof(int64_t) + 1));
        if (!batch->x) {
            return sel_fail_memory(error, "the places of the laws", (uint64_t)n * 33);
        }
        batch->y = batch->x + n;
        batch->z = dims == 3 ? batch->y + n : NULL;
        batch->target = (int64_t *)(void *)(batch->y + 2 * n);
        batch->incoming = (uint8_t *)(batch->target + n);
        batch->all = batch->count;
        batches->largest = batch->count > batches->largest ? batch->count : batches->largest;
        batches->depends |= batch->depends;
    }
    return SEL_OK;
}

/* The places in the cells of the boundary. */
static sel_status lbm_terms_list(const sel_domain *domain, const lbm_boundary *boundary,
                                 lbm_batches *batches, sel_error *error) {
    lbm_batch *of_region[SEL_REGION_NUMBERS] = {NULL};
    *batches = (lbm_batches){.v = calloc((size_t)domain->region_count + 1, sizeof *batches->v)};
    if (!batches->v) {
        return sel_fail_memory(error, "the laws", sizeof *batches->v);
    }
    for (int r = 1; r <= domain->region_count; r++) {
        const sel_region *region = &domain->regions[r - 1];
        const sel_quantity *quantity = lbm_region_quantity(region);
        if (quantity) {
            lbm_batch *batch = &batches->v[batches->count++];
            char text[32];
            batch->quantity = quantity;
            batch->region = region;
            batch->depends = sel_quantity_depends(quantity) & (SEL_ON_T | SEL_ON_CONTROLS);
            batch->wall = boundary->law[r]->wall;
            batch->goal = boundary->law[r]->goal;
            snprintf(batch->what, sizeof batch->what, "%s of region '%.100s'",
                     region->law.table->name, sel_region_name(domain, r, text));
            of_region[r] = batch;
        }
    }
    add_all(domain, boundary, batches, of_region);
    sel_status status = lbm_terms_allocate(batches, domain->grid.dims, error);
    if (!status) {
        add_all(domain, boundary, batches, of_region);
    }
    return status;
}

sel_status lbm_batches_create(const sel_domain *domain, lbm_boundary *boundary, sel_error *error) {
    const sel_status status = lbm_terms_list(domain, boundary, &boundary->everywhere, error);
    boundary->batches = boundary->everywhere;
    return status;
}

static void lbm_terms_free(lbm_batches *batches) {
    for (int k = 0; k < batches->count; k++) {
        free(batches->v[k].x); /* and all behind it */
    }
    free(batches->v);
    *batches = (lbm_batches){0};
}

void lbm_batches_free(lbm_boundary *boundary) {
    if (boundary->batches.v != boundary->everywhere.v) {
        lbm_terms_free(&boundary->batches);
    }
    lbm_terms_free(&boundary->everywhere);
    boundary->batches = boundary->everywhere;
}

sel_status lbm_batches_keep_patch(const sel_domain *domain, lbm_boundary *boundary,
                                  sel_error *error) {
    sel_status status = SEL_OK;
    if (domain->ranks) {
        boundary->batches = (lbm_batches){0};
        status = lbm_terms_list(domain, boundary, &boundary->batches, error);
    }
    for (int k = 0; k < boundary->batches.count && !status; k++) {
        boundary->batches.v[k].all = boundary->everywhere.v[k].all;
    }
    if (domain->ranks && domain->ranks->rank > 0) {
        lbm_terms_free(&boundary->everywhere);
    }
    return status;
}

void lbm_batches_count(const lbm_boundary *boundary, const sel_patch *patch, int64_t *openings,
                       int64_t places[LBM_MOST_BATCHES]) {
    const sel_grid *grid = &boundary->domain->grid;
    int64_t of[2][2] = {{0}}, *links = of[0], *opens = of[1];
    memset(places, 0, LBM_MOST_BATCHES * sizeof *places);
    *openings = 0;
    for (int64_t row = 0; row < boundary->rows; row++) {
        lbm_boundary_row(boundary, row, links, opens);
        if (!sel_patch_has_row(grid, patch, row)) {
            continue;
        }
        *openings += opens[1] - opens[0];
        for (int b = 0; b < boundary->batches.count; b++) {
            const lbm_batch *batch = &boundary->batches.v[b];
            const int64_t *range = batch->goal == LBM_TO_LINKS ? links : opens;
            places[b] += sel_first_not_below(batch->target, batch->count, range[1]) -
                         sel_first_not_below(batch->target, batch->count, range[0]);
        }
    }
}

/* ---- laws ---- */

double lbm_batch_steps(const lbm_batch *batch, int64_t step) {
    return (double)step + (batch->goal == LBM_TO_LINKS ? 0.5 : 1);
}

sel_status lbm_batch_evaluate(const lbm_batch *batch, const sel_domain *domain, double steps,
                              double *values, sel_error *error) {
    const sel_places at =
        sel_domain_at(domain, batch->count, batch->x, batch->y, batch->z, steps * domain->grid.dt);
    return sel_quantity_eval(batch->quantity, batch->what, &at, values, error);
}

/* Stores the values of a batch in lattice units. */
static void lbm_terms_store(const lbm_batch *batch, const double *values, const lbm_plan *plan,
                            double *link_add, double *open_value) {
    const lbm_numbers *numbers = &plan->numbers;
    for (int64_t k = 0; k < batch->count; k++) {
        const int64_t to = batch->target[k];
        if (batch->goal == LBM_TO_LINKS) {
            const lbm_direction *d = &plan->boundary.lattice->direction[batch->incoming[k]];
            link_add[to] = lbm_wall_adds(d->e, d->weight, batch->quantity->components, values + k,
                                         batch->count, numbers->velocity_unit);
        } else {
            lbm_open_set(batch->goal, batch->quantity->components, values + k, batch->count,
                         numbers->velocity_unit, numbers->pressure_unit,
                         open_value + LBM_OPEN_VALUES * to);
        }
    }
}

sel_status lbm_batches_apply(const lbm_plan *plan, int64_t step, unsigned due, double *scratch,
                             double *link_add, double *open_value, sel_error *error) {
    const lbm_batches *batches = &plan->boundary.batches;
    sel_status status = SEL_OK;
    for (int k = 0; k < batches->count && !status; k++) {
        const lbm_batch *batch = &batches->v[k];
        if ((batch->depends | SEL_ALWAYS) & due) {
            status = lbm_batch_evaluate(batch, plan->base.domain, lbm_batch_steps(batch, step),
                                        scratch, error);
            if (!status) {
                lbm_terms_store(batch, scratch, plan, link_add, open_value);
            }
        }
    }
    return status;
}

sel_status lbm_batches_try(const lbm_plan *plan, int64_t step, unsigned due, sel_error *error) {
    const lbm_batches *batches = &plan->boundary.everywhere;
    const size_t bytes = (3 * (size_t)batches->largest + 1) * sizeof(double);
    double *values = malloc(bytes);
    sel_status status = values ? SEL_OK : sel_fail_memory(error, "the laws", bytes);
    for (int k = 0; k < batches->count && !status; k++) {
        const lbm_batch *batch = &batches->v[k];
        if ((batch->depends | SEL_ALWAYS) & due) {
            status = lbm_batch_evaluate(batch, plan->base.domain, lbm_batch_steps(batch, step),
                                        values, error);
        }
    }
    free(values);
    return status;
}

/* ---- acceleration ---- */

lbm_batch lbm_acceleration_batch(lbm_plan *plan) {
    const sel_quantity *q = &plan->params->acceleration;
    double *origin = &plan->origin;
    const bool field = sel_quantity_depends(q) & SEL_ON_PLACE;
    return (lbm_batch){.quantity = q,
                       .what = "acceleration",
                       .goal = field ? LBM_TO_FIELD : LBM_TO_FORCE,
                       .depends = sel_quantity_depends(q) & (SEL_ON_T | SEL_ON_CONTROLS),
                       .count = field ? 0 : 1,
                       .all = field ? 0 : 1,
                       .x = field ? NULL : origin,
                       .y = origin,
                       .z = origin};
}

bool lbm_is_forced(const lbm_plan *plan) {
    const double *a = plan->numbers.acceleration;
    return sel_quantity_depends(plan->acceleration.quantity) || a[0] != 0 || a[1] != 0 || a[2] != 0;
}

int64_t lbm_acceleration_chunk(const lbm_plan *plan) {
    const int64_t places = 1 << 16, *n = plan->base.domain->grid.n;
    const int64_t rows = places / n[0], all = n[1] * n[2];
    return rows < 1 ? 1 : rows < all ? rows : all;
}

double lbm_acceleration_unit(const lbm_plan *plan) {
    const sel_grid *grid = &plan->base.domain->grid;
    return grid->dx[0] / (grid->dt * grid->dt);
}

sel_status lbm_acceleration_uniform(const lbm_plan *plan, double steps, double value[3],
                                    sel_error *error) {
    const lbm_batch *batch = &plan->acceleration;
    sel_status status = SEL_OK;
    memset(value, 0, 3 * sizeof *value);
    if (sel_quantity_given(batch->quantity)) {
        status = lbm_batch_evaluate(batch, plan->base.domain, steps, value, error);
    }
    for (int a = 0; a < 3; a++) {
        value[a] /= lbm_acceleration_unit(plan);
    }
    return status;
}

sel_status lbm_acceleration_rows(const lbm_plan *plan, double steps, int64_t first, int64_t rows,
                                 double *scratch, void *to, int64_t apart, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const int64_t nx = grid->n[0], count = rows * nx;
    const double unit = lbm_acceleration_unit(plan);
    double *x = scratch, *y = x + count, *z = y + count, *values = z + count;
    sel_domain_places(plan->base.domain, first, first + rows, NULL, x, y, z);
    const sel_places at = sel_domain_at(plan->base.domain, count, x, y, z, steps * grid->dt);
    sel_status status =
        sel_quantity_eval(&plan->params->acceleration, plan->acceleration.what, &at, values, error);
    for (int a = 0; a < grid->dims && !status; a++) {
        for (int64_t k = 0; k < count; k++) {
            lbm_put(plan, to, a * apart + k, values[a * count + k] / unit);
        }
    }
    return status;
}

/* ---- a step to come ---- */

/* An acceleration that depends on the place is evaluated in one row of cells. */
sel_status lbm_ahead(const sel_plan *base, int64_t step, sel_error *error) {
    const lbm_plan *plan = (const lbm_plan *)base;
    const int64_t nx = base->domain->grid.n[0];
    const size_t bytes = (size_t)(9 * nx) * sizeof(double);
    const sel_status laws = lbm_batches_try(plan, step, SEL_ON_T, error);
    sel_status acceleration = SEL_OK;
    double *values = malloc(bytes);
    if (!values) {
        return sel_fail_memory(error, "the laws", bytes);
    }
    if (plan->acceleration.depends & SEL_ON_T) {
        const double steps = lbm_batch_steps(&plan->acceleration, step);
        acceleration =
            lbm_acceleration_is_field(plan)
                ? lbm_acceleration_rows(plan, steps, 0, 1, values, values + 6 * nx, nx, error)
                : lbm_batch_evaluate(&plan->acceleration, base->domain, steps, values, error);
    }
    free(values);
    return laws ? laws : acceleration;
}

/* ---- the flow at step 0 ---- */

enum { EVALUATED_AT_ONCE = 1 << 15 };

bool lbm_initial_given(const lbm_plan *plan) {
    const lbm_initial *initial = &plan->params->initial;
    return sel_quantity_given(&initial->velocity) || sel_quantity_given(&initial->pressure) ||
           sel_quantity_given(&initial->density);
}

int64_t lbm_initial_part(const lbm_plan *plan) {
    const int64_t rows = EVALUATED_AT_ONCE / plan->base.domain->grid.n[0];
    return rows > 1 ? rows : 1;
}

/* Rows to be evaluated, first <= row < end: to[end - first][1 + dims][nx]. */
typedef struct part {
    const lbm_plan *plan;
    int64_t first, end;
    double *to;
} part;

/* One quantity less `base`, over `unit`, into its places `first` of each row; 0 in solids and where
 * it is not given. */
static sel_status lbm_terms_evaluate(const part *p, const sel_quantity *q, const char *what,
                                     double base, double unit, int first, int components,
                                     sel_error *error) {
    const sel_domain *domain = p->plan->base.domain;
    const int threads = p->plan->base.threads > 0 ? p->plan->base.threads : 1;
    const int64_t nx = domain->grid.n[0], apart = (1 + domain->grid.dims) * nx;
    const bool given = sel_quantity_given(q);
    const sel_evaluation asked = {q, what, .first = p->first, .end = p->end, .apart = apart};
    double *to = p->to + first * nx;
    sel_status status = given ? sel_domain_evaluate(domain, &asked, threads, to, error) : SEL_OK;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t row = p->first; row < p->end; row++) {
        const uint8_t *solid = domain->cell + row * nx;
        double *values = to + (row - p->first) * apart;
        for (int c = 0; c < components && !status; c++, values += nx) {
            for (int64_t x = 0; x < nx; x++) {
                values[x] = given && !solid[x] ? (values[x] - base) / unit : 0;
            }
        }
    }
    return status;
}

/* Densities must be positive. */
static sel_status check_density(const part *p, sel_error *error) {
    const sel_plan *plan = &p->plan->base;
    const sel_grid *grid = &plan->domain->grid;
    const int64_t nx = grid->n[0];
    for (int64_t row = p->first; row < p->end; row++) {
        const double *drho = p->to + (row - p->first) * (1 + grid->dims) * nx;
        for (int64_t x = 0; x < nx; x++) {
            if (drho[x] <= -1) {
                char cell[SEL_CELL_TEXT];
                return sel_fail_at(error, sel_simulation_where(plan->simulation, "initial"),
                                   "the initial density at cell %s is not positive",
                                   sel_cell_text(grid, row * nx + x, cell));
            }
        }
    }
    return SEL_OK;
}

sel_status lbm_initial_rows(const lbm_plan *plan, int64_t first, int64_t end, double *to,
                            sel_error *error) {
    const lbm_initial *initial = &plan->params->initial;
    const lbm_numbers *numbers = &plan->numbers;
    const part p = {plan, first, end, to};
    sel_status status =
        sel_quantity_given(&initial->density)
            ? lbm_terms_evaluate(&p, &initial->density, "initial density", numbers->density_unit,
                                 numbers->density_unit, 0, 1, error)
            : lbm_terms_evaluate(&p, &initial->pressure, "initial pressure", 0,
                                 numbers->pressure_unit, 0, 1, error);
    status = status ? status : check_density(&p, error);
    return status
               ? status
               : lbm_terms_evaluate(&p, &initial->velocity, "initial velocity", 0,
                                    numbers->velocity_unit, 1, plan->base.domain->grid.dims, error);
}
