/* lines.c -- the lines of a plan across which fluxes are summed, and the links that cross them. */
#include "engine/scene/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int sel_link_to[SEL_LINKS][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};

/* Positive to the left of the line through p and q. */
static double lines_side(const double p[2], const double q[2], double x, double y) {
    return (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
}

/* Whether the link from a to b crosses the line from p to q: 1 to its left, -1 to its right, 0:
 * no. */
static int lines_crossing(const double p[2], const double q[2], const double a[2],
                          const double b[2]) {
    const double sa = lines_side(p, q, a[0], a[1]), sb = lines_side(p, q, b[0], b[1]);
    if ((sa > 0) == (sb > 0)) {
        return 0;
    }
    const double sp = lines_side(a, b, p[0], p[1]), sq = lines_side(a, b, q[0], q[1]);
    const double part = sp / (sp - sq);
    return !(part >= 0 && part < 1) ? 0 : sb > 0 ? 1 : -1;
}

/* Sets x0 and x1: only links from the cells x0 <= x < x1 of row y can cross the line. The links
 * lead to the same row or to the next. */
static void lines_row_range(const sel_grid *grid, const double p[2], const double q[2], int64_t y,
                            int64_t *x0, int64_t *x1) {
    const double dx = grid->dx[0], middle = sel_centre(grid, 1, (double)y) + 0.5 * dx;
    double x[2];
    for (int k = 0; k < 2; k++) { /* x of the line below and above row y, clipped to its ends */
        const double part = (middle + (k ? 2 : -2) * dx - p[1]) / (q[1] - p[1]);
        x[k] = p[0] + fmax(0, fmin(1, part)) * (q[0] - p[0]);
    }
    *x0 = (int64_t)fmax((fmin(x[0], x[1]) - grid->origin[0]) / dx - 3, -1);
    *x1 = (int64_t)fmin((fmax(x[0], x[1]) - grid->origin[0]) / dx + 3, (double)grid->n[0]) + 1;
}

/* Users draw lines along the edges of cells or through their centres: there a link may run along a
 * line or through its end. Therefore a line counts as the mean of two, moved by a small vector this
 * way and that, which is the same for all lines and leaves no gap between lines that meet. So half
 * of what passes through an end is on either side of it. */
static const double moved[2] = {1e-6, 3.7e-7}; /* cells */

/* The crossings of both by the link from a to b: 2 and 1 to the left, -1 and -2 to the right. */
static int lines_moved_crossing(const sel_grid *grid, const double line[2][2], const double a[2],
                                const double b[2]) {
    int sum = 0;
    for (int way = -1; way <= 1; way += 2) {
        double ends[2][2];
        for (int k = 0; k < 4; k++) {
            ends[k / 2][k % 2] = line[k / 2][k % 2] + way * moved[k % 2] * grid->dx[0];
        }
        sum += lines_crossing(ends[0], ends[1], a, b);
    }
    return sum;
}

/* Stores the links that cross a line in `to` (NULL: stores none). Returns their number. */
static int64_t list_links(const sel_domain *domain, const double line[2][2], sel_link *to) {
    const sel_grid *grid = &domain->grid;
    int64_t count = 0, x0, x1;
    for (int64_t y = -1; y <= grid->n[1]; y++) {
        lines_row_range(grid, line[0], line[1], y, &x0, &x1);
        for (int64_t x = x0; x < x1; x++) {
            const double a[2] = {sel_centre(grid, 0, (double)x), sel_centre(grid, 1, (double)y)};
            for (int k = 0; k < SEL_LINKS; k++) {
                const int64_t u = x + sel_link_to[k][0], v = y + sel_link_to[k][1];
                const double b[2] = {sel_centre(grid, 0, (double)u),
                                     sel_centre(grid, 1, (double)v)};
                const int sign = lines_moved_crossing(grid, line, a, b);
                if (sign && u >= -1 && u <= grid->n[0] && v <= grid->n[1] &&
                    (sel_free_cell(domain, x, y) >= 0 || sel_free_cell(domain, u, v) >= 0)) {
                    if (to) {
                        to[count] = (sel_link){x, y, k, sign};
                    }
                    count++;
                }
            }
        }
    }
    return count;
}

sel_status sel_plan_line(sel_plan *plan, const double from[2], const double to[2],
                         sel_error *error) {
    sel_line line = {{{from[0], from[1]}, {to[0], to[1]}}, plan->link_count, 0};
    line.count = list_links(plan->domain, line.ends, NULL);
    const size_t lines = ((size_t)plan->line_count + 1) * sizeof line;
    const size_t links = (size_t)(line.first + line.count + 1) * sizeof *plan->links;
    void *more = realloc(plan->lines, lines);
    if (more) {
        plan->lines = more;
        more = realloc(plan->links, links);
    }
    if (!more) {
        return sel_fail_memory(error, "the lines of fluxes", lines + links);
    }
    plan->links = more;
    plan->link_count += list_links(plan->domain, line.ends, plan->links + line.first);
    plan->lines[plan->line_count++] = line;
    plan->wants_links = true;
    return SEL_OK;
}

const sel_line *sel_plan_line_of(const sel_plan *plan, const sel_request *request) {
    const sel_line *line = plan->lines;
    while (memcmp(line->ends, request->line, sizeof line->ends)) {
        line++;
    }
    return line;
}
