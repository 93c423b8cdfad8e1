/* aqua_store.c -- how depths are stored: their units, the most that they can be, and the error of
 * one that is more.
 */
#include <math.h>
#include <stdio.h>
#include "engine/solvers/aqua/aqua.h"

/* By which alpha is below 1, so that rounding never takes more than there is. */
enum { UNITS_OF_THE_LAST_PLACE = 16 };

double aqua_most_quanta(const aqua_plan *plan) {
    return floor(0x1p31 / (1 + 8 * plan->largest_alpha) * 32 / 33) - 1;
}

aqua_store aqua_store_of(const aqua_plan *plan) {
    aqua_store store = {.whole = plan->base.precision == SEL_F32,
                        .per_metre = 1,
                        .limit = HUGE_VAL,
                        .most_poured = HUGE_VAL,
                        .most_rain = HUGE_VAL,
                        .largest_alpha = 1 - UNITS_OF_THE_LAST_PLACE * 0x1p-53};
    if (store.whole) {
        store.per_metre = ldexp(1, plan->bits);
        store.datum = plan->datum;
        store.limit = aqua_most_quanta(plan);
        store.most_poured = store.limit * 33 / 32;
        store.most_rain = store.limit / 64;
        store.largest_alpha = 1 - UNITS_OF_THE_LAST_PLACE * 0x1p-24;
    }
    store.least = plan->params->min_head * store.per_metre;
    store.alpha = fmin(plan->largest_alpha, store.largest_alpha);
    return store;
}

sel_status aqua_too_deep(const aqua_plan *plan, int64_t step, int64_t cell, sel_error *error) {
    const aqua_store store = aqua_store_of(plan);
    const double given = plan->params->depth_limit;
    char cell_text[SEL_CELL_TEXT], more[64] = "", advice[160] = "no quantum is coarser: ";
    if (!isnan(given)) {
        snprintf(more, sizeof more, " more than its %.10g m", given);
    }
    if (plan->bits > AQUA_LEAST_BITS) {
        snprintf(advice, sizeof advice,
                 "give depth_limit%s, the greatest depth that you expect, or ", more);
    }
    return sel_fail_at(
        error, sel_simulation_where(plan->base.simulation, "depth_limit"),
        "step %lld: cell %s holds more than %.4g m of water, the most that depths in quanta of "
        "2^-%d m can be with this alpha; %sprecision = \"f64\"",
        (long long)step, sel_cell_text(&plan->base.domain->grid, cell, cell_text),
        store.limit / store.per_metre, plan->bits, advice);
}
