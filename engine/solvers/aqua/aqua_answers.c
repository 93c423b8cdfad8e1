/* aqua_answers.c -- what requests find: the balance, and the edges through which a flux is counted.
 */
#include <math.h>
#include <string.h>
#include "engine/solvers/aqua/aqua_state.h"

/* ---- the balance ---- */

void aqua_answer_balance(const aqua_state *state, const aqua_books *books, double volume,
                         sel_request *request) {
    const aqua_plan *plan = state->plan;
    const sel_domain *domain = plan->base.domain;
    const bool whole = state->store.whole;
    const double unit = aqua_volume_unit(state), now = volume * unit;
    const double rain = sel_total_of(&books->supplied[AQUA_RAIN], whole) * unit;
    const double soil = sel_total_of(&books->supplied[AQUA_SOIL], whole) * unit;
    double in = state->first_volume * unit, out = 0, turned_over = in;
    request->term_count = 0;
    sel_request_term(request, "volume", "", now);
    if (plan->supply[AQUA_RAIN].spread != AQUA_NOTHING) {
        sel_request_term(request, "rain", "", rain);
        in += rain;
        turned_over += rain;
    }
    for (int i = 0; i < plan->inflow_count; i++) {
        const double inflow = sel_total_of(&books->inflow[i], whole) * unit;
        sel_request_term(request, "inflow_", plan->inflows[i].name, inflow);
        in += inflow;
        turned_over += inflow;
    }
    if (plan->supply[AQUA_SOIL].spread != AQUA_NOTHING) {
        sel_request_term(request, "infiltration", "", soil);
        out += soil;
    }
    for (int r = 1; r <= domain->region_count; r++) {
        const double through = sel_total_of(&books->out[r], whole) * unit;
        char text[32];
        if (aqua_passes(domain, r)) {
            sel_request_term(request, "out_", sel_region_name(domain, r, text), through);
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

/* The cells of row y that may have a link across the line: x0 <= x < x1. */
static void reach(const aqua_plan *plan, const double p[2], const double q[2], int64_t y,
                  int64_t *x0, int64_t *x1) {
    const sel_grid *grid = &plan->base.domain->grid;
    double middle = sel_centre(grid, 1, (double)y) + 0.5 * grid->dx, near = 2 * grid->dx;
    double from = 0, to = 1, rise = q[1] - p[1];
    if (fabs(rise) > 0) {
        double one = (middle - near - p[1]) / rise, other = (middle + near - p[1]) / rise;
        from = fmax(0, fmin(one, other));
        to = fmin(1, fmax(one, other));
    } else if (fabs(middle - p[1]) > near) {
        to = -1;
    }
    double a = p[0] + from * (q[0] - p[0]), b = p[0] + to * (q[0] - p[0]);
    double low = (fmin(a, b) - grid->origin[0]) / grid->dx - 3;
    double high = (fmax(a, b) - grid->origin[0]) / grid->dx + 3;
    *x0 = (int64_t)fmax(low, -1);
    *x1 = to < from ? *x0 : (int64_t)fmin(high, (double)grid->n[0]) + 1;
}

/* Users draw lines along the edges of cells and through their centres, where links run through the
 * ends of lines or along them. All lines are moved a little, the same way, so that none does, and
 * lines that meet have no gap between them. */
static const double moved[2] = {1e-6, 3.7e-7}; /* cells */

static int64_t line_edges(const aqua_plan *plan, const double line[2][2], aqua_edge *to) {
    const sel_domain *domain = plan->base.domain;
    const sel_grid *grid = &domain->grid;
    const double p[2] = {line[0][0] + moved[0] * grid->dx, line[0][1] + moved[1] * grid->dx};
    const double q[2] = {line[1][0] + moved[0] * grid->dx, line[1][1] + moved[1] * grid->dx};
    int64_t count = 0;
    for (int64_t y = -1; y <= grid->n[1]; y++) {
        int64_t x0, x1;
        reach(plan, p, q, y, &x0, &x1);
        for (int64_t x = x0; x < x1; x++) {
            const double a[2] = {sel_centre(grid, 0, (double)x), sel_centre(grid, 1, (double)y)};
            for (int k = 0; k < 8; k += 2) {
                const int dx = aqua_around[k][0], dy = aqua_around[k][1];
                const double b[2] = {sel_centre(grid, 0, (double)(x + dx)),
                                     sel_centre(grid, 1, (double)(y + dy))};
                int sign = crosses(p, q, a, b);
                bool inside = x + dx >= -1 && x + dx <= grid->n[0] && y + dy <= grid->n[1];
                if (!sign || !inside ||
                    (aqua_free_cell(domain, x, y) < 0 &&
                     aqua_free_cell(domain, x + dx, y + dy) < 0)) {
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

static int64_t ghost_edges(const aqua_plan *plan) {
    return plan->ghosts.first_edge[plan->base.domain->region_count + 1];
}

int64_t aqua_list_edges(const aqua_plan *plan, aqua_edge *to) {
    int64_t count = ghost_edges(plan);
    for (int64_t e = 0; to && e < count; e++) {
        to[e] = plan->ghosts.edge[e];
    }
    for (int l = 0; l < plan->base.line_count; l++) {
        count += line_edges(plan, plan->base.lines[l], to ? to + count : NULL);
    }
    return count;
}

int64_t aqua_flux_edges(const aqua_plan *plan, const sel_request *request, int64_t *first) {
    const int64_t *edge = plan->ghosts.first_edge + request->region;
    *first = edge[0];
    if (request->region) {
        return edge[1] - edge[0];
    }
    *first = ghost_edges(plan);
    for (int l = 0; l < plan->base.line_count; l++) {
        const int64_t count = line_edges(plan, plan->base.lines[l], NULL);
        if (memcmp(plan->base.lines[l], request->line, sizeof request->line) == 0) {
            return count;
        }
        *first += count;
    }
    return 0;
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
