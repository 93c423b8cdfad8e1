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

/* Positive to the left of the line through p and q. */
static double side(const double p[2], const double q[2], double x, double y) {
    return (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
}

/* Whether the link from a to b crosses the line: 1 to its left, -1 to its right, 0 not. */
static int crosses(const double p[2], const double q[2], const double a[2], const double b[2]) {
    const double sa = side(p, q, a[0], a[1]), sb = side(p, q, b[0], b[1]);
    if ((sa > 0) == (sb > 0)) {
        return 0;
    }
    const double sp = side(a, b, p[0], p[1]), sq = side(a, b, q[0], q[1]);
    const double part = sp / (sp - sq);
    return !(part >= 0 && part < 1) ? 0 : sb > 0 ? 1 : -1;
}

/* Links of row y, to the row above it too, can cross the line only in the cells x0 <= x < x1. */
static void reach(const sel_grid *grid, const double p[2], const double q[2], int64_t y,
                  int64_t *x0, int64_t *x1) {
    const double dx = grid->dx[0], middle = sel_centre(grid, 1, (double)y) + 0.5 * dx;
    double x[2];
    for (int k = 0; k < 2; k++) { /* of the line at a height, or of the end nearest to that */
        const double part = (middle + (k ? 2 : -2) * dx - p[1]) / (q[1] - p[1]);
        x[k] = p[0] + fmax(0, fmin(1, part)) * (q[0] - p[0]);
    }
    *x0 = (int64_t)fmax((fmin(x[0], x[1]) - grid->origin[0]) / dx - 3, -1);
    *x1 = (int64_t)fmin((fmax(x[0], x[1]) - grid->origin[0]) / dx + 3, (double)grid->n[0]) + 1;
}

/* Users draw lines along the edges of cells and through their centres, where links run through the
 * ends of lines or along them. All lines are moved a little, the same way, so that none does, and
 * lines that meet have no gap between them. */
static const double moved[2] = {1e-6, 3.7e-7}; /* cells */

/* Stores the links that cross a line unless `to` is NULL; returns their number. */
static int64_t line_edges(const aqua_plan *plan, const double line[2][2], aqua_edge *to) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const double p[2] = {line[0][0] + moved[0] * grid->dx[0], line[0][1] + moved[1] * grid->dx[0]};
    const double q[2] = {line[1][0] + moved[0] * grid->dx[0], line[1][1] + moved[1] * grid->dx[0]};
    int64_t count = 0, x0, x1;
    for (int64_t y = -1; y <= grid->n[1]; y++) {
        reach(grid, p, q, y, &x0, &x1);
        for (int64_t x = x0; x < x1; x++) {
            const double a[2] = {sel_centre(grid, 0, (double)x), sel_centre(grid, 1, (double)y)};
            for (int k = 0; k < AQUA_AROUND; k += 2) {
                const int64_t u = x + aqua_around[k][0], v = y + aqua_around[k][1];
                const double b[2] = {sel_centre(grid, 0, (double)u),
                                     sel_centre(grid, 1, (double)v)};
                const int sign = crosses(p, q, a, b);
                const bool inside = u >= -1 && u <= grid->n[0] && v <= grid->n[1];
                if (!sign || !inside ||
                    (sel_free_cell(domain, x, y) < 0 && sel_free_cell(domain, u, v) < 0)) {
                    continue;
                }
                if (to) {
                    to[count] = (aqua_edge){aqua_index(&plan->layout, x, y), k, sign};
                }
                count++;
            }
        }
    }
    return count;
}

int64_t aqua_list_edges(const aqua_plan *plan, int lines, aqua_edge *to) {
    int64_t count = plan->ghosts.first_edge[AQUA_FIRSTS - 1];
    if (to) {
        memcpy(to, plan->ghosts.edge, (size_t)count * sizeof *to);
    }
    for (int l = 0; l < lines; l++) {
        count += line_edges(plan, plan->base.lines[l], to ? to + count : NULL);
    }
    return count;
}

int64_t aqua_flux_edges(const aqua_plan *plan, const sel_request *request, int64_t *first) {
    const int64_t *edge = plan->ghosts.first_edge + request->region;
    int l = 0;
    while (!request->region && memcmp(plan->base.lines[l], request->line, sizeof request->line)) {
        l++;
    }
    *first = request->region ? edge[0] : aqua_list_edges(plan, l, NULL);
    return (request->region ? edge[1] : aqua_list_edges(plan, l + 1, NULL)) - *first;
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
