/* lbm_answers.c -- name what backends found and give it the user's units. */
#include "engine/lbm/lbm_answers.h"

#include <math.h>

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
