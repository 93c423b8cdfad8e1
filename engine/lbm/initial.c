/* initial.c -- evaluate the initial quantities at the free cells, some slabs at a time. */
#include "engine/lbm/initial.h"

#include <stdlib.h>
#include <string.h>
#include "engine/share.h"

enum { EVALUATED_AT_ONCE = 1 << 15 };

/* Coordinates and values of a part. */
static int64_t numbers_of(const lbm_slabs *slabs) {
    return 6 * slabs->part * slabs->plan->base.domain->grid.n[0];
}

sel_status lbm_slabs_open(const lbm_plan *plan, lbm_slabs *slabs, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const bool plane = grid->dims == 2;
    const int64_t part = EVALUATED_AT_ONCE / grid->n[0];
    *slabs = (lbm_slabs){.plan = plan,
                         .count = grid->n[plane ? 1 : 2],
                         .rows = plane ? 1 : grid->n[1],
                         .part = part > 1 ? part : 1,
                         .threads = plan->base.threads > 0 ? plan->base.threads : 1};
    const size_t bytes = (size_t)(numbers_of(slabs) * slabs->threads) * sizeof *slabs->memory;
    slabs->memory = malloc(bytes);
    return slabs->memory ? SEL_OK : sel_fail_memory(error, "the initial state", bytes);
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

/* Some rows to be evaluated: first <= row < end. */
typedef struct part {
    const lbm_slabs *slabs;
    int64_t first, end;
    double *x, *y, *z, *values; /* scratch */
    double *to;                 /* of these rows */
} part;

/* Coordinates of the free cells of some rows, one behind the other. */
static size_t place_cells(const part *p) {
    const sel_domain *domain = p->slabs->plan->base.domain;
    const sel_grid *grid = &domain->grid;
    size_t n = 0;
    for (int64_t row = p->first; row < p->end; row++) {
        double at_y = sel_centre(grid, 1, (double)(row % grid->n[1]));
        double at_z = sel_centre(grid, 2, (double)(row / grid->n[1]));
        const uint8_t *solid = domain->cell + row * grid->n[0];
        for (int64_t i = 0; i < grid->n[0]; i++) {
            if (!solid[i]) {
                p->x[n] = sel_centre(grid, 0, (double)i);
                p->y[n] = at_y;
                p->z[n++] = at_z;
            }
        }
    }
    return n;
}

/* One quantity less `base`, over `unit`, into its places `first` of the rows of p->to; solids keep
 * what is there. */
static sel_status evaluate(const part *p, const sel_quantity *q, const char *what,
                           const sel_places *at, double base, double unit, int first,
                           sel_error *error) {
    const sel_domain *domain = p->slabs->plan->base.domain;
    const int64_t nx = domain->grid.n[0], dims = domain->grid.dims;
    if (!sel_quantity_given(q) || at->n == 0) {
        return SEL_OK;
    }
    sel_status status = sel_quantity_eval(q, what, at, p->values, error);
    for (int c = 0; c < q->components && !status; c++) {
        const double *value = p->values + (size_t)c * at->n;
        for (int64_t r = 0; r < p->end - p->first; r++) {
            const uint8_t *solid = domain->cell + (p->first + r) * nx;
            double *row = p->to + (r * (1 + dims) + first + c) * nx;
            for (int64_t x = 0; x < nx; x++) {
                row[x] = solid[x] ? row[x] : (*value++ - base) / unit;
            }
        }
    }
    return status;
}

/* Populations of no or negative mass mean nothing. */
static sel_status check_density(const part *p, sel_error *error) {
    const sel_plan *plan = &p->slabs->plan->base;
    const sel_grid *grid = &plan->domain->grid;
    const int64_t nx = grid->n[0];
    for (int64_t row = p->first; row < p->end; row++) {
        const double *drho = p->to + (row - p->first) * (1 + grid->dims) * nx;
        for (int64_t x = 0; x < nx; x++) {
            if (drho[x] <= -1) {
                char cell[SEL_CELL_TEXT];
                const int64_t at[3] = {x, row % grid->n[1], row / grid->n[1]};
                sel_cell_text(grid, at, cell);
                return sel_fail_at(error, sel_simulation_where(plan->simulation, "initial"),
                                   "the initial density at cell %s is not positive", cell);
            }
        }
    }
    return SEL_OK;
}

static sel_status evaluate_part(const part *p, sel_error *error) {
    const sel_domain *domain = p->slabs->plan->base.domain;
    const lbm_initial *initial = &p->slabs->plan->params->initial;
    const lbm_numbers *numbers = &p->slabs->plan->numbers;
    const sel_places at = {.n = place_cells(p),
                           .x = p->x,
                           .y = p->y,
                           .z = domain->grid.dims == 3 ? p->z : NULL,
                           .controls = domain->control_values};
    sel_status status = evaluate(p, &initial->pressure, "initial pressure", &at, 0,
                                 numbers->pressure_unit, 0, error);
    if (!status && sel_quantity_given(&initial->density)) {
        status = evaluate(p, &initial->density, "initial density", &at, numbers->density_unit,
                          numbers->density_unit, 0, error);
    }
    status = status ? status : check_density(p, error);
    return status ? status
                  : evaluate(p, &initial->velocity, "initial velocity", &at, 0,
                             numbers->velocity_unit, 1, error);
}

/* What lbm_slabs_evaluate shares out: rows first <= row < end of the domain. */
typedef struct task {
    const lbm_slabs *slabs;
    int64_t first, end;
    double *to;
} task;

/* sel_part */
static sel_status do_part(void *data, int64_t number, int thread, sel_error *error) {
    const task *t = data;
    const lbm_slabs *slabs = t->slabs;
    const sel_grid *grid = &slabs->plan->base.domain->grid;
    const int64_t cells = slabs->part * grid->n[0], length = (1 + grid->dims) * grid->n[0];
    part p = {.slabs = slabs, .first = t->first + number * slabs->part};
    p.end = p.first + slabs->part < t->end ? p.first + slabs->part : t->end;
    p.to = t->to + (p.first - t->first) * length;
    p.x = slabs->memory + thread * numbers_of(slabs);
    p.y = p.x + cells;
    p.z = p.y + cells;
    p.values = p.z + cells;
    memset(p.to, 0, (size_t)((p.end - p.first) * length) * sizeof *p.to);
    return lbm_slabs_given(slabs) ? evaluate_part(&p, error) : SEL_OK;
}

sel_status lbm_slabs_evaluate(const lbm_slabs *slabs, int64_t first, int64_t count, double *to,
                              sel_error *error) {
    task t = {slabs, first * slabs->rows, (first + count) * slabs->rows, to};
    int64_t parts = (t.end - t.first + slabs->part - 1) / slabs->part;
    return sel_share_out(parts, slabs->threads, do_part, &t, error);
}
