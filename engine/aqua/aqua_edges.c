/* aqua_edges.c -- the edges between neighbours through which a flux is counted. */
#include <math.h>
#include <stdlib.h>
#include "engine/aqua/aqua_ground.h"

static sel_status add(aqua_edges *edges, int64_t at, int k, int sign, sel_error *error) {
    if (edges->count == edges->room) {
        int64_t room = 2 * edges->room + 64;
        aqua_edge *v = realloc(edges->v, (size_t)room * sizeof *v);
        if (!v) {
            return sel_fail_memory(error, "the edges of a flux", (size_t)room * sizeof *v);
        }
        edges->v = v;
        edges->room = room;
    }
    edges->v[edges->count++] = (aqua_edge){at, k, sign};
    return SEL_OK;
}

static bool is_free(const aqua_plan *plan, int64_t x, int64_t y) {
    int64_t cell = aqua_cell_of(&plan->base.domain->grid, x, y);
    return cell >= 0 && plan->base.domain->cell[cell] == 0;
}

int64_t aqua_region_edges(const aqua_plan *plan, int region, aqua_edge *to) {
    const aqua_ghosts *ghosts = &plan->ghosts;
    const int64_t pitch = plan->layout.pitch;
    int64_t count = 0;
    for (int64_t g = ghosts->first[region]; g < ghosts->first[region + 1]; g++) {
        int64_t x = ghosts->at[g] % pitch - AQUA_HALO, y = ghosts->at[g] / pitch - AQUA_HALO;
        for (int k = 0; k < AQUA_AROUND; k++) {
            if (is_free(plan, x + aqua_around[k][0], y + aqua_around[k][1])) {
                if (to) {
                    to[count] = (aqua_edge){ghosts->at[g], k, -1};
                }
                count++;
            }
        }
    }
    return count;
}

int64_t aqua_all_edges(const aqua_plan *plan, aqua_edge *to, int64_t first[AQUA_FIRSTS]) {
    first[0] = first[1] = 0;
    for (int r = 1; r <= plan->base.domain->region_count; r++) {
        first[r + 1] = first[r] + aqua_region_edges(plan, r, to ? to + first[r] : NULL);
    }
    return first[plan->base.domain->region_count + 1];
}

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

static sel_status line_edges(const aqua_plan *plan, const double from[2], const double to[2],
                             aqua_edges *edges, sel_error *error) {
    const sel_grid *grid = &plan->base.domain->grid;
    const double p[2] = {from[0] + moved[0] * grid->dx, from[1] + moved[1] * grid->dx};
    const double q[2] = {to[0] + moved[0] * grid->dx, to[1] + moved[1] * grid->dx};
    sel_status status = SEL_OK;
    for (int64_t y = -1; y <= grid->n[1] && !status; y++) {
        int64_t x0, x1;
        reach(plan, p, q, y, &x0, &x1);
        for (int64_t x = x0; x < x1 && !status; x++) {
            const double a[2] = {sel_centre(grid, 0, (double)x), sel_centre(grid, 1, (double)y)};
            for (int k = 0; k < 8 && !status; k += 2) {
                const int dx = aqua_around[k][0], dy = aqua_around[k][1];
                const double b[2] = {sel_centre(grid, 0, (double)(x + dx)),
                                     sel_centre(grid, 1, (double)(y + dy))};
                int sign = crosses(p, q, a, b);
                bool inside = x + dx >= -1 && x + dx <= grid->n[0] && y + dy <= grid->n[1];
                if (sign && inside && (is_free(plan, x, y) || is_free(plan, x + dx, y + dy))) {
                    status = add(edges, aqua_index(&plan->layout, x, y), k, sign, error);
                }
            }
        }
    }
    return status;
}

sel_status aqua_flux_edges(const aqua_plan *plan, const sel_request *request, aqua_edges *edges,
                           sel_error *error) {
    *edges = (aqua_edges){.v = NULL};
    if (!request->region) {
        return line_edges(plan, request->line[0], request->line[1], edges, error);
    }
    const int64_t count = aqua_region_edges(plan, request->region, NULL);
    const size_t bytes = (size_t)(count + 1) * sizeof *edges->v;
    edges->v = malloc(bytes);
    if (!edges->v) {
        return sel_fail_memory(error, "the edges of a flux", bytes);
    }
    edges->count = aqua_region_edges(plan, request->region, edges->v);
    return SEL_OK;
}

void aqua_edges_free(aqua_edges *edges) {
    free(edges->v);
    *edges = (aqua_edges){.v = NULL};
}
