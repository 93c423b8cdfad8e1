/* lbm_answers.c -- name what backends found and give it the user's units. */
#include "engine/lbm/lbm_answers.h"

#include <math.h>

lbm_units lbm_units_of(const lbm_plan *plan) {
    const lbm_numbers *numbers = &plan->numbers;
    return (lbm_units){.velocity = numbers->velocity_unit,
                       .density = numbers->density_unit,
                       .pressure = numbers->pressure_unit,
                       .time = plan->base.domain->grid.dt};
}

void lbm_balance_terms(const lbm_plan *plan, const lbm_balance *balance, sel_request *request) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    double unit = plan->numbers.density_unit * pow(grid->dx, grid->dims), total = 0;
    request->term_count = 0;
    sel_request_term(request, "mass", "", balance->mass * unit);
    for (int r = 1; r <= domain->region_count; r++) {
        char text[32];
        total += balance->out[r];
        if (lbm_region_passes(domain, r)) {
            const char *name = sel_region_name(domain, r, text);
            sel_request_term(request, "out_", name, balance->out[r] * unit);
            sel_request_term(request, "rate_", name, balance->rate[r] * unit / grid->dt);
        }
    }
    sel_request_term(request, "error", "",
                     (balance->mass - balance->first_mass + total) / balance->first_mass);
}

void lbm_watched_answer(const sel_plan *base, const sel_watched *found, sel_request *request) {
    const lbm_plan *plan = (const lbm_plan *)base;
    sel_request_watched(request, found);
    request->largest = sqrt(request->largest) * plan->numbers.velocity_unit;
    request->smallest = (1 + request->smallest) * plan->numbers.density_unit;
}

void lbm_links_centre(const lbm_plan *plan, const sel_request *request, double centre[3]) {
    const sel_grid *grid = &plan->base.domain->grid;
    for (int a = 0; a < 3; a++) {
        bool given = request->kind == SEL_FORCE && a < grid->dims;
        centre[a] = given ? (request->centre[a] - grid->origin[a]) / grid->dx - 0.5 : 0;
    }
}

void lbm_links_answer(const lbm_plan *plan, const double force[3], const double torque[3],
                      double mass, sel_request *request) {
    const sel_grid *grid = &plan->base.domain->grid;
    const lbm_numbers *numbers = &plan->numbers;
    double unit = numbers->density_unit * numbers->velocity_unit * numbers->velocity_unit *
                  pow(grid->dx, grid->dims - 1);
    for (int a = 0; a < 3; a++) {
        request->force[a] = force[a] * unit;
        request->torque[a] = torque[a] * unit * grid->dx;
    }
    request->flux = mass * numbers->density_unit * pow(grid->dx, grid->dims) / grid->dt;
}

void lbm_list_observed(const lbm_plan *plan, sel_arrays *arrays, void **links, double *strain[2]) {
    const sel_plan *base = &plan->base;
    const sel_grid *grid = &base->domain->grid;
    const sel_type real = {'f', base->precision == SEL_F32 ? 4 : 8};
    const unsigned flags = SEL_SAVED | SEL_OPTIONAL | SEL_OBSERVED;
    sel_cells cells = {.n = {grid->n[0], grid->n[1], grid->n[2]},
                       .pitch = grid->n[0],
                       .slice = grid->n[0] * grid->n[1],
                       .plane = sel_grid_cells(grid)};
    sel_arrays_add(arrays, "links", links, real,
                   base->wants_links ? 2 * plan->boundary.link_count : 0, flags);
    for (int k = 0; k < 2; k++) {
        const sel_field_info *info = &lbm_solver.fields[LBM_STRAIN_RATE + k];
        const bool wanted = base->wants_fields >> (LBM_STRAIN_RATE + k) & 1u;
        cells.components = sel_field_components(info, grid->dims);
        cells.count = wanted ? cells.components * cells.plane : 0;
        sel_arrays_add_cells(arrays, info->name, &strain[k], SEL_TYPE_OF(*strain[k]), &cells,
                             flags);
    }
}
