/* aqua_answers.c -- what requests find: the balance, and the edges through which a flux is counted.
 */
#include <math.h>
#include <string.h>
#include "engine/solvers/aqua/aqua_state.h"

/* ---- the balance ---- */

/* Adds a term to the answer and returns it, m3. */
static double add_term(const aqua_state *state, const char *prefix, const char *name,
                       const sel_total *total, sel_request *request) {
    const double value = sel_total_of(total, state->store.whole) * aqua_volume_unit(state);
    sel_request_term(request, prefix, name, value);
    return value;
}

int64_t aqua_parts_of(const aqua_plan *plan, int64_t total) {
    const int64_t r = total - aqua_total_of(plan, 0), *first = plan->ghosts.first_edge;
    if (total < AQUA_SUPPLIES) {
        const aqua_kind kind = plan->terms[total].kind;
        const bool summed = kind == AQUA_FIELD || (total == AQUA_SOIL && kind != AQUA_NOTHING);
        return summed ? plan->layout.ny : 0;
    }
    return r > 0 && plan->base.wants_balance ? first[r + 1] - first[r] : 0;
}

void aqua_join_parts(const aqua_plan *plan, sel_total *parts, sel_total *totals, bool inverse) {
    for (int64_t i = 0; i < aqua_total_count(plan); i++) {
        sel_total sum = {0};
        const int64_t count = aqua_parts_of(plan, i);
        for (int64_t k = 0; k < count; k++, parts++) {
            if (inverse) {
                *parts = k == 0 ? totals[i] : (sel_total){0};
            }
            sel_total_join(&sum, parts);
        }
        totals[i] = count && !inverse ? sum : totals[i];
    }
}

void aqua_answer_balance(const aqua_state *state, const sel_total *totals, double volume,
                         sel_request *request) {
    const aqua_plan *plan = state->plan;
    const sel_domain *domain = plan->base.domain;
    const double unit = aqua_volume_unit(state), now = volume * unit;
    double in = state->first_volume * unit, out = 0;
    request->term_count = 0;
    sel_request_term(request, "volume", "", now);
    if (plan->terms[AQUA_RAIN].kind != AQUA_NOTHING) {
        in += add_term(state, "rain", "", &totals[AQUA_RAIN], request);
    }
    for (int k = AQUA_SUPPLIES; k < AQUA_SUPPLIES + plan->source_count; k++) {
        in += add_term(state, "inflow_", plan->terms[k].name, &totals[k], request);
    }
    if (plan->terms[AQUA_SOIL].kind != AQUA_NOTHING) {
        out += add_term(state, "infiltration", "", &totals[AQUA_SOIL], request);
    }
    double turned_over = in;
    for (int r = 1; r <= domain->region_count; r++) {
        char text[32];
        if (aqua_passes(domain, r)) {
            const double through = add_term(state, "out_", sel_region_name(domain, r, text),
                                            &totals[aqua_total_of(plan, r)], request);
            out += through;
            turned_over += fabs(through);
        }
    }
    const double error = now + out - in;
    sel_request_term(request, "error", "", turned_over > 0 ? error / turned_over : 0);
}

/* ---- the edges of a flux ---- */

int64_t aqua_flux_edges(const aqua_plan *plan, const sel_request *request, int64_t *first) {
    const int64_t *edge = plan->ghosts.first_edge + request->region;
    if (request->region) {
        *first = edge[0];
        return edge[1] - edge[0];
    }
    const sel_line *line = sel_plan_line_of(&plan->base, request);
    *first = plan->ghosts.first_edge[AQUA_FIRSTS - 1] + line->first;
    return line->count;
}

void aqua_answer_flux(const aqua_state *state, const double *shown, int64_t count,
                      sel_request *request) {
    const bool whole = state->store.whole;
    sel_total total = {0};
    for (int64_t e = 0; e < count; e++) {
        sel_total_more(&total, whole, shown[e]);
    }
    request->flux =
        sel_total_of(&total, whole) * aqua_volume_unit(state) / state->plan->base.domain->grid.dt;
}
