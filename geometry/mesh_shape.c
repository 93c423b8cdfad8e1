/* mesh_shape.c -- the shape of a mesh: its table, its file, how it lies in a domain, warnings. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "geometry/mesh.h"
#include "geometry/solid.h"

static const sel_table_field mesh_fields[] = {
    SEL_ROW(sel_shape_mesh, file, FILE,
            "The triangles of its surface (.stl, .obj, .ply); a path relative to the script.",
            .flags = SEL_REQUIRED | SEL_POSITIONAL),
    SEL_ROW(sel_shape_mesh, scale, NUMBER,
            "Multiplies the coordinates of the file, after `rotate`: 0.001 makes metres of "
            "millimetres.",
            .flags = SEL_POSITIVE, .preset = 1),
    SEL_ROW(sel_shape_mesh, offset, POINT, "Is added to the scaled coordinates."),
    SEL_ROW(sel_shape_mesh, rotate, TABLE, "Turns the coordinates of the file.",
            .table = &sel_rotate_table),
};

static sel_status check_mesh(const void *data, sel_where where, sel_error *error) {
    const sel_shape_mesh *mesh = data;
    return isnan(mesh->rotate.angle) || mesh->rotate.axis.n == 3
               ? SEL_OK
               : sel_fail_at(error, where,
                             "shape.mesh: rotate needs its axis, as axis = { 0, 0, 1 }");
}

const sel_table sel_mesh_table = SEL_TABLE(
    "shape.mesh", sel_shape_mesh, mesh_fields,
    "The inside of a surface of triangles, in 3-D. Holes are closed by fans of triangles, "
    "parts that overlap are one.",
    .check = check_mesh);

/* ---- the file ---- */

/* Larger coordinates are mistakes, and their squares and cubes may overflow. */
static const double largest_coordinate = 1e30;

static sel_status place_points(const sel_shape_mesh *shape, sel_triangles *triangles,
                               sel_error *error) {
    const sel_shape_rotated *rotate = &shape->rotate;
    sel_shape_placement turn;
    const bool turns = !isnan(rotate->angle);
    if (turns) {
        sel_placement_rotate(&turn, rotate->angle, rotate->axis.v, rotate->about.v);
    }
    for (int64_t k = 0; k < triangles->points; k++) {
        double *p = triangles->point[k], turned[3];
        memcpy(turned, p, sizeof turned);
        for (int i = 0; i < 3 && turns; i++) {
            turned[i] = turn.shift[i];
            for (int a = 0; a < 3; a++) {
                turned[i] += turn.matrix[i][a] * p[a];
            }
        }
        for (int a = 0; a < 3; a++) {
            p[a] = shape->scale * turned[a] + shape->offset.v[a];
            if (!(fabs(p[a]) <= largest_coordinate)) {
                return sel_fail(error, SEL_BAD_SCENARIO,
                                "%s: point %lld comes to %g; no coordinate may be larger than %g",
                                shape->file, (long long)k + 1, p[a], largest_coordinate);
            }
        }
    }
    return SEL_OK;
}

sel_status sel_shape_mesh_read(sel_arena *arena, sel_shape_mesh *shape, sel_error *error) {
    sel_triangles triangles;
    sel_status status = sel_triangles_read(shape->file, &triangles, error);
    if (!status) {
        status = place_points(shape, &triangles, error);
    }
    if (!status) {
        status = sel_mesh_make(arena, &triangles, shape->file, &shape->mesh, error);
    }
    sel_triangles_free(&triangles);
    return status;
}

/* ---- how it lies in the domain ---- */

static double widest_of(const double size[3]) {
    return fmax(size[0], fmax(size[1], size[2]));
}

/* A mesh that is larger or smaller than these, in sizes of the domain, is in other units. */
static const double largest = 100, smallest = 1e-3;

sel_status sel_mesh_check_place(const sel_shape *shape, const sel_grid *grid,
                                const sel_bounds *bounds, sel_error *error) {
    const sel_shape_mesh *mesh = shape->data;
    double size[3], domain[3];
    bool outside = false;
    if (grid->dims != 3) {
        return sel_fail_at(error, shape->where,
                           "shape.mesh: a mesh is a body in 3 dimensions, this domain has %d; take "
                           "shape.polygon",
                           grid->dims);
    }
    for (int a = 0; a < 3; a++) {
        const double end = sel_upper_end(grid, a);
        size[a] = bounds->hi[a] - bounds->lo[a];
        domain[a] = end - grid->origin[a];
        outside = outside || bounds->lo[a] > end || bounds->hi[a] < grid->origin[a];
    }
    const double ratio = widest_of(size) / widest_of(domain);
    if (ratio > largest || ratio < smallest) {
        return sel_fail_at(error, shape->where,
                           "shape.mesh: %s is %.4g x %.4g x %.4g in size, the domain %.4g x %.4g x "
                           "%.4g; it seems to be in other units: try scale = %g",
                           mesh->file, size[0], size[1], size[2], domain[0], domain[1], domain[2],
                           mesh->scale * pow(10, -rint(log10(ratio) / 3) * 3));
    }
    if (outside) {
        char extent[SEL_EXTENT_TEXT];
        sel_extent_text(grid, extent);
        return sel_fail_at(error, shape->where,
                           "shape.mesh: %s lies outside the domain, x from %.6g to %.6g, y from "
                           "%.6g to %.6g, z from %.6g to %.6g; the domain is %s: move it by offset",
                           mesh->file, bounds->lo[0], bounds->hi[0], bounds->lo[1], bounds->hi[1],
                           bounds->lo[2], bounds->hi[2], extent);
    }
    return SEL_OK;
}

/* ---- warnings ---- */

enum { PLACE_TEXT = 64 };

static const char *mesh_place(const double at[3], char text[PLACE_TEXT]) {
    snprintf(text, PLACE_TEXT, "{ %.5g, %.5g, %.5g }", at[0], at[1], at[2]);
    return text;
}

/* Adds a warning about a mesh, unless it is there already: regions may share a mesh. */
static void warn_of(const sel_shape *shape, sel_error *warnings, const char *format, ...)
    SEL_PRINTF(3, 4);
static void warn_of(const sel_shape *shape, sel_error *warnings, const char *format, ...) {
    char text[400];
    sel_error line = {.status = SEL_OK};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sel_fail_at(&line, shape->where, "shape.mesh: %s%s",
                ((const sel_shape_mesh *)shape->data)->file, text);
    if (!strstr(warnings->text, line.text)) {
        sel_fail(warnings, SEL_BAD_SCENARIO, "%s", line.text);
    }
}

static void warn_of_facts(const sel_shape *shape, sel_error *warnings) {
    const sel_mesh_facts *facts = &((const sel_shape_mesh *)shape->data)->mesh->facts;
    char at[PLACE_TEXT];
    if (facts->open_edges) {
        warn_of(shape, warnings,
                " is open: %lld edges have no second triangle, the first at %s; %lld holes are "
                "closed by fans of triangles about their middles",
                (long long)facts->open_edges, mesh_place(facts->open_at, at),
                (long long)facts->holes);
    }
    if (facts->turned) {
        warn_of(shape, warnings,
                ": %lld of %lld triangles faced another way than their neighbours, the first at "
                "%s; they are turned about",
                (long long)facts->turned, (long long)facts->triangles,
                mesh_place(facts->turned_at, at));
    }
    if (facts->volume < 0) {
        warn_of(shape, warnings,
                " is inverted: its triangles face inward, its volume is %.4g; its inside is taken "
                "all the same",
                facts->volume);
    }
    if (facts->crossing) {
        warn_of(shape, warnings,
                ": the surface crosses or overlaps itself, or parts of it face inward, at %lld of "
                "%lld triangles that were looked at, the first at %s; what any part encloses is "
                "inside",
                (long long)facts->crossing, (long long)facts->sampled,
                mesh_place(facts->crossing_at, at));
    }
    if (facts->degenerate) {
        warn_of(shape, warnings, ": %lld of %lld triangles have no area, the first at %s",
                (long long)facts->degenerate, (long long)facts->triangles,
                mesh_place(facts->degenerate_at, at));
    }
}

void sel_mesh_warn(const sel_shape *shape, const sel_chain *chain, const sel_grid *grid,
                   sel_error *warnings) {
    char at[PLACE_TEXT];
    warn_of_facts(shape, warnings);
    const sel_thin_parts thin = sel_mesh_find_thin(shape, chain, grid);
    if (thin.lost_links) {
        warn_of(shape, warnings,
                ": %lld of %lld links between cells that meet the surface pass through it twice, "
                "the first at %s: parts or gaps thinner than a cell are lost there; make dx "
                "smaller, or the part thicker",
                (long long)thin.lost_links, (long long)thin.links, mesh_place(thin.link_at, at));
    }
    if (thin.alone) {
        warn_of(shape, warnings,
                ": %lld of %lld triangles have no cell of the mesh near them, the first at %s: "
                "parts thinner than a cell are lost there; make dx smaller, or the part thicker",
                (long long)thin.alone, (long long)thin.triangles, mesh_place(thin.triangle_at, at));
    }
}
