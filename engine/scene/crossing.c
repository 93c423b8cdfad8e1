/* crossing.c -- how far a free cell is from the wall along a link.
 *
 * The regions of the domain and their order are the only data. A link is asked in pieces, as shapes
 * do not continue beyond a periodic face:
 *
 *      cells      n-2     n-1   |    0      1        the seam of a periodic axis lies between the
 *                          o----|----x               centres of the last and the first cell
 *      piece               1     2                   piece 2 is shifted by the length of the axis
 */
#include "engine/scene/crossing.h"

#include <math.h>
#include "engine/scene/segment.h"

enum { MOST_PIECES = 4 };

/* No crossing is nearer to the free cell. */
static const double nearest = 1e-12;

/* A part of a link: in the domain it goes from one point to another. */
typedef struct piece {
    double start, end; /* fractions of the link */
    double from[3], to[3];
} piece;

/* The fractions of a link at its seams, in order; returns their number. */
static int find_seams(const sel_grid *grid, const int64_t at[3], const int offset[3],
                      double seam[3]) {
    int count = 0;
    for (int a = 0; a < grid->dims; a++) {
        const int64_t end = at[a] + offset[a];
        if (end >= 0 && end < grid->n[a]) {
            continue;
        }
        const double border = end < 0 ? -0.5 : (double)grid->n[a] - 0.5;
        const double fraction = (border - (double)at[a]) / offset[a];
        int k = count++;
        for (; k > 0 && seam[k - 1] > fraction; k--) {
            seam[k] = seam[k - 1];
        }
        seam[k] = fraction;
    }
    return count;
}

/* Divides a link at the seams; returns the number of pieces. */
static int divide_link(const sel_grid *grid, const int64_t at[3], const int offset[3],
                       piece pieces[MOST_PIECES]) {
    double seam[MOST_PIECES];
    const int seams = find_seams(grid, at, offset, seam);
    seam[seams] = 1;
    int count = 0;
    double start = 0;
    for (int k = 0; k <= seams; k++) {
        if (k < seams && seam[k] <= start) {
            continue;
        }
        piece *p = &pieces[count++];
        *p = (piece){.start = start, .end = seam[k]};
        for (int a = 0; a < 3; a++) {
            const double first = (double)at[a] + p->start * offset[a];
            const double last = (double)at[a] + p->end * offset[a];
            const double n = (double)grid->n[a], turns = floor((0.5 * (first + last) + 0.5) / n);
            const double shift = a < grid->dims ? turns * n : 0;
            p->from[a] = sel_centre(grid, a, first - shift);
            p->to[a] = sel_centre(grid, a, last - shift);
        }
        start = seam[k];
    }
    return count;
}

typedef struct painted_domain {
    const sel_domain *domain;
    sel_shape_space space;
} painted_domain;

/* Whether the last region that paints a point makes it solid. */
static bool is_solid_at(const void *of, const double p[3], bool *failed) {
    const painted_domain *painted = of;
    const sel_domain *domain = painted->domain;
    for (int k = domain->region_count; k > 0; k--) {
        const sel_shape *shape = domain->regions[k - 1].where;
        if (shape && sel_shape_contains(shape, &painted->space, p, failed)) {
            return !domain->computed[k];
        }
    }
    return false;
}

bool sel_domain_crossing(const sel_domain *domain, int64_t fluid_cell, const int offset[3],
                         double *q) {
    const sel_grid *grid = &domain->grid;
    int64_t at[3], to[3];
    sel_cell_at(grid, fluid_cell, at);
    for (int a = 0; a < 3; a++) {
        to[a] = sel_axis_periodic(grid, a) ? sel_wrapped(grid, a, at[a] + offset[a])
                                           : at[a] + offset[a];
        if (to[a] < 0 || to[a] >= grid->n[a]) {
            return false;
        }
    }
    const int owner = domain->cell[sel_cell_number(grid, to)];
    if (owner == 0 || !domain->regions[owner - 1].where) {
        return false;
    }
    const painted_domain painted = {domain, {grid, domain->control_values}};
    piece pieces[MOST_PIECES];
    const int count = divide_link(grid, at, offset, pieces);
    bool found = false, surface = true, failed = false;
    double fraction = 1;
    for (int i = 0; i < count && !found && !failed; i++) {
        const piece *p = &pieces[i];
        sel_roots roots;
        sel_roots_open(&roots);
        for (int k = 0; k < domain->region_count; k++) {
            if (domain->regions[k].where) {
                sel_shape_roots(domain->regions[k].where, &painted.space, p->from, p->to, &roots);
            }
        }
        found = sel_roots_enter(&roots, is_solid_at, &painted, p->from, p->to, &fraction, &surface);
        failed = roots.failed;
        sel_roots_close(&roots);
        surface = surface && (i == 0 || fraction > 0); /* a seam is none */
        *q = fmax(p->start + fraction * (p->end - p->start), nearest);
    }
    return surface && !failed;
}

bool sel_domain_crossing_needs_one_thread(const sel_domain *domain) {
    bool functions = false;
    for (int k = 0; k < domain->region_count; k++) {
        const sel_shape *shape = domain->regions[k].where;
        functions = functions || (shape && sel_shape_has_functions(shape));
    }
    return functions;
}
