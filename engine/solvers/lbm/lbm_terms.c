/* lbm_terms.c -- the quantities of a scenario: laws of the boundary and acceleration as inputs, and
 * the flow at step 0.
 */
#include "engine/solvers/lbm/lbm_terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/solvers/lbm/lbm_law.h"
#include "engine/base/hardware.h"

/* ---- the places of laws ---- */

/* While places are counted `inputs` has no memory for them. */
typedef struct lbm_places {
    const sel_grid *grid;
    double *place[3];
    int64_t *target, *cell;
    uint8_t *detail;
} lbm_places;

/* sel_inputs.cell */
static int64_t lbm_terms_cell(const sel_inputs *inputs, int64_t k) {
    return ((const lbm_places *)inputs->of)->cell[k];
}

/* Adds a place, in cells. */
static void lbm_terms_add_place(const lbm_places *to, sel_input *law, const double at[3],
                                int64_t cell, int64_t target, uint8_t detail) {
    const int64_t k = law->first + law->count++;
    if (to->target) {
        for (int a = 0; a < to->grid->dims; a++) {
            to->place[a][k] = sel_centre(to->grid, a, at[a]);
        }
        to->target[k] = target;
        to->cell[k] = cell;
        to->detail[k] = detail;
    }
}

/* Adds the places of one boundary cell to the laws of the regions that own its links, or whose
 * laws give its velocity and density. */
static void lbm_terms_add_cell(const lbm_places *to, const lbm_boundary *boundary,
                               const lbm_boundary_cell *cell, int64_t row,
                               sel_input *const of_region[]) {
    const sel_grid *grid = to->grid;
    const int64_t number = row * grid->n[0] + cell->x;
    const double centre[3] = {(double)cell->x, (double)(row % grid->n[1]),
                              (double)(row / grid->n[1])};
    int64_t links[2] = {cell->first_link, cell->first_link + __builtin_popcount(cell->links)};
    for (int i = 1; i < boundary->lattice->q; i++) {
        const bool bounced = cell->bounced >> i & 1u, shared = cell->shared >> i & 1u;
        const int *e = boundary->lattice->direction[i].e;
        const double part = bounced ? lbm_boundary_meets(boundary, links[0]) : 0.5;
        const double middle[3] = {centre[0] - part * e[0], centre[1] - part * e[1],
                                  centre[2] - part * e[2]};
        for (int k = 0; k < bounced + shared; k++) {
            sel_input *law = of_region[boundary->link_region[links[k]]];
            if (law && law->which == LBM_TO_LINKS) {
                lbm_terms_add_place(to, law, middle, number, links[k && cell->both_move],
                                    lbm_boundary_link_detail(boundary, cell, i, k));
            }
        }
        links[0] += cell->links >> i & 1u;
        links[1] += shared;
    }
    lbm_giver givers[LBM_GIVERS];
    const int count = lbm_boundary_givers(cell, givers);
    for (int k = 0; k < count; k++) {
        sel_input *law = of_region[givers[k].region];
        if (law) {
            lbm_terms_add_place(to, law, centre, number, cell->opening_index, givers[k].detail);
        }
    }
}

/* Adds those of all cells; laws begin where their `first` says. */
static void lbm_terms_add_all(const lbm_places *to, const lbm_boundary *boundary,
                              sel_inputs *inputs) {
    sel_input *of_region[SEL_REGION_NUMBERS] = {NULL};
    for (int k = 0; k < inputs->count; k++) {
        if (inputs->v[k].region) {
            of_region[inputs->v[k].region] = &inputs->v[k];
            inputs->v[k].count = 0;
        }
    }
    for (int64_t row = 0; row < boundary->rows; row++) {
        for (int64_t c = boundary->row_cells[row]; c < boundary->row_cells[row + 1]; c++) {
            lbm_terms_add_cell(to, boundary, &boundary->cells[c], row, of_region);
        }
    }
}

/* Memory for the places that have been counted. */
static sel_status lbm_terms_allocate(sel_inputs *inputs, sel_error *error) {
    const sel_grid *grid = &inputs->domain->grid;
    for (int k = 0; k < inputs->count; k++) {
        if (inputs->v[k].region) {
            inputs->v[k].first = inputs->places;
            inputs->places += inputs->v[k].count;
        }
    }
    const size_t n = (size_t)inputs->places + 1;
    const size_t bytes = sizeof(lbm_places) + n * (3 * sizeof(double) + 2 * sizeof(int64_t) + 1);
    lbm_places *to = malloc(bytes);
    if (!to) {
        return sel_fail_memory(error, "the places of the laws", bytes);
    }
    *to = (lbm_places){.grid = grid};
    for (size_t a = 0; a < 3; a++) {
        to->place[a] = (double *)(void *)(to + 1) + a * n;
        inputs->place[a] = a < (size_t)grid->dims ? to->place[a] : NULL;
    }
    to->target = (int64_t *)(void *)(to->place[2] + n);
    to->cell = to->target + n;
    to->detail = (uint8_t *)(to->cell + n);
    inputs->target = to->target;
    inputs->detail = to->detail;
    inputs->cell = lbm_terms_cell;
    inputs->of = to;
    return SEL_OK;
}

static bool lbm_terms_add_law(const lbm_plan *plan, int region, sel_inputs *inputs) {
    const sel_domain *domain = plan->base.domain;
    const sel_region *at = &domain->regions[region - 1];
    const sel_quantity *quantity = lbm_region_quantity(at);
    sel_input law = sel_input_of(quantity, SEL_INPUT_AT_PLACES);
    char text[32];
    law.region = region;
    law.which = plan->boundary.law[region]->goal;
    law.ahead = law.which == LBM_TO_LINKS ? 0.5 : 1;
    snprintf(law.what, sizeof law.what, "%s of region '%.100s'", at->law.table->name,
             sel_region_name(domain, region, text));
    return !quantity || sel_inputs_add(inputs, &law);
}

static bool lbm_terms_add_acceleration(const lbm_plan *plan, sel_inputs *inputs) {
    const bool field = lbm_acceleration_is_field(plan);
    sel_input input =
        sel_input_of(&plan->acceleration, field ? SEL_INPUT_IN_CELLS : SEL_INPUT_UNIFORM);
    input.which = field ? LBM_TO_FIELD : LBM_TO_FORCE;
    input.ahead = 1;
    snprintf(input.what, sizeof input.what, "acceleration");
    return !sel_quantity_given(input.quantity) || sel_inputs_add(inputs, &input);
}

sel_status lbm_inputs_create(const lbm_plan *plan, sel_inputs *inputs, sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const lbm_places none = {.grid = &domain->grid};
    *inputs = (sel_inputs){.domain = domain};
    bool added = lbm_terms_add_acceleration(plan, inputs);
    for (int r = 1; r <= domain->region_count && added; r++) {
        added = lbm_terms_add_law(plan, r, inputs);
    }
    if (!added) {
        return sel_fail_memory(error, "the laws", sizeof *inputs->v);
    }
    lbm_terms_add_all(&none, &plan->boundary, inputs);
    sel_status status = lbm_terms_allocate(inputs, error);
    if (!status) {
        lbm_terms_add_all(inputs->of, &plan->boundary, inputs);
    }
    return status;
}

void lbm_inputs_free(sel_inputs *inputs) {
    free((void *)(uintptr_t)inputs->of);
    sel_inputs_free(inputs);
    *inputs = (sel_inputs){.domain = NULL};
}

unsigned lbm_laws_depend(const sel_inputs *inputs) {
    unsigned depends = 0;
    for (int k = 0; k < inputs->count; k++) {
        depends |= inputs->v[k].region ? sel_input_depends(&inputs->v[k]) : 0;
    }
    return depends;
}

int64_t lbm_laws_largest(const sel_inputs *inputs) {
    int64_t largest = 0;
    for (int k = 0; k < inputs->count; k++) {
        largest = inputs->v[k].count > largest ? inputs->v[k].count : largest;
    }
    return largest;
}

/* ---- values ---- */

sel_status lbm_law_evaluate(const sel_inputs *inputs, const sel_input *law, double steps,
                            double *values, sel_error *error) {
    const double *const *place = inputs->place;
    const sel_places at =
        sel_domain_at(inputs->domain, law->count, place[0] + law->first, place[1] + law->first,
                      place[2] ? place[2] + law->first : NULL, steps * inputs->domain->grid.dt);
    return sel_quantity_eval(law->quantity, law->what, &at, values, error);
}

void lbm_values_store(void *to, const sel_inputs *inputs, const sel_input_values *values) {
    const lbm_values *v = to;
    const lbm_numbers *numbers = &v->plan->numbers;
    const sel_input *input = values->input;
    const int components = input->quantity->components;
    for (int a = 0; a < components && input->which == LBM_TO_FORCE; a++) {
        v->acceleration[a] = values->v[a] / lbm_acceleration_unit(v->plan);
    }
    for (int64_t k = 0; k < values->count && input->region; k++) {
        const int64_t target = inputs->target[values->first + k];
        const uint8_t detail = inputs->detail[values->first + k];
        if (input->which == LBM_TO_LINKS) {
            v->link_add[target] =
                lbm_wall_adds(v->plan->boundary.lattice->direction, detail, components,
                              values->v + k, values->count, numbers->velocity_unit);
            for (int a = 0; a < components && v->link_velocity; a++) {
                v->link_velocity[a * v->links + target] =
                    values->v[a * values->count + k] / numbers->velocity_unit;
            }
        } else {
            lbm_open_set(input->which, detail, components, values->v + k, values->count,
                         numbers->velocity_unit, numbers->pressure_unit,
                         v->open_value + LBM_OPEN_VALUES * target);
        }
    }
}

/* ---- acceleration ---- */

unsigned lbm_acceleration_depends(const lbm_plan *plan) {
    return sel_quantity_depends(&plan->acceleration) & (SEL_ON_T | SEL_ON_CONTROLS);
}

bool lbm_is_forced(const lbm_plan *plan) {
    const double *a = plan->numbers.acceleration;
    return sel_quantity_depends(&plan->acceleration) || a[0] != 0 || a[1] != 0 || a[2] != 0;
}

double lbm_acceleration_unit(const lbm_plan *plan) {
    const sel_grid *grid = &plan->base.domain->grid;
    return grid->dx[0] / (grid->dt * grid->dt);
}

sel_status lbm_acceleration_constant(const lbm_plan *plan, double value[3], sel_error *error) {
    const sel_quantity *q = &plan->acceleration;
    const double *origin = plan->base.domain->grid.origin;
    const sel_places at = sel_domain_at(plan->base.domain, 1, origin, origin + 1, origin + 2, 0);
    memset(value, 0, 3 * sizeof *value);
    const sel_status status = sel_quantity_given(q) && !sel_quantity_depends(q)
                                  ? sel_quantity_eval(q, "acceleration", &at, value, error)
                                  : SEL_OK;
    for (int a = 0; a < 3; a++) {
        value[a] /= lbm_acceleration_unit(plan);
    }
    return status;
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
