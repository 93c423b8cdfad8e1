/* mesh_thin.c -- parts of a mesh, and gaps in it, that are thinner than a cell.
 *
 * A plate or a gap that is thinner than a cell has no cells where it lies between centres: a link
 * between them passes through its two sides, which face apart. A wire may lie between all lines of
 * centres: then its triangles have no cell of the mesh near them.
 *
 *      o     o     o   centres        o     o        A round or an edge of a solid also passes
 * between
 *      ------------- a plate             .  a wire   centres, but its sides do not face apart, and
 *      o     o     o                  o     o        cells of the mesh are near.
 */
#include <math.h>
#include <string.h>
#include "geometry/mesh.h"
#include "geometry/solid.h"

/* Triangles that are looked at, and how far cells are looked for: so many centres along each axis.
 */
enum { MOST_TRIANGLES_SEEN = 100000, NEAR = 4 };

/* ---- links ---- */

/* The links of lines along an axis. */
typedef struct thin_links {
    int64_t meet, lost; /* see sel_thin_parts */
    int64_t line;       /* of the first lost one */
    double at[3];
} thin_links;

/* The lines of centres of a box of cells along an axis. */
typedef struct centre_lines {
    const sel_mesh *mesh;
    const sel_chain *chain;
    const sel_grid *grid;
    sel_box box;
    int axis;
} centre_lines;

static void own_point(const sel_chain *chain, const double p[3], double own[3]) {
    if (chain->outer) {
        double next[3];
        own_point(chain->outer, p, next);
        sel_shape_unplace(chain->placement, next, own);
        return;
    }
    sel_shape_unplace(chain->placement, p, own);
}

/* Whether two triangles are the sides of something thin, not of an edge or a round. */
static bool face_apart(const sel_mesh *mesh, int32_t one, int32_t two) {
    double normal[2][3], product = 0, squares[2] = {0};
    for (int k = 0; k < 2; k++) {
        const int32_t *corner = mesh->corner[k ? two : one];
        const double *p = mesh->point[corner[0]], *q = mesh->point[corner[1]],
                     *r = mesh->point[corner[2]];
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            normal[k][i] = (q[j] - p[j]) * (r[l] - p[l]) - (q[l] - p[l]) * (r[j] - p[j]);
            squares[k] += normal[k][i] * normal[k][i];
        }
    }
    for (int i = 0; i < 3; i++) {
        product += normal[0][i] * normal[1][i];
    }
    return product < -0.5 * sqrt(squares[0]) * sqrt(squares[1]);
}

/* Looks at the links of one line. */
static void search_line(const centre_lines *lines, int64_t number, thin_links *found) {
    const sel_grid *grid = lines->grid;
    const int axis = lines->axis, across = (axis + 1) % 3, other = (axis + 2) % 3;
    const int64_t count = sel_box_count(&lines->box, across), n = sel_box_count(&lines->box, axis);
    int64_t at[3] = {lines->box.lo[0], lines->box.lo[1], lines->box.lo[2]};
    double ends[2][3], own[2][3];
    at[across] += number % count;
    at[other] += number / count;
    for (int a = 0; a < 3; a++) {
        ends[0][a] = sel_centre(grid, a, (double)at[a]);
        ends[1][a] = a == axis ? sel_centre(grid, a, (double)(at[a] + n - 1)) : ends[0][a];
    }
    for (int k = 0; k < 2; k++) {
        memcpy(own[k], ends[k], sizeof own[k]);
        if (lines->chain) {
            own_point(lines->chain, ends[k], own[k]);
        }
    }
    const sel_mesh_line line = sel_mesh_line_of(own[0], own[1]);
    const double start = own[0][line.axis], along = own[1][line.axis] - start;
    sel_mesh_hits hits;
    sel_mesh_cross(lines->mesh, &line, &hits);
    int winding = 0;
    for (int k = 0, end; k < hits.count && along != 0; k = end) {
        const double link = floor((hits.v[k].at - start) / along * (double)(n - 1));
        const bool inside = winding != 0;
        bool thin = false;
        for (end = k;
             end < hits.count && floor((hits.v[end].at - start) / along * (double)(n - 1)) == link;
             end++) {
            winding += hits.v[end].enters;
            thin = thin || (end > k && face_apart(lines->mesh, hits.v[end - 1].triangle,
                                                  hits.v[end].triangle));
        }
        if (link < 0 || link >= (double)(n - 1)) {
            continue;
        }
        found->meet++;
        if (thin && inside == (winding != 0) && found->lost++ == 0) {
            found->line = number;
            for (int a = 0; a < 3; a++) {
                const double part = (hits.v[k].at - start) / along;
                found->at[a] = ends[0][a] + part * (ends[1][a] - ends[0][a]);
            }
        }
    }
    sel_mesh_hits_free(&hits);
}

static void search_axis(const centre_lines *lines, sel_thin_parts *all) {
    const int64_t count = sel_box_count(&lines->box, (lines->axis + 1) % 3) *
                          sel_box_count(&lines->box, (lines->axis + 2) % 3);
    thin_links axis = {.line = INT64_MAX};
#pragma omp parallel
    {
        thin_links own = {.line = INT64_MAX};
#pragma omp for schedule(static)
        for (int64_t k = 0; k < count; k++) {
            search_line(lines, k, &own);
        }
#pragma omp critical
        {
            const int64_t meet = axis.meet + own.meet, lost = axis.lost + own.lost;
            axis = own.line < axis.line ? own : axis;
            axis.meet = meet;
            axis.lost = lost;
        }
    }
    if (all->lost_links == 0) {
        memcpy(all->link_at, axis.at, sizeof axis.at);
    }
    all->links += axis.meet;
    all->lost_links += axis.lost;
}

/* ---- triangles ---- */

/* Whether none of the nearest centres lies in the mesh; the inner ones are tested first. */
static bool is_alone(const centre_lines *lines, const double p[3]) {
    bool failed = false;
    for (int ring = 0; ring < 2; ring++) {
        for (int i = 0; i < NEAR * NEAR * NEAR; i++) {
            const int step[3] = {i % NEAR, i / NEAR % NEAR, i / NEAR / NEAR};
            double centre[3], own[3];
            bool inner = true;
            for (int a = 0; a < 3; a++) {
                const double first = floor(sel_index(lines->grid, a, p[a])) - 1;
                centre[a] = sel_centre(lines->grid, a, first + step[a]);
                inner = inner && (step[a] == 1 || step[a] == 2);
            }
            if (inner != (ring == 0)) {
                continue;
            }
            memcpy(own, centre, sizeof own);
            if (lines->chain) {
                own_point(lines->chain, centre, own);
            }
            if (sel_mesh_winding(lines->mesh, own, &failed) != 0) {
                return false;
            }
        }
    }
    return !failed;
}

/* The middle of a triangle in the domain; false: it lies outside. */
static bool place_middle(const centre_lines *lines, int64_t triangle, double p[3]) {
    const int32_t *corner = lines->mesh->corner[triangle];
    bool inside = true;
    for (int a = 0; a < 3; a++) {
        p[a] = (lines->mesh->point[corner[0]][a] + lines->mesh->point[corner[1]][a] +
                lines->mesh->point[corner[2]][a]) /
               3;
    }
    for (const sel_chain *chain = lines->chain; chain; chain = chain->outer) {
        double placed[3];
        for (int k = 0; k < 3; k++) {
            placed[k] = chain->placement->shift[k];
            for (int a = 0; a < 3; a++) {
                placed[k] += chain->placement->matrix[k][a] * p[a];
            }
        }
        memcpy(p, placed, sizeof placed);
    }
    for (int a = 0; a < 3; a++) {
        inside = inside && p[a] >= lines->grid->origin[a] && p[a] <= sel_upper_end(lines->grid, a);
    }
    return inside;
}

static void search_triangles(const centre_lines *lines, sel_thin_parts *all) {
    const int64_t n = lines->mesh->triangles, apart = 1 + n / MOST_TRIANGLES_SEEN;
    int64_t seen = 0, alone = 0, first = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(+ : seen, alone) reduction(min : first)
    for (int64_t k = 0; k < n; k += apart) {
        double p[3];
        if (place_middle(lines, k, p)) {
            seen++;
            if (is_alone(lines, p)) {
                alone++;
                first = k < first ? k : first;
            }
        }
    }
    if (alone) {
        place_middle(lines, first, all->triangle_at);
    }
    all->triangles = seen;
    all->alone = alone;
}

sel_thin_parts sel_mesh_find_thin(const sel_shape *shape, const sel_chain *chain,
                                  const sel_grid *grid) {
    const sel_bounds bounds = sel_chain_bounds(shape, chain);
    sel_thin_parts found = {.links = 0};
    centre_lines lines = {.mesh = ((const sel_shape_mesh *)shape->data)->mesh,
                          .chain = chain,
                          .grid = grid,
                          .box = sel_bounds_cells(&bounds, grid)};
    for (lines.axis = 0; lines.axis < 3; lines.axis++) {
        search_axis(&lines, &found);
    }
    search_triangles(&lines, &found);
    return found;
}
