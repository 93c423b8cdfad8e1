/* mesh_make.c -- makes a body of triangles: closed, measured, sorted into a tree, looked at. */
#include <math.h>
#include <string.h>
#include "geometry/mesh.h"

/* Triangles about which the surface is looked at. */
enum { MOST_SAMPLES = 4000 };

/* Coordinates of lines across an axis become integers of up to 51 bits. */
static const double steps_across = 0x1p50;

static void edges_of(const sel_triangles *t, int64_t k, double a[3], double b[3]) {
    const int32_t *corner = t->corner[k];
    for (int i = 0; i < 3; i++) {
        a[i] = t->point[corner[1]][i] - t->point[corner[0]][i];
        b[i] = t->point[corner[2]][i] - t->point[corner[0]][i];
    }
}

/* Adds up the areas of the triangles of the file, which come first, and the volume of all: that of
 * pyramids from the centre. */
static void measure(const sel_triangles *t, int64_t own, const double centre[3],
                    sel_mesh_facts *facts) {
    for (int64_t k = 0; k < t->triangles; k++) {
        const double *p = t->point[t->corner[k][0]];
        double a[3], b[3], squares = 0, volume = 0;
        edges_of(t, k, a, b);
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            const double normal = a[j] * b[l] - a[l] * b[j];
            squares += normal * normal;
            volume += normal * (p[i] - centre[i]);
        }
        facts->area += k < own ? 0.5 * sqrt(squares) : 0;
        facts->volume += volume / 6;
    }
}

static void find_bounds(sel_mesh *mesh) {
    double widest = 0;
    mesh->bounds = SEL_NOWHERE;
    for (int64_t k = 0; k < 3 * mesh->triangles; k++) {
        const double *p = mesh->point[mesh->corner[k / 3][k % 3]];
        for (int a = 0; a < 3; a++) {
            mesh->bounds.lo[a] = fmin(mesh->bounds.lo[a], p[a]);
            mesh->bounds.hi[a] = fmax(mesh->bounds.hi[a], p[a]);
        }
    }
    for (int a = 0; a < 3; a++) {
        widest = fmax(widest, mesh->bounds.hi[a] - mesh->bounds.lo[a]);
        mesh->centre[a] = 0.5 * (mesh->bounds.hi[a] + mesh->bounds.lo[a]);
    }
    mesh->steps = steps_across / widest;
    for (int a = 0; a < 3; a++) {
        const double margin = 1e-9 * widest;
        mesh->bounds.lo[a] -= margin;
        mesh->bounds.hi[a] += margin;
    }
}

/* Looks at both sides of a triangle: false if they are not inside and outside. */
static bool parts_inside(const sel_mesh *mesh, int32_t triangle, double at[3]) {
    const int32_t *corner = mesh->corner[triangle];
    const double *p = mesh->point[corner[0]], *q = mesh->point[corner[1]],
                 *r = mesh->point[corner[2]], near = 1e6 / mesh->steps;
    double normal[3];
    int axis = 0, before = 0, own = 0, others = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        normal[i] = (q[j] - p[j]) * (r[l] - p[l]) - (q[l] - p[l]) * (r[j] - p[j]);
        at[i] = (p[i] + q[i] + r[i]) / 3;
        axis = fabs(normal[i]) > fabs(normal[axis]) ? i : axis;
    }
    sel_mesh_line line = {.axis = axis, .lo = -HUGE_VAL, .hi = HUGE_VAL};
    sel_mesh_hits hits;
    memcpy(line.origin, at, sizeof line.origin);
    line.slope[axis] = 1;
    sel_mesh_cross(mesh, &line, &hits);
    for (int k = 0; k < hits.count; k++) {
        const sel_mesh_hit *hit = &hits.v[k];
        own += hit->triangle == triangle ? hit->enters : 0;
        others += hit->triangle != triangle && fabs(hit->at - at[axis]) <= near;
        before += hit->triangle != triangle && hit->at < at[axis] ? hit->enters : 0;
    }
    sel_mesh_hits_free(&hits);
    const int sign = mesh->facts.volume < 0 ? -1 : 1, low = sign * before,
              high = sign * (before + own);
    return own == 0 || others > 0 || (low == 0 && high == 1) || (low == 1 && high == 0);
}

static void look_at_triangles(sel_mesh *mesh) {
    sel_mesh_facts *facts = &mesh->facts;
    const int64_t n = mesh->triangles, apart = 1 + n / MOST_SAMPLES;
    for (int64_t k = 0; k < n; k += apart) {
        double at[3];
        facts->sampled++;
        if (!parts_inside(mesh, (int32_t)k, at) && facts->crossing++ == 0) {
            memcpy(facts->crossing_at, at, sizeof at);
        }
    }
}

sel_status sel_mesh_make(sel_arena *arena, sel_triangles *triangles, const char *name,
                         const sel_mesh **made, sel_error *error) {
    sel_mesh_facts facts;
    *made = NULL;
    sel_status status = sel_mesh_close(triangles, &facts, name, error);
    if (status) {
        return status;
    }
    if (facts.degenerate == facts.triangles) {
        return sel_fail(error, SEL_BAD_FILE, "%s: none of its %lld triangles has an area", name,
                        (long long)facts.triangles);
    }
    const size_t points = (size_t)triangles->points * sizeof *triangles->point,
                 corners = (size_t)triangles->triangles * sizeof *triangles->corner;
    sel_mesh *mesh = sel_arena_alloc(arena, sizeof *mesh);
    double(*point)[3] = sel_arena_alloc(arena, points);
    int32_t(*corner)[3] = sel_arena_alloc(arena, corners);
    if (!mesh || !point || !corner) {
        return sel_fail_memory(error, name, points + corners);
    }
    memcpy(point, triangles->point, points);
    memcpy(corner, triangles->corner, corners);
    *mesh = (sel_mesh){.points = triangles->points,
                       .triangles = triangles->triangles,
                       .point = point,
                       .corner = corner,
                       .facts = facts};
    find_bounds(mesh);
    measure(triangles, facts.own, mesh->centre, &mesh->facts);
    if (!sel_mesh_sort(arena, mesh)) {
        return sel_fail_memory(error, name, (size_t)mesh->triangles * sizeof *mesh->node);
    }
    look_at_triangles(mesh);
    *made = mesh;
    return SEL_OK;
}
