/* batch.c -- collect the places of the boundary's laws, evaluate them, store lattice values. */
#include "engine/lbm/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include "engine/lbm/lbm.h"
#include "engine/physics/lbm_law.h"

/* The quantity of a region's law, or NULL when it has none (a wall at rest). */
static const sel_quantity *quantity_of(const sel_region *region) {
    const sel_variant *law = &region->law;
    const sel_quantity *q = NULL;
    if (law->table == &lbm_wall_table) {
        q = &((const lbm_law_wall *)law->data)->velocity;
    } else if (law->table == &lbm_velocity_table) {
        q = &((const lbm_law_velocity *)law->data)->velocity;
    } else if (law->table == &lbm_pressure_table) {
        q = &((const lbm_law_pressure *)law->data)->pressure;
    }
    return q && sel_quantity_given(q) ? q : NULL;
}

bool lbm_region_passes(const sel_domain *domain, int number) {
    const sel_region *region = &domain->regions[number - 1];
    return lbm_region_is_wet(region) || quantity_of(region) != NULL;
}

/* Adds a place, in cells; without memory yet it is only counted. */
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
static void add_cell(const sel_domain *domain, const lbm_boundary *boundary,
                     const lbm_boundary_cell *cell, int64_t row, lbm_batch *const of_region[]) {
    const sel_grid *grid = &domain->grid;
    const double centre[3] = {(double)cell->x, (double)(row % grid->n[1]),
                              (double)(row / grid->n[1])};
    int64_t link = cell->first_link;
    for (int i = 1; i < boundary->lattice->q; i++) {
        if (cell->links >> i & 1u) {
            lbm_batch *batch = of_region[boundary->link_region[link]];
            if (batch && batch->on_links && cell->bounced >> i & 1u) {
                const int *e = boundary->lattice->direction[i].e;
                const double middle[3] = {centre[0] - 0.5 * e[0], centre[1] - 0.5 * e[1],
                                          centre[2] - 0.5 * e[2]};
                add_place(grid, batch, middle, link, i);
            }
            link++;
        }
    }
    const uint8_t givers[2] = {cell->velocity_region, cell->density_region};
    for (int k = 0; k < 2; k++) {
        lbm_batch *batch = of_region[givers[k]];
        if (batch) {
            add_place(grid, batch, centre, cell->opening_index, 0);
        }
    }
}

static void add_all(const sel_domain *domain, const lbm_boundary *boundary, lbm_batches *batches,
                    lbm_batch *const of_region[]) {
    for (int k = 0; k < batches->count; k++) {
        batches->v[k].count = 0;
    }
    for (int64_t row = 0; batches->count > 0 && row < boundary->rows; row++) {
        for (int64_t c = boundary->row_cells[row]; c < boundary->row_cells[row + 1]; c++) {
            add_cell(domain, boundary, &boundary->cells[c], row, of_region);
        }
    }
}

static sel_status allocate(lbm_batches *batches, int dims, sel_error *error) {
    for (int k = 0; k < batches->count; k++) {
        lbm_batch *batch = &batches->v[k];
        size_t n = (size_t)batch->count + 1;
        batch->x = malloc(n * sizeof *batch->x);
        batch->y = malloc(n * sizeof *batch->y);
        batch->z = dims == 3 ? malloc(n * sizeof *batch->z) : NULL;
        batch->target = malloc(n * sizeof *batch->target);
        batch->incoming = malloc(n);
        bool placed = batch->x && batch->y && (batch->z || dims == 2);
        if (!placed || !batch->target || !batch->incoming) {
            return sel_fail_memory(error, "the places of the laws", n * 33);
        }
        batches->largest = batch->count > batches->largest ? batch->count : batches->largest;
        batches->depends |= batch->depends;
    }
    return SEL_OK;
}

sel_status lbm_batches_create(const sel_domain *domain, const lbm_boundary *boundary,
                              lbm_batches *batches, sel_error *error) {
    lbm_batch *of_region[256] = {NULL};
    *batches = (lbm_batches){.v = calloc((size_t)domain->region_count + 1, sizeof *batches->v)};
    if (!batches->v) {
        return sel_fail_memory(error, "the laws", sizeof *batches->v);
    }
    for (int r = 1; r <= domain->region_count; r++) {
        const sel_region *region = &domain->regions[r - 1];
        const sel_quantity *quantity = quantity_of(region);
        if (quantity) {
            lbm_batch *batch = &batches->v[batches->count++];
            char text[32];
            batch->quantity = quantity;
            batch->depends = sel_quantity_depends(quantity) & (SEL_ON_T | SEL_ON_CONTROLS);
            batch->on_links = !lbm_region_is_wet(region);
            snprintf(batch->what, sizeof batch->what, "%s of region '%.100s'",
                     region->law.table->name, sel_region_name(domain, r, text));
            of_region[r] = batch;
        }
    }
    add_all(domain, boundary, batches, of_region);
    sel_status status = allocate(batches, domain->grid.dims, error);
    if (!status) {
        add_all(domain, boundary, batches, of_region);
    }
    return status;
}

void lbm_batches_free(lbm_batches *batches) {
    for (int k = 0; k < batches->count; k++) {
        free(batches->v[k].x);
        free(batches->v[k].y);
        free(batches->v[k].z);
        free(batches->v[k].target);
        free(batches->v[k].incoming);
    }
    free(batches->v);
    *batches = (lbm_batches){0};
}

sel_status lbm_batch_evaluate(const lbm_batch *batch, const sel_domain *domain, double steps,
                              double *values, sel_error *error) {
    sel_places at = {.n = (size_t)batch->count,
                     .x = batch->x,
                     .y = batch->y,
                     .z = batch->z,
                     .t = steps * domain->grid.dt,
                     .controls = domain->control_values};
    return sel_quantity_eval(batch->quantity, batch->what, &at, values, error);
}

double lbm_batch_steps(const lbm_batch *batch, int64_t step) {
    return (double)step + (batch->on_links ? 0.5 : 1);
}

static void store_links(const lbm_batch *batch, const double *velocity, const lbm_plan *plan,
                        double *link_add) {
    const lbm_direction *directions = plan->boundary.lattice->direction;
    for (int64_t k = 0; k < batch->count; k++) {
        const lbm_direction *d = &directions[batch->incoming[k]];
        link_add[batch->target[k]] =
            lbm_wall_adds(d->e, d->weight, batch->quantity->components, velocity + k, batch->count,
                          plan->numbers.velocity_unit);
    }
}

static void store_openings(const lbm_batch *batch, const double *values, const lbm_plan *plan,
                           double *open_value) {
    for (int64_t k = 0; k < batch->count; k++) {
        lbm_open_set(batch->quantity->components, values + k, batch->count,
                     plan->numbers.velocity_unit, plan->numbers.pressure_unit,
                     open_value + LBM_OPEN_VALUES * batch->target[k]);
    }
}

sel_status lbm_batches_apply(const lbm_plan *plan, int64_t step, unsigned due, double *scratch,
                             double *link_add, double *open_value, sel_error *error) {
    const lbm_batches *batches = &plan->boundary.batches;
    for (int k = 0; k < batches->count; k++) {
        const lbm_batch *batch = &batches->v[k];
        if (!((batch->depends | LBM_ALWAYS) & due)) {
            continue;
        }
        sel_status status = lbm_batch_evaluate(batch, plan->base.domain,
                                               lbm_batch_steps(batch, step), scratch, error);
        if (status) {
            return status;
        }
        if (batch->on_links) {
            store_links(batch, scratch, plan, link_add);
        } else {
            store_openings(batch, scratch, plan, open_value);
        }
    }
    return SEL_OK;
}
