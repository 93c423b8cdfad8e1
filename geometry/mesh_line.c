/* mesh_line.c -- where a line crosses the surface of a mesh, and what that says of points.
 *
 * Along its line a triangle is a triangle of the plane, as in Woop, Benthin and Wald 2013: its
 * corners are moved along the line to a plane across the axis of the line. There they become
 * integers, from which it is decided exactly on which side of an edge the line is. A line on an
 * edge counts as one that is moved by less than any number, first along u, then by much less along
 * v:
 *
 *        v                        edge from a to b: side = (b - a) x (line - a)
 *        |   c                    0: the sign of -(b - a).v, and if that is 0, of (b - a).u
 *        |  / \
 *        | /  o\   the line       Triangles that share an edge find the same side of it, with
 *        |a-----b                 opposite signs. So a line crosses a closed surface inward as
 * often
 *        +---------- u            as outward.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "geometry/mesh.h"

typedef __int128 wide; /* products of coordinates of 51 bits */

enum { DEEPEST = 96 };

/* Steps beyond those of any corner: lines that miss the mesh may lie anywhere. */
static const double farthest = 0x1p52;

/* The line in the plane across its axis. */
typedef struct ray {
    const sel_mesh *mesh;
    int axis, across[2];
    double slope[2];
    int64_t at[2]; /* where the line is, in steps from the centre of the mesh */
} ray;

static int64_t plane_step(const ray *r, const double p[3], int k) {
    const double *centre = r->mesh->centre;
    const double off = p[r->across[k]] - centre[r->across[k]];
    const double steps = (off - r->slope[k] * (p[r->axis] - centre[r->axis])) * r->mesh->steps;
    return (int64_t)rint(fmin(fmax(steps, -farthest), farthest));
}

static ray ray_of(const sel_mesh *mesh, const sel_mesh_line *line) {
    ray r = {
        .mesh = mesh, .axis = line->axis, .across = {(line->axis + 1) % 3, (line->axis + 2) % 3}};
    for (int k = 0; k < 2; k++) {
        r.slope[k] = line->slope[r.across[k]];
        r.at[k] = plane_step(&r, line->origin, k);
    }
    return r;
}

/* The side of an edge on which the line is, doubled area of the triangle with it; *sign is never 0
 * unless the edge is a point. */
static wide side_of(const int64_t a[2], const int64_t b[2], const int64_t at[2], int *sign) {
    const int64_t u = b[0] - a[0], v = b[1] - a[1];
    const wide side = (wide)u * (at[1] - a[1]) - (wide)v * (at[0] - a[0]);
    *sign = side ? (side > 0) - (side < 0) : v ? (v < 0) - (v > 0) : (u > 0) - (u < 0);
    return side;
}

static void add_hit(sel_mesh_hits *hits, double at, int enters, int32_t triangle) {
    if (hits->count == hits->room) {
        const size_t bytes = 2 * (size_t)hits->room * sizeof *hits->v;
        sel_mesh_hit *v = hits->v == hits->few ? malloc(bytes) : realloc(hits->v, bytes);
        if (!v) {
            hits->failed = true;
            return;
        }
        if (hits->v == hits->few) {
            memcpy(v, hits->few, sizeof hits->few);
        }
        hits->v = v;
        hits->room *= 2;
    }
    hits->v[hits->count++] = (sel_mesh_hit){at, enters, triangle};
}

static void cross_triangle(const ray *r, int32_t triangle, sel_mesh_hits *hits) {
    const int32_t *corner = r->mesh->corner[triangle];
    const double *p[3];
    int64_t c[3][2];
    for (int i = 0; i < 3; i++) {
        p[i] = r->mesh->point[corner[i]];
        c[i][0] = plane_step(r, p[i], 0);
        c[i][1] = plane_step(r, p[i], 1);
    }
    for (int k = 0; k < 2; k++) {
        const int64_t at = r->at[k];
        if ((c[0][k] < at && c[1][k] < at && c[2][k] < at) ||
            (c[0][k] > at && c[1][k] > at && c[2][k] > at)) {
            return;
        }
    }
    int sign[3];
    wide side[3];
    for (int i = 0; i < 3; i++) {
        side[i] = side_of(c[(i + 1) % 3], c[(i + 2) % 3], r->at, &sign[i]);
    }
    const wide area = side[0] + side[1] + side[2];
    if (area == 0 || sign[0] != sign[1] || sign[1] != sign[2] || sign[0] == 0) {
        return;
    }
    const double whole = (double)area, one = (double)side[1] / whole, two = (double)side[2] / whole;
    const int a = r->axis;
    const double at = p[0][a] + one * (p[1][a] - p[0][a]) + two * (p[2][a] - p[0][a]);
    add_hit(hits, at, area > 0 ? -1 : 1, triangle);
}

/* Whether a line meets a box between two coordinates. */
static bool meets_box(const sel_mesh_line *line, const double inverse[3],
                      const sel_mesh_node *box) {
    double lo = fmax(line->lo, box->lo[line->axis]), hi = fmin(line->hi, box->hi[line->axis]);
    for (int k = 1; k < 3; k++) {
        const int a = (line->axis + k) % 3;
        const double low = box->lo[a] - line->origin[a], high = box->hi[a] - line->origin[a];
        if (line->slope[a] == 0) {
            if (low > 0 || high < 0) {
                return false;
            }
            continue;
        }
        const double one = low * inverse[a] + line->origin[line->axis];
        const double two = high * inverse[a] + line->origin[line->axis];
        lo = fmax(lo, fmin(one, two));
        hi = fmin(hi, fmax(one, two));
    }
    return lo <= hi;
}

static int compare_hits(const void *a, const void *b) {
    const sel_mesh_hit *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at)
                          : (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static void sort_hits(sel_mesh_hits *hits) {
    if (hits->count > 16) {
        qsort(hits->v, (size_t)hits->count, sizeof *hits->v, compare_hits);
        return;
    }
    for (int i = 1; i < hits->count; i++) {
        const sel_mesh_hit hit = hits->v[i];
        int k = i;
        for (; k > 0 && compare_hits(&hits->v[k - 1], &hit) > 0; k--) {
            hits->v[k] = hits->v[k - 1];
        }
        hits->v[k] = hit;
    }
}

void sel_mesh_hits_free(sel_mesh_hits *hits) {
    if (hits->v != hits->few) {
        free(hits->v);
    }
}

void sel_mesh_cross(const sel_mesh *mesh, const sel_mesh_line *line, sel_mesh_hits *hits) {
    int32_t waiting[DEEPEST];
    int count = 1;
    double inverse[3];
    const ray r = ray_of(mesh, line);
    hits->count = 0;
    hits->room = SEL_HITS_AT_ONCE;
    hits->failed = false;
    hits->v = hits->few;
    for (int a = 0; a < 3; a++) {
        inverse[a] = 1 / line->slope[a];
    }
    waiting[0] = 0;
    while (count > 0) {
        const sel_mesh_node *node = &mesh->node[waiting[--count]];
        if (!meets_box(line, inverse, node)) {
            continue;
        }
        for (int32_t i = 0; i < node->count; i++) {
            cross_triangle(&r, node->first + i, hits);
        }
        if (node->count == 0) {
            waiting[count++] = node->first + 1;
            waiting[count++] = node->first;
        }
    }
    sort_hits(hits);
}

sel_mesh_line sel_mesh_line_of(const double from[3], const double to[3]) {
    sel_mesh_line line = {.lo = -HUGE_VAL, .hi = HUGE_VAL};
    for (int a = 1; a < 3; a++) {
        line.axis = fabs(to[a] - from[a]) > fabs(to[line.axis] - from[line.axis]) ? a : line.axis;
    }
    const double along = to[line.axis] - from[line.axis];
    for (int a = 0; a < 3; a++) {
        line.origin[a] = from[a];
        line.slope[a] = a == line.axis ? 1 : along != 0 ? (to[a] - from[a]) / along : 0;
    }
    return line;
}

/* ---- points and segments ---- */

int sel_mesh_winding(const sel_mesh *mesh, const double p[3], bool *failed) {
    sel_mesh_line line = sel_mesh_line_of(p, p);
    sel_mesh_hits hits;
    const bool right = p[0] > mesh->centre[0]; /* the shorter way out */
    int winding = 0;
    for (int a = 0; a < 3; a++) {
        if (!(p[a] >= mesh->bounds.lo[a] && p[a] <= mesh->bounds.hi[a])) {
            return 0;
        }
    }
    line.lo = right ? p[0] : -HUGE_VAL;
    line.hi = right ? HUGE_VAL : p[0];
    sel_mesh_cross(mesh, &line, &hits);
    for (int k = 0; k < hits.count; k++) {
        winding += right ? (hits.v[k].at > p[0] ? -hits.v[k].enters : 0)
                         : (hits.v[k].at <= p[0] ? hits.v[k].enters : 0);
    }
    *failed = *failed || hits.failed;
    sel_mesh_hits_free(&hits);
    return winding;
}

/* The number of points from point i on that follow each other along a line at equal distances; the
 * last of them. */
static size_t row_of_points(sel_point_of *point_of, const void *of, size_t i, size_t n,
                            const double first[3], double last[3]) {
    double step[3], p[3], reach = 0;
    size_t count = 1;
    memcpy(last, first, 3 * sizeof *last);
    for (; i + count < n; count++) {
        bool near = true;
        point_of(of, i + count, p);
        for (int a = 0; a < 3; a++) {
            step[a] = count == 1 ? p[a] - first[a] : step[a];
            reach = count == 1 ? fmax(reach, fabs(step[a])) : reach;
            near = near && fabs(p[a] - first[a] - (double)count * step[a]) <= 1e-7 * reach;
        }
        if (!near) {
            break;
        }
        memcpy(last, p, sizeof p);
    }
    return count;
}

sel_status sel_mesh_contains(const sel_mesh *mesh, sel_point_of *point_of, const void *of, size_t n,
                             uint8_t *in, sel_error *error) {
    bool failed = false;
    for (size_t i = 0, count; i < n && !failed; i += count) {
        double first[3], last[3], p[3];
        sel_mesh_hits hits;
        point_of(of, i, first);
        count = row_of_points(point_of, of, i, n, first, last);
        const sel_mesh_line line = sel_mesh_line_of(first, last);
        sel_mesh_cross(mesh, &line, &hits);
        const bool falls = last[line.axis] < first[line.axis];
        int winding = 0, next = 0;
        for (size_t k = 0; k < count; k++) {
            const size_t place = i + (falls ? count - 1 - k : k);
            point_of(of, place, p);
            while (next < hits.count && hits.v[next].at <= p[line.axis]) {
                winding += hits.v[next++].enters;
            }
            in[place] = winding != 0;
        }
        failed = hits.failed;
        sel_mesh_hits_free(&hits);
    }
    return failed ? sel_fail_memory(error, "a mesh", 0) : SEL_OK;
}

void sel_mesh_roots(const sel_mesh *mesh, const double from[3], const double to[3],
                    sel_roots *roots) {
    sel_mesh_line line = sel_mesh_line_of(from, to);
    sel_mesh_hits hits;
    const double start = from[line.axis], along = to[line.axis] - start;
    line.lo = fmin(start, to[line.axis]);
    line.hi = fmax(start, to[line.axis]);
    if (along == 0) {
        return;
    }
    sel_mesh_cross(mesh, &line, &hits);
    for (int k = 0; k < hits.count; k++) {
        sel_roots_add(roots, (hits.v[k].at - start) / along, true);
    }
    roots->failed = roots->failed || hits.failed;
    sel_mesh_hits_free(&hits);
}
