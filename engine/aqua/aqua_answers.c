/* aqua_answers.c -- name what backends found and give it the user's units. */
#include <math.h>
#include <stdio.h>
#include "engine/aqua/aqua_ghosts.h"

void aqua_balance_terms(const aqua_plan *plan, const aqua_balance *balance, sel_request *request) {
    const sel_domain *domain = plan->base.domain;
    double in = balance->first_volume, out = 0, turned_over = balance->first_volume;
    request->term_count = 0;
    sel_request_term(request, "volume", "", balance->volume);
    if (plan->rain != AQUA_NOTHING) {
        sel_request_term(request, "rain", "", balance->rain);
        in += balance->rain;
        turned_over += balance->rain;
    }
    for (int i = 0; i < plan->inflow_count; i++) {
        sel_request_term(request, "inflow_", plan->inflows[i].name, balance->inflow[i]);
        in += balance->inflow[i];
        turned_over += balance->inflow[i];
    }
    if (plan->infiltration != AQUA_NOTHING) {
        sel_request_term(request, "infiltration", "", balance->infiltration);
        out += balance->infiltration;
    }
    for (int r = 1; r <= domain->region_count; r++) {
        char text[32];
        if (aqua_open_of(domain, r) || aqua_level_of(domain, r)) {
            sel_request_term(request, "out_", sel_region_name(domain, r, text), balance->out[r]);
            out += balance->out[r];
            turned_over += fabs(balance->out[r]);
        }
    }
    double error = balance->volume + out - in;
    sel_request_term(request, "error", "", turned_over > 0 ? error / turned_over : 0);
}

void aqua_watched(const sel_plan *plan, const sel_watched *found, sel_request *request) {
    (void)plan;
    sel_request_watched(request, found);
}

sel_status aqua_too_deep(const aqua_plan *plan, int64_t step, int64_t cell, sel_error *error) {
    const aqua_store store = aqua_store_of(plan);
    const int64_t nx = plan->layout.nx;
    const double given = plan->params->depth_limit;
    char advice[160] = "";
    if (plan->bits > AQUA_LEAST_BITS) {
        char more[64] = "";
        if (!isnan(given)) {
            snprintf(more, sizeof more, " more than its %.10g m", given);
        }
        snprintf(advice, sizeof advice,
                 "give depth_limit%s, the greatest depth that you expect, or ", more);
    }
    return sel_fail_at(
        error, sel_simulation_where(plan->base.simulation, "depth_limit"),
        "step %lld: cell {%lld, %lld} holds more than %.4g m of water, the most that "
        "depths in quanta of 2^-%d m can be with this alpha; %s%sprecision = \"f64\"",
        (long long)step, (long long)(cell % nx), (long long)(cell / nx),
        store.limit / store.per_metre, plan->bits, advice,
        *advice ? "" : "no quantum is coarser: ");
}

sel_status aqua_level_too_high(const aqua_plan *plan, int region, double z, double ground, double t,
                               sel_error *error) {
    const sel_domain *domain = plan->base.domain;
    const aqua_store store = aqua_store_of(plan);
    char text[32], advice[160] = "no quantum is coarser: precision = \"f64\"";
    if (plan->bits > AQUA_LEAST_BITS) {
        snprintf(advice, sizeof advice, "give depth_limit = %.3g, or precision = \"f64\"",
                 1.05 * (z - ground));
    }
    return sel_fail_at(error, domain->regions[region - 1].law.where,
                       "law.level of region '%s': z = %.10g m at t=%.10g stands %.6g m above the "
                       "lowest ground there (%.6g m); depths in quanta of 2^-%d m hold %.4g m. If "
                       "the level is right, %s",
                       sel_region_name(domain, region, text), z, t, z - ground, ground, plan->bits,
                       store.limit / store.per_metre, advice);
}
